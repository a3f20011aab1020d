"""What every family promises about exports: the same translations as `Translator`."""

from functools import cache

import numpy as np
import pytest
import tensorflow as tf

from bytenet.datasets import Vocabulary
from bytenet.decoding import Translator
from bytenet.decoding.batches.batching import pad_batch
from bytenet.decoding.export.litert import litert_model_with_score
from bytenet.decoding.export.text_graph import TextGraph
from bytenet.decoding.scoring import teacher_forced_log_probabilities
from bytenet.lite.archive import Archive
from bytenet.lite.white_space import is_blank
from bytenet.model_file import ModelFile

from .cases import CASES, FAMILY_CASES, VOCAB_SIZE, Case, parametrize
from .traced_model import traced
from .varied_model import MAX_LENGTH, varied

LETTERS = "abcdeü☃ "  # as many as VOCAB_SIZE allows
LINES = ["abc", "", "  ", "abc de ü☃", "a", "u\u0308xu\u0308", "eeeeeeeeeeeeee", "\u200b", "☃ b\0"]
EXPORTABLE = [case for case in CASES if case.config.mask_padding]
FIRST_EXPORTABLE = [case for case in FAMILY_CASES if case.config.mask_padding]
BYTENET = next(case for case in FIRST_EXPORTABLE if case.config.family == "bytenet")


def marks_of(case: Case) -> tuple[pytest.MarkDecorator, ...]:
    """Tracing and converting a search takes seconds. So only one family runs by default."""
    if case == BYTENET:
        return ()
    return (pytest.mark.thorough,) if case in FIRST_EXPORTABLE else (pytest.mark.slow,)


every_case = pytest.mark.parametrize(
    "case", [pytest.param(case, marks=marks_of(case), id=case.name) for case in EXPORTABLE]
)


@cache
def translator_of(case: Case, beam_size: int = 3) -> Translator:
    vocabulary = Vocabulary(LETTERS)
    assert vocabulary.size == VOCAB_SIZE
    return Translator(
        varied(case.config), vocabulary, beam_size, max_length=MAX_LENGTH, jit_compile=False, batch_size=16
    )


@cache
def expected_of(case: Case, n_best: int = 3):
    translations = list(translator_of(case).translate(LINES, n_best))
    assert len({tuple(one.text for one in row) for row in translations}) > 3  # the test data has different translations
    return translations


def assert_same(texts, scores, expected) -> None:
    assert texts == [[hypothesis.text for hypothesis in row] for row in expected]
    for row, expected_row in zip(scores, expected, strict=True):
        np.testing.assert_allclose(row, [hypothesis.score for hypothesis in expected_row], atol=1e-4)


def hypotheses(result) -> tuple[list, list]:
    """Texts and scores of the hypotheses that exist, from the result of `TextGraph.n_best`."""
    rows = zip(result["translation"].numpy(), result["score"].numpy(), strict=True)
    kept = [[(text.decode(), score) for text, score in zip(*row, strict=True) if np.isfinite(score)] for row in rows]
    return [[text for text, _ in row] for row in kept], [[score for _, score in row] for row in kept]


@every_case
def test_graph_of_lines_gives_the_translations(case):
    graph = TextGraph(translator_of(case))
    assert_same(*hypotheses(graph.n_best(tf.constant(LINES), tf.constant(3))), expected_of(case))


