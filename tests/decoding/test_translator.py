"""Lines in, translations out: order, blank lines, limits, unknown characters, and padding."""

import numpy as np
import pytest
import tensorflow as tf

from bytenet.config import load_config
from bytenet.config.families.bytenet import ByteNetConfig
from bytenet.datasets import Vocabulary
from bytenet.decoding import CompiledSearch, Translator, forbidden_symbols, log_probabilities
from bytenet.decoding.batches.batching import pad_batch
from bytenet.decoding.searches.draft import DraftSearch
from bytenet.lite.translation import BLANK
from bytenet.models import build_model
from bytenet.run_folder import RunFolder
from bytenet.saved.keras_model import save_model

from .best_texts import best_texts as _texts
from .inputs import LINES, VOCABULARY


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


def test_hypotheses_without_text_come_last(recurrent_model):
    translator = Translator(recurrent_model(VOCABULARY.size, seed=11, end_bias=8.0), VOCABULARY, beam_size=4)
    [[likeliest]], [ranked] = translator.translate(["abba"]), translator.translate(["abba"], n_best=4)
    assert likeliest.text == ""
    assert [one.text == "" for one in ranked] == [False, False, False, True]
    scores = [one.score for one in ranked[:3] if one.ended]
    assert scores == sorted(scores, reverse=True)


def test_unknown_white_space_is_read_as_a_blank(model):
    translator = Translator(model, VOCABULARY, beam_size=1)
    lines = [f"bad{space}cab" for space in " \u2028\x85\r\t\u00a0"]
    assert len(set(_texts(translator.translate(lines)))) == 1
    assert len({"".join(DraftSearch(translator)(line)) for line in lines}) == 1
    assert len(set(log_probabilities(model, VOCABULARY, lines, ["dad"] * 6).log_probabilities)) == 1
    assert VOCABULARY.encode(lines[1])[3] == VOCABULARY.unknown_id  # training reads what is there


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


def test_draft_has_the_least_length_of_the_search(recurrent_model):
    """The end becomes possible inside a part of the draft that is not the first one."""
    model = recurrent_model(VOCABULARY.size, seed=11, end_bias=3.0, extra_length=12)
    shorter, longer = (Translator(model, VOCABULARY, beam_size=1, min_length=least) for least in (0, 8))
    [[short], [expected]] = [*shorter.translate(["abba"]), *longer.translate(["abba"])]
    assert len(short.text) < 7 <= len(expected.text)
    assert "".join(DraftSearch(longer, part_symbols=3)("abba")) == expected.text


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


def test_line_whose_characters_are_all_dropped_is_blank(recurrent_model):
    vocabulary = Vocabulary("abcd e", unknown="drop")
    translator = Translator(recurrent_model(vocabulary.size, end_bias=-50.0, extra_length=4), vocabulary, beam_size=2)
    dropped, empty, read = translator.translate(["☃☃", "", "☃a"], n_best=2)
    assert dropped == empty == [BLANK]
    assert read[0].text
    assert list(DraftSearch(translator)("☃☃")) == []
