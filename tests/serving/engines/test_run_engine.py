"""The engine for run folders and model files."""

import pytest

from bytenet.cli.translate import translate
from bytenet.config.families.convs2s import ConvS2SConfig
from bytenet.datasets import EOS_ID, UNKNOWN_ID, Vocabulary
from bytenet.decoding import Translator
from bytenet.models import build_model
from bytenet.serving.engines.lite_engine import LiteEngine
from bytenet.serving.engines.run_engine import RunEngine

from .sentences import LINES


@pytest.fixture
def limited_engine(tmp_path):
    """A function that makes the engine of a model with learned positions.

    It takes additions to the scores of symbols, by their ids, and options of the search.
    """

    def make(additions, **options):
        sizes = {"dim": 8, "output_dim": 8, "encoder_widths": (8,), "decoder_widths": (8,)}
        kernels = {"encoder_kernel_sizes": (3,), "decoder_kernel_sizes": (3,)}
        vocabulary = Vocabulary("ab ")
        model = build_model(ConvS2SConfig(max_positions=16, **sizes, **kernels), vocabulary.size)
        bias = model.head.bias.numpy()
        for symbol_id, addition in additions.items():
            bias[symbol_id] += addition
        model.head.bias.assign(bias)
        path = tmp_path / "limited.bytenet"
        Translator(model, vocabulary, **options).export(path, engines="full", languages=("de", "en"))
        return RunEngine(path, jit_compile=False)

    return make


def test_the_engine_translates_as_the_command_does(run_folder, invoke):
    engine = RunEngine(run_folder.path)
    assert engine.languages == ("de", "en")
    expected = invoke(translate, run_folder.path, stdin="".join(f"{line}\n" for line in LINES).encode())
    assert [candidates[0].text for candidates in engine.translate(LINES, 1)] == expected.stdout.split("\n")[:-1]
    n_best = invoke(translate, run_folder.path, "--n-best", 3, stdin=LINES[0].encode()).stdout.split("\n")[:-1]
    (candidates,) = engine.translate(LINES[:1], engine.max_candidates)
    assert [f"1\t{score:.4f}\t{text}" for text, score in candidates] == n_best


def test_the_draft_is_the_translation_of_greedy_search(run_folder):
    engine = RunEngine(run_folder.path, beam_size=1)
    for line in LINES:
        assert "".join(engine.draft(line)) == engine.translate([line], 1)[0][0].text


def test_alignments_come_from_models_with_attention(run_folder, attentive_run_folder):
    assert not RunEngine(run_folder.path).has_attention
    engine = RunEngine(attentive_run_folder.path)
    assert engine.has_attention
    source, target, weights = engine.align("ein Hund", "a dog")
    assert "".join(source) == "ein Hund⏎"
    assert "".join(target) == "a dog⏎"
    assert len(weights) == len(target)
    for row in weights:
        assert len(row) == len(source)
        assert sum(row) == pytest.approx(1.0, abs=0.05)  # rounded to hundredths
        assert row == [round(weight, 2) for weight in row]


def test_characters_that_the_model_copies_are_in_the_draft_and_the_alignment(limited_engine):
    engine = limited_engine({UNKNOWN_ID: 9.0}, replace_unknown=True, beam_size=1, max_length=12)
    sentence = "XÄ☃"
    ((translation, _),) = engine.translate([sentence], 1)[0]
    assert set(translation) <= set(sentence)
    assert len(translation) > 4  # several parts of a draft
    assert "".join(engine.draft(sentence)) == translation
    source, target, _ = engine.align(sentence, translation)
    assert "".join(source) == f"{sentence}⏎"
    assert "".join(target) == f"{translation}⏎"


def test_a_translation_without_a_place_for_its_end_has_no_alignment(limited_engine):
    engine = limited_engine({EOS_ID: -99.0})
    ((translation, _),) = engine.translate(["ab"], 1)[0]
    assert len(translation) == 16
    assert engine.align("ab", translation) is None
    assert len(engine.align("ab", translation[:-1]).target) == 16


def test_both_engines_translate_a_model_file_as_the_run_folder(run_folder, model_path):
    run, full, lite = RunEngine(run_folder.path), RunEngine(model_path), LiteEngine(model_path)
    assert run.languages == full.languages == lite.languages
    assert run.max_candidates == full.max_candidates == lite.max_candidates
    for num_candidates in (1, run.max_candidates):
        expected = [[text for text, _ in candidates] for candidates in run.translate(LINES, num_candidates)]
        for engine in (full, lite):
            candidates_of_lines = engine.translate(LINES, num_candidates)
            assert [[text for text, _ in candidates] for candidates in candidates_of_lines] == expected
    assert list(lite.draft("ein Hund")) == []


def test_graphs_are_made_for_the_longest_sentence_and_with_alternatives(run_folder, monkeypatch):
    made = []
    monkeypatch.setattr("bytenet.decoding.Translator.make_graphs", lambda _, *arguments: made.append(arguments))
    engine = RunEngine(run_folder.path)
    engine.make_graphs()
    assert made == [(engine.max_sentence_chars + 1, 1), (engine.max_sentence_chars + 1, engine.max_candidates)]
