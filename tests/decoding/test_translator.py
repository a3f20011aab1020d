"""Lines in, translations out: order, blank lines, batches, shapes, limits."""

import numpy as np
import pytest
import tensorflow as tf

from bytenet.config import DataConfig, load_config
from bytenet.config.families.bytenet import ByteNetConfig
from bytenet.config.families.transformer import TransformerConfig
from bytenet.datasets import Vocabulary
from bytenet.decoding import CompiledSearch, Translator, forbidden_symbols, log_probabilities
from bytenet.decoding.batches.batching import pad_batch
from bytenet.decoding.scoring import PairScorer
from bytenet.decoding.searches.draft import DraftSearch
from bytenet.decoding.searches.sampling import Sampling
from bytenet.errors import InputError, ModelError
from bytenet.lite.translation import BLANK
from bytenet.models import build_model
from bytenet.run_folder import RunFolder
from bytenet.saved.keras_model import save_model

from .inputs import LINES, VOCABULARY


def _texts(translations):
    return [hypotheses[0].text for hypotheses in translations]


def test_lines_keep_their_order_and_do_not_depend_on_each_other(model):
    together = list(Translator(model, VOCABULARY, beam_size=2, batch_size=4).translate(LINES))
    assert len(together) == len(LINES)
    assert len(set(_texts(together))) > 3
    alone = Translator(model, VOCABULARY, beam_size=2, batch_size=1)
    for line, hypotheses in zip(LINES, together, strict=True):
        [[expected]] = alone.translate([line])
        assert hypotheses[0].text == expected.text
        assert hypotheses[0].score == pytest.approx(expected.score, abs=1e-4)


def test_translation_equals_the_search_on_the_unpadded_line(model):
    line = "a bad cab"
    [[best]] = Translator(model, VOCABULARY, beam_size=3, length_penalty=0.6).translate([line])
    result = CompiledSearch(model, 3, 0.6, forbidden_ids=(0, 2))(VOCABULARY.encode(line)[None])
    assert best.text == VOCABULARY.decode(result.ids[0, 0])
    assert best.score == pytest.approx(float(result.scores[0, 0]), abs=1e-4)
    assert best.log_probability == pytest.approx(float(result.log_probabilities[0, 0]), abs=1e-4)
    assert best.ended == bool(result.ended[0, 0])


def test_blank_lines_give_one_empty_hypothesis(model):
    translations = list(Translator(model, VOCABULARY, beam_size=3).translate(["", " \t", "a"], n_best=3))
    assert [len(hypotheses) for hypotheses in translations] == [1, 1, 3]
    assert translations[0][0].text == translations[1][0].text == ""
    assert list(Translator(model, VOCABULARY).translate([])) == []


def test_n_best_is_sorted_and_limited_by_the_beam_size(model):
    translator = Translator(model, VOCABULARY, beam_size=4)
    [hypotheses] = translator.translate(["abba"], n_best=4)
    scores = [hypothesis.score for hypothesis in hypotheses if hypothesis.ended]
    assert len(scores) > 1
    assert scores == sorted(scores, reverse=True)
    assert len({hypothesis.text for hypothesis in hypotheses}) == 4
    with pytest.raises(ValueError, match="n_best"):
        list(translator.translate(["abba"], n_best=5))


@pytest.mark.parametrize("search", [{"beam_size": 1}, {"beam_size": 2}, {"sampling": Sampling(samples=2)}])
def test_a_model_that_gives_no_finite_probability_is_named_as_the_fault(model, search):
    model.symbol_bias[:] = np.nan
    with pytest.raises(ModelError, match="gives no translation a finite probability"):
        list(Translator(model, VOCABULARY, **search).translate(["abba"]))


@pytest.mark.parametrize("size_of_model", [VOCABULARY.size - 1, VOCABULARY.size + 1])
@pytest.mark.parametrize("kind", [Translator, PairScorer])
def test_vocabulary_of_another_size_than_the_models_is_refused(recurrent_model, kind, size_of_model):
    message = f"The vocabulary has {VOCABULARY.size} symbols, but the model has {size_of_model}"
    with pytest.raises(ValueError, match=message):
        kind(recurrent_model(size_of_model), VOCABULARY)


