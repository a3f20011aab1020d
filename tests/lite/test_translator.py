"""The lite translator gives the translations of the whole package."""

import json
import threading

import numpy as np
import pytest

from bytenet import decoding
from bytenet.errors import InputError, ModelError
from bytenet.lite import Translator
from bytenet.lite.archive import Archive, packed
from bytenet.lite.characters import EOS_ID
from bytenet.lite.model import LiteModel
from bytenet.lite.scoring import LitePairScorer
from bytenet.lite.translation import BLANK

from ..archive_entries import entries_of


def with_changes(model_path, tmp_path, **changes):
    """A copy of the model file with other entries; an entry that is None is left out."""
    entries = entries_of(model_path) | {name.replace("_", ".", 1): content for name, content in changes.items()}
    path = tmp_path / "changed.bytenet"
    path.write_bytes(packed({name: content for name, content in entries.items() if content is not None}))
    return path


def test_translations_are_those_of_the_whole_package(lite, translator, lines):
    for n_best in (1, 3):
        actual, expected = list(lite.translate(lines, n_best)), list(translator.translate(lines, n_best))
        assert [[best.text for best in row] for row in actual] == [[best.text for best in row] for row in expected]
        assert [[best.ended for best in row] for row in actual] == [[best.ended for best in row] for row in expected]
        for name in ("score", "log_probability"):
            values = [[getattr(best, name) for row in rows for best in row] for rows in (actual, expected)]
            np.testing.assert_allclose(*values, atol=1e-4)
    assert len({row[0].text for row in actual}) > 3  # the test data has different translations


def test_unknown_white_space_is_read_as_a_blank(lite, translator, model_path):
    lines = [f"ein{space}Hund" for space in " \u2028\x85\r\t\u00a0"]
    for engine in (lite, translator):
        assert len({best.text for best, *_ in engine.translate(lines, split_sentences=False)}) == 1
    [[plain]], [[unknown]] = lite.translate([lines[0]]), lite.translate(["ein☃Hund"])
    assert plain.text != unknown.text
    scores, _ = LitePairScorer(model_path)(lines, ["a dog"] * len(lines))
    assert len(set(scores)) == 1


def with_an_empty_first(search):
    """The search, with the end symbol as the likeliest hypothesis of several."""

    def changed(model, **inputs):
        result = {name: np.array(values) for name, values in search(model, **inputs).items()}
        result["ids"][:, 0] = EOS_ID
        return result

    return changed


def test_hypotheses_without_text_come_last(lite, monkeypatch):
    [plain] = lite.translate(["ein"], 3)
    monkeypatch.setattr(LiteModel, "__call__", with_an_empty_first(LiteModel.__call__))
    [ranked] = lite.translate(["ein"], 3)
    assert ranked == [*plain[1:], plain[0]._replace(text="")]


def test_blank_line_is_not_searched(lite, monkeypatch):
    monkeypatch.setattr(LiteModel, "__call__", lambda *_, **__: pytest.fail("The search ran."))
    assert list(lite.translate(["", " \u200b"])) == [[BLANK], [BLANK]]


def test_line_whose_characters_are_all_dropped_is_blank(model_path, tmp_path, monkeypatch):
    vocabulary = Archive(model_path).read_json("vocabulary.json")
    # One more character, because the rule needs no unknown symbol.
    vocabulary |= {"unknown": "drop", "characters": [*vocabulary["characters"], "☆"]}
    lite = Translator(with_changes(model_path, tmp_path, vocabulary_json=json.dumps(vocabulary).encode()))
    monkeypatch.setattr(LiteModel, "__call__", lambda *_, **__: pytest.fail("The search ran."))
    assert list(lite.translate(["☃☃"])) == [[BLANK]]


def test_a_model_that_gives_no_finite_probability_is_named_as_the_fault(lite, monkeypatch):
    search = LiteModel.__call__

    def fail(model, **inputs):
        result = search(model, **inputs)
        return {**result, "log_probabilities": np.full_like(result["log_probabilities"], np.nan)}

    monkeypatch.setattr(LiteModel, "__call__", fail)
    with pytest.raises(ModelError, match="gives no translation a finite probability"):
        next(lite.translate(["ein"]))


def test_lines_are_translated_as_they_come(lite):
    results = lite.translate(iter(["ein", None]))
    assert next(results)[0].text  # the second one would be an error
    assert list(lite.translate([])) == []