@every_case
def test_lite_model_gives_the_translations(case):
    from ai_edge_litert.interpreter import Interpreter

    translator, texts, scores = translator_of(case), [], []
    content = litert_model_with_score(translator)
    search, score = (
        Interpreter(model_content=content).get_signature_runner(name) for name in ("serving_default", "score")
    )
    for line in ("abc", "abc de ü☃", "a", "eeeeeeeeeeeeee"):
        result = search(source_ids=translator.vocabulary.encode(line)[None], n_best=np.int32(3))
        exists = np.isfinite(result["log_probabilities"][0])
        hypotheses = translator.vocabulary.decode_batch(result["ids"][0][exists])
        # Translators put hypotheses without text last. The graph of ids does not.
        order = sorted(range(len(hypotheses)), key=lambda place: is_blank(hypotheses[place]))
        texts.append([hypotheses[place] for place in order])
        scores.append(result["scores"][0][exists][order])
    assert_same(texts, scores, [expected_of(case)[place] for place in (0, 3, 4, 6)])
    for source, target in (("abc", "ed ü"), ("abc de ü☃", "a")):
        ids = [translator.vocabulary.encode(text) for text in (source, target)]
        source_ids, target_ids = (pad_batch([one], 1, max(map(len, ids))) for one in ids)
        result = score(source_ids=source_ids, target_ids=target_ids)["log_probabilities"]
        expected = teacher_forced_log_probabilities(
            translator.model, {"source_ids": source_ids, "target_ids": target_ids}
        )
        np.testing.assert_allclose(result, expected, rtol=1e-5, atol=1e-4)


@parametrize(CASES)
def test_file_has_the_settings_and_the_weights(case, tmp_path):
    """Also of models that read padding, for TensorFlow."""
    model, path = traced(case.config).model, tmp_path / "model.bytenet"
    lengths = None if case.config.mask_padding else [10, 20]
    translator = Translator(model, Vocabulary(LETTERS), beam_size=2, trained_lengths=lengths)
    translator.export(path, engines="full", languages=("de", "en"))
    file = ModelFile(path)
    assert file.config.model == case.config
    assert file.config.data.languages == ("de", "en")
    assert (file.config.decoding.beam_size, file.trained_lengths) == (2, lengths)
    assert file.vocabulary == translator.vocabulary
    assert "model.tflite" not in Archive(path)
    loaded = file.load_model()
    for weight, original in zip(loaded.weights, model.weights, strict=True):
        np.testing.assert_array_equal(weight, original)


def lines_of_every_kind(count: int) -> list[str]:
    """Known, unknown and decomposed characters, blanks and blank lines, of many lengths."""
    characters = [*LETTERS, "u\u0308", "x", "\u200b", "\0", "\u2028"]
    random = np.random.default_rng(1)
    lengths = random.integers(0, 15, count)
    return ["".join(random.choice(characters, length)) for length in lengths]


@pytest.mark.slow
@parametrize(FIRST_EXPORTABLE)
def test_all_forms_give_the_same_strings_for_a_thousand_lines(case, tmp_path):
    from bytenet import lite

    translator, lines = translator_of(case), lines_of_every_kind(1000)
    expected = [[hypothesis.text for hypothesis in row] for row in translator.translate(lines, n_best=3)]
    assert len(set(map(tuple, expected))) > 5
    translator.export(tmp_path / "saved")
    saved = tf.saved_model.load(tmp_path / "saved").signatures["n_best"]
    for start in range(0, len(lines), 100):
        chunk = slice(start, start + 100)
        assert hypotheses(saved(text=tf.constant(lines[chunk]), n=tf.constant(3)))[0] == expected[chunk]
    translator.export(tmp_path / "model.bytenet", languages=("de", "en"))
    lite_rows = lite.Translator(tmp_path / "model.bytenet").translate(lines, n_best=3)
    assert [[hypothesis.text for hypothesis in row] for row in lite_rows] == expected


@pytest.mark.slow
@parametrize(FIRST_EXPORTABLE)
def test_compiled_graph_gives_the_translations(case):
    graph = TextGraph(translator_of(case), jit_compile=True)
    assert_same(*hypotheses(graph.n_best(tf.constant(LINES), tf.constant(3))), expected_of(case))


@parametrize([BYTENET])
def test_greedy_search_is_exported(case):
    translator = translator_of(case, beam_size=1)
    result = TextGraph(translator).translate(tf.constant(LINES))
    expected = list(translator.translate(LINES))
    texts = [[text.decode()] for text in result["translation"].numpy()]
    assert_same(texts, result["score"].numpy()[:, None], expected)