def test_translator_reads_no_further_than_the_window(model):
    lines_read = []

    def lines():
        for line in LINES:
            lines_read.append(line)
            yield line

    translations = Translator(model, VOCABULARY, beam_size=1).translate(lines(), window=2)
    next(translations)
    assert lines_read == LINES[:2]
    assert len(list(translations)) == len(LINES) - 1


def test_unknown_characters_are_read_but_written_only_if_allowed(model):
    model.symbol_bias[2] = 20.0
    assert "\ufffd" not in "".join(_texts(Translator(model, VOCABULARY, beam_size=2).translate(LINES)))
    allowed = Translator(model, VOCABULARY, beam_size=2, forbidden_ids=())
    assert "\ufffd" in "".join(_texts(allowed.translate(LINES)))


def test_line_max_length_and_pair_length_limit_translations(recurrent_model):
    endless = recurrent_model(VOCABULARY.size, end_bias=-50.0, extra_length=4)
    lines = ["abba", "a bad cab"]  # 5 and 10 symbols

    def lengths(translator, **arguments):
        return [len(text) for text in _texts(translator.translate(lines, **arguments))]

    assert lengths(Translator(endless, VOCABULARY, beam_size=1)) == [9, 14]
    assert lengths(Translator(endless, VOCABULARY, beam_size=1, max_length=11)) == [9, 11]
    assert lengths(Translator(endless, VOCABULARY, beam_size=1), pair_lengths=[8, 8], window=1) == [12, 14]
    assert not any(best.ended for [best] in Translator(endless, VOCABULARY, beam_size=1).translate(lines))


def test_lines_are_translated_sentence_by_sentence_if_their_language_is_known(model):
    text, parts = "abba. A bad cab. ", ["abba.", "A bad cab."]
    data = DataConfig(source_language="de", target_language="en", max_length=20)
    knowing, unknowing = (Translator(model, VOCABULARY, beam_size=2, data=given) for given in (data, None))
    first, second = (best for [best] in unknowing.translate(parts))
    [[whole]] = unknowing.translate([text])
    [[split]] = knowing.translate([text])
    assert split.text == f"{first.text} {second.text} "
    assert split.log_probability == first.log_probability + second.log_probability
    assert [*knowing.translate([text], split_sentences=True)] == [[split]]
    assert whole != split
    for arguments in ({"split_sentences": False}, {"n_best": 2}, {"pair_lengths": [len(text) + 1]}):
        [[best, *_]] = knowing.translate([text], **arguments)
        assert best == whole


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n_best": 2}, "a line that is split into sentences has one translation"),
        ({"pair_lengths": [5]}, "pair_lengths are lengths of whole lines"),
        ({}, "needs to know their language"),
    ],
)
def test_lines_cannot_be_split_in_every_call(arguments, message, model):
    with pytest.raises(ValueError, match=message):
        list(Translator(model, VOCABULARY, beam_size=2).translate(["abba"], split_sentences=True, **arguments))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"batch_size": 0}, "batch_size is 0, but should be greater than or equal to 1"),
        ({"row_factor": 1}, "row_factor is 1; expected 2 or more"),
        ({"length_penalty_rule": "gmnt"}, "length_penalty_rule is 'gmnt', but should be 'gnmt' or 'length'"),
        ({"coverage_penalty": -1.0}, "coverage_penalty is -1.0, but should be greater than or equal to 0"),
        ({"beam_size": 1, "length_penalty": -1.0}, "length_penalty is -1.0, but"),
        ({"min_length": 9, "max_length": 4}, "min_length 9 is more than max_length 4"),
    ],
)
def test_options_of_a_search_are_checked(arguments, message, model):
    with pytest.raises(ValueError, match=message):
        list(Translator(model, VOCABULARY, **{"beam_size": 2} | arguments).translate(["abba"]))