def test_threads_take_turns(lite, lines):
    expected, results = list(lite.translate(lines)), {}
    threads = [threading.Thread(target=lambda n=n: results.update({n: list(lite.translate(lines))})) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert list(results.values()) == [expected] * 4


@pytest.mark.parametrize("n_best", [0, 4])
def test_number_of_hypotheses_is_limited_by_the_beam(lite, n_best):
    with pytest.raises(ValueError, match="from 1 to beam_size, which is 3"):
        list(lite.translate(["ein"], n_best))


def test_line_that_is_too_long_is_refused(model_path, tmp_path):
    settings = Archive(model_path).read_json("settings.json")
    settings["lite"]["longest"] = 4
    short = Translator(with_changes(model_path, tmp_path, settings_json=json.dumps(settings).encode()))
    assert len(list(short.translate(["ein", " " * 9], split_sentences=False))) == 2
    with pytest.raises(InputError, match=r"^Line 2 \('drei'\) has 5 symbols with .* reads at most 4\. Split it"):
        list(short.translate(["ein", "drei"], split_sentences=False))
    assert len(list(short.translate(["drei"]))) == 1  # in two parts


def test_lines_are_translated_sentence_by_sentence(lite):
    text, parts = "ein Hund. Zwei Häuser!", ["ein Hund.", "Zwei Häuser!"]
    [[split]], [[asked]] = lite.translate([text]), lite.translate([text], split_sentences=True)
    translated = [best for [best] in lite.translate(parts, split_sentences=False)]
    assert split == asked
    assert split.text == " ".join(best.text for best in translated)
    assert split.log_probability == sum(best.log_probability for best in translated)

    [[whole]], [[first, *_]] = lite.translate([text], split_sentences=False), lite.translate([text], 3)
    assert whole == first
    assert whole.text != split.text


def test_sentences_are_no_longer_than_those_of_the_training(model_path, tmp_path):
    settings = Archive(model_path).read_json("settings.json")
    for max_length, is_split in ((4, True), (500, False), ("4", False), (0, False), (None, False)):
        settings["data"]["max_length"] = max_length
        lite = Translator(with_changes(model_path, tmp_path, settings_json=json.dumps(settings).encode()))
        by_sentence = lite.by_sentence()
        assert len(list(by_sentence.translate(["ein Haus"], lite.translate))) == 1
        assert by_sentence.num_with_long == is_split


def test_without_the_library_for_sentences_lines_are_translated_whole(lite, without_sentencex, caplog):
    line = ["ein Hund. Zwei Häuser!"]
    for _ in range(2):
        assert list(lite.translate(line)) == list(lite.translate(line, split_sentences=False))
    assert len(caplog.records) == 1
    with pytest.raises(InputError, match="pip install sentencex"):
        list(lite.translate(line, split_sentences=True))


@pytest.mark.parametrize(
    "lite_settings",
    [None, {}, {"beam_size": 0}, {"beam_size": 3, "longest": "a"}, {"beam_size": 3, "longest": 1}, {"beam_size": 1e9}],
)
def test_wrong_settings_are_refused(lite_settings, model_path, tmp_path):
    settings = Archive(model_path).read_json("settings.json") | {"lite": lite_settings}
    with pytest.raises(InputError, match=r"settings\.json has lite\.(beam_size|longest)"):
        Translator(with_changes(model_path, tmp_path, settings_json=json.dumps(settings).encode()))


@pytest.mark.parametrize("data", [None, {}, {"source_language": "de"}, {"source_language": "de", "target_language": 1}])
def test_settings_without_languages_are_refused(data, model_path, tmp_path):
    settings = Archive(model_path).read_json("settings.json") | {"data": data}
    with pytest.raises(InputError, match=r"settings\.json of .* has no languages"):
        Translator(with_changes(model_path, tmp_path, settings_json=json.dumps(settings).encode()))


def with_more_characters(model_path):
    """The vocabulary of a file with two characters that the network does not have. They get the largest ids."""
    vocabulary = Archive(model_path).read_json("vocabulary.json")
    vocabulary["characters"] += ["\u4e00", "\u4e01"]
    return json.dumps(vocabulary).encode()


def test_vocabulary_of_another_size_is_refused(model_path, tmp_path):
    with pytest.raises(InputError, match=r"vocabulary\.json has \d+ symbols, but model\.tflite has another number"):
        Translator(with_changes(model_path, tmp_path, vocabulary_json=with_more_characters(model_path)))


def test_id_that_the_network_does_not_have_is_refused(model_path, tmp_path):
    """Files of earlier versions do not say how many symbols the network has."""
    settings = Archive(model_path).read_json("settings.json")
    del settings["lite"]["symbols"]
    changes = {"settings_json": json.dumps(settings).encode(), "vocabulary_json": with_more_characters(model_path)}
    earlier = Translator(with_changes(model_path, tmp_path, **changes))
    assert len(list(earlier.translate(["ein"]))) == 1
    with pytest.raises(ModelError, match=r"LiteRT cannot translate with model\.tflite .*out of bounds"):
        list(earlier.translate(["ein \u4e01"]))


def test_number_of_threads_is_checked(model_path):
    with pytest.raises(ValueError, match="num_threads is 0; expected 1 or more"):
        Translator(model_path, num_threads=0)


def test_file_without_a_lite_model_says_what_to_do(model_path, tmp_path):
    with pytest.raises(InputError, match="exported without a LiteRT model"):
        Translator(with_changes(model_path, tmp_path, model_tflite=None))


def test_damaged_lite_model_is_refused(model_path, tmp_path):
    damaged = with_changes(model_path, tmp_path, model_tflite=b"no model", copies_json=None)
    with pytest.raises(InputError, match=r"LiteRT cannot read model\.tflite .*\)\. Export the model again\.$"):
        Translator(damaged)
    with pytest.raises(
        InputError, match=r"LiteRT cannot read model\.tflite .*files of earlier versions have no 'score'"
    ):
        LitePairScorer(damaged)


def test_copies_that_do_not_fit_are_refused(model_path, tmp_path):
    with pytest.raises(InputError, match=r"copies\.json of .* does not fit model\.tflite and weights\.safetensors"):
        Translator(with_changes(model_path, tmp_path, model_tflite=b"no model"))


def test_missing_runtime_is_named(model_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "ai_edge_litert.interpreter", None)
    with pytest.raises(InputError, match="pip install ai-edge-litert"):
        Translator(model_path)


def test_one_text_in_the_place_of_lines_and_lines_that_are_no_text_are_refused(model_path):
    for translator in (Translator(model_path), decoding.Translator.from_run(model_path)):
        with pytest.raises(TypeError, match=r"lines is one text; expected a list of texts\."):
            next(translator.translate("ein"))
        for split_sentences in (False, True):
            with pytest.raises(TypeError, match=r"Line 2 is of type NoneType; expected str\."):
                list(translator.translate(["ein", None], split_sentences=split_sentences))