def test_window_has_a_sentence(model):
    with pytest.raises(ValueError, match="window is -1; expected 1 or more"):
        list(Translator(model, VOCABULARY, beam_size=1).translate(["abba"], window=-1))


def test_lines_of_many_lengths_are_traced_in_few_shapes(model):
    lines = ["ab" * length for length in range(1, 33)] * 4  # up to 65 symbols
    assert len(list(Translator(model, VOCABULARY, beam_size=1, batch_size=8).translate(lines))) == 128
    assert model.traces == 3  # 32, 64 and 128 symbols


def test_threads_that_need_a_search_at_the_same_time_share_it(model, monkeypatch):
    translator, of_other_thread = Translator(model, VOCABULARY, beam_size=2), []

    class SlowSearch(CompiledSearch):
        """While the first one is made, another thread needs it, too."""

        def __init__(self, *arguments, **others):
            super().__init__(*arguments, **others)
            if not of_other_thread:
                of_other_thread.append(None)
                of_other_thread[0] = translator.batch_search.search()

    monkeypatch.setattr("bytenet.decoding.batches.batch_search.CompiledSearch", SlowSearch)
    assert translator.batch_search.search() is of_other_thread[0]


def test_draft_has_the_least_length_of_the_search(recurrent_model):
    """The end becomes possible inside a part of the draft that is not the first one."""
    model = recurrent_model(VOCABULARY.size, seed=11, end_bias=3.0, extra_length=12)
    shorter, longer = (Translator(model, VOCABULARY, beam_size=1, min_length=least) for least in (0, 8))
    [[short], [expected]] = [*shorter.translate(["abba"]), *longer.translate(["abba"])]
    assert len(short.text) < 7 <= len(expected.text)
    assert "".join(DraftSearch(longer, part_symbols=3)("abba")) == expected.text


def test_shape_is_compiled_when_it_has_enough_work(model, monkeypatch):
    compiled = []

    class RecordingSearch(CompiledSearch):
        """Records what would be compiled, and compiles nothing."""

        def __init__(self, *arguments, jit_compile, **others):
            self.was_asked_to_compile = jit_compile
            super().__init__(*arguments, jit_compile=False, **others)

        def __call__(self, source_ids, *arguments):
            compiled.append((source_ids.shape[1], self.was_asked_to_compile))
            return super().__call__(source_ids, *arguments)

    monkeypatch.setattr("bytenet.decoding.batches.batch_search.CompiledSearch", RecordingSearch)
    # One row of one beam. Lines have 21 and 51 symbols and 4 more to write. A step counts 26: 650 and 1430 per line.
    monkeypatch.setattr("bytenet.decoding.batches.compilation_choice._WORK_THAT_PAYS", 1900)
    lines = ["ab" * 10, "ab" * 25] * 4
    translator = Translator(model, VOCABULARY, beam_size=1, batch_size=1)
    one_by_one = list(translator.translate(lines, window=1))
    expected = [(32, False), (64, False), (32, False), (64, True), (32, True), (64, True), (32, True), (64, True)]
    assert compiled == expected

    compiled.clear()
    at_once = list(Translator(model, VOCABULARY, beam_size=1, batch_size=1).translate(lines))
    assert compiled == [(32, True)] * 4 + [(64, True)] * 4
    assert _texts(at_once) == _texts(one_by_one)
    for jit_compile in (False, True):
        compiled.clear()
        list(Translator(model, VOCABULARY, 1, jit_compile=jit_compile).translate(lines[:1]))
        assert compiled == [(32, jit_compile)]
    with pytest.raises(ValueError, match=r"jit_compile.*always"):
        Translator(model, VOCABULARY, jit_compile="always")


def test_no_line_needs_another_graph_than_those_that_were_made_in_advance(recurrent_model, monkeypatch):
    traced = []

    def trace(search, *shape):
        traced.append(shape)
        return original(search, *shape)

    original = CompiledSearch._trace
    monkeypatch.setattr(CompiledSearch, "_trace", trace)
    translator = Translator(recurrent_model(VOCABULARY.size), VOCABULARY, beam_size=2, batch_size=4, row_factor=4)
    translator.make_graphs(longest=40)
    limits = {length: translator.batch_search.limit(length) for length in (32, 64)}
    assert sorted(traced) == [(rows, length, limits[length]) for rows in (1, 4) for length in (32, 64)]
    for num_lines in (1, 2, 3, 4):
        for length in (1, 31, 32, 39):
            list(translator.translate(["a" * length] * num_lines))
    assert len(traced) == 4
    list(translator.translate(["a" * 64]))
    assert len(traced) == 5


def test_unknown_character_is_named_if_the_vocabulary_refuses_it(recurrent_model):
    vocabulary = Vocabulary("abc", unknown="error")
    translator = Translator(recurrent_model(vocabulary.size), vocabulary)
    with pytest.raises(InputError, match="U\\+007A"):
        list(translator.translate(["abz"]))
    assert list(translator.translate(["\t", " \u200b"])) == [[BLANK], [BLANK]]


def test_line_that_is_too_long_is_named():
    sizes = {"dim": 4, "heads": 1, "encoder_layers": 1, "decoder_layers": 1}
    model = build_model(TransformerConfig(positions="learned", max_positions=8, **sizes), VOCABULARY.size)
    translations = Translator(model, VOCABULARY, beam_size=1, jit_compile=False).translate(
        ["a", "", "abc " * 9], window=2
    )
    assert len([next(translations) for _ in range(2)]) == 2
    with pytest.raises(InputError, match=r"^Line 3 \('abc abc .*\) has 37 symbols with .* reads at most 8\. Split it"):
        next(translations)


def test_translation_and_scoring_pad_as_in_training_if_padding_is_read(tmp_path, monkeypatch):
    config = load_config("digits-thesis", ["model.dim=4", "model.num_sets=1", "model.dilations=[4]"])
    run = RunFolder.create(tmp_path / "run", config, VOCABULARY)
    run.environment_path.write_text('{"trained_lengths": [9]}')
    model = build_model(config.model, VOCABULARY.size)
    random = np.random.default_rng(4)
    for weight in model.weights:  # positive: with both signs, padding may have no effect
        weight.assign(random.uniform(0.1, 1.0, tuple(weight.shape)))
    save_model(model, run.model_path)
    shapes = []
    call = CompiledSearch.__call__

    def recording_call(search, source_ids, *arguments):
        shapes.append(tuple(source_ids.shape))
        return call(search, source_ids, *arguments)

    monkeypatch.setattr(CompiledSearch, "__call__", recording_call)
    translator = Translator.from_run(run)
    list(translator.translate(["abba", "a"]))
    assert shapes == [(2, 9)]

    scores = log_probabilities(
        translator.model, VOCABULARY, ["abba"], ["ad"], trained_lengths=translator.trained_lengths
    )
    source, target = (pad_batch([VOCABULARY.encode(text)], 1, 9) for text in ("abba", "ad"))
    logits = translator.model({"source_ids": source, "target_ids": target})
    expected = sum(tf.nn.log_softmax(logits)[0, place, target[0, place]] for place in range(3))
    assert scores.log_probabilities[0] == pytest.approx(float(expected), abs=1e-4)
    [unpadded] = log_probabilities(translator.model, VOCABULARY, ["abba"], ["ad"]).log_probabilities
    assert unpadded != pytest.approx(float(expected), abs=1e-4), "padding counts"


@pytest.mark.parametrize(
    ("settings", "forbidden"),
    [
        ({}, (0, 2)),
        ({"settings": "thesis"}, ()),
        ({"settings": "thesis", "mask_padding": True}, (0,)),
        ({"mask_padding": False}, (0, 2)),
    ],
)
def test_forbidden_symbols_depend_on_thesis_settings_and_masks(settings, forbidden):
    assert forbidden_symbols(ByteNetConfig(**settings), VOCABULARY) == forbidden
