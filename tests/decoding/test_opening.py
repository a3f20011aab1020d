"""Opening of models that translate together, and of the options of their search."""

import math
from dataclasses import fields, replace

import pytest

from bytenet.config import DecodingConfig, load_config
from bytenet.config.search_options import decoding_with
from bytenet.decoding import Translator
from bytenet.errors import ConfigError, InputError
from bytenet.model_file import ModelFile
from bytenet.models import build_model
from bytenet.run_folder import RunFolder
from bytenet.saved.keras_model import save_model

from .inputs import SMALL, VOCABULARY


@pytest.fixture(scope="module")
def make_run(tmp_path_factory):
    """Makes a run whose model is not trained, with other settings than those of a small ByteNet."""

    def make(*overrides):
        config = load_config("numbers", [*SMALL, *overrides])
        run = RunFolder.create(tmp_path_factory.mktemp("runs") / "run", config, VOCABULARY)
        save_model(build_model(config.model, VOCABULARY.size), run.model_path)
        return run.path

    return make


def test_models_of_two_directions_do_not_translate_together(make_run):
    forward, backward = make_run(), make_run("data.reversed=true")
    with pytest.raises(
        InputError,
        match=rf"^{backward} cannot translate together with {forward}: {backward} translates en to de; expected",
    ):
        Translator.from_run(forward, backward)


def test_languages_of_a_file_are_corrected_in_its_run(make_run, tmp_path):
    forward, backward, file = make_run(), make_run("data.reversed=true"), tmp_path / "en-de.bytenet"
    Translator.from_run(backward).export(file, engines="full")
    of_file = "in the config.yaml of its run, and export it again"
    for other, place in ((backward, "in its config.yaml"), (file, of_file)):
        with pytest.raises(InputError, match=rf"are wrong, correct them {place}\.$"):
            Translator.from_run(forward, other)


def test_a_model_that_reads_padding_translates_alone(make_run):
    plain, padded = make_run(), make_run("model.mask_padding=false")
    with pytest.raises(InputError, match=rf"^{padded} reads padding .* Translate with it alone"):
        Translator.from_run(plain, padded)


def test_without_a_model_nothing_is_opened():
    with pytest.raises(InputError, match="Give at least one"):
        Translator.from_run()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"length_penalty": math.nan}, "length_penalty is nan, but should be a finite number"),
        ({"coverage_penalty": math.inf}, "coverage_penalty is inf, but should be a finite number"),
        ({"beam_size": 0}, "beam_size is 0, but should be greater than or equal to 1"),
        ({"min_length": 9, "max_length": 8}, "min_length 9 is more than max_length 8"),
        ({"length_penalty_rule": "x"}, "length_penalty_rule is 'x', but should be 'gnmt' or 'length'"),
        ({"samples": 1, "top_p": 0.0}, "top_p is 0.0, but should be greater than 0"),
        ({"samples": 1, "beam_size": 5}, "Leave out beam_size, or set samples to 0"),
        ({"temperature": 0.5}, "temperature is 0.5, but no samples are drawn"),
        ({"samples": 0, "seed": 2}, "seed is 2, but no samples are drawn"),
        ({"mbr": True, "rerank_with": "en-de"}, "mbr and rerank_with both rank"),
        ({"mbr": True, "rerank_weight": 0.5}, "mbr and rerank_weight both rank"),
        ({"mbr": True, "coverage_penalty": 0.1}, "mbr and coverage_penalty both rank"),
        ({"mbr": True, "length_penalty": 0.0}, "mbr and length_penalty both rank"),
        ({"mbr": True, "length_penalty_rule": "gnmt"}, "mbr and length_penalty_rule both rank"),
        ({"beam_size": 1, "length_penalty": 0.6}, r"length_penalty is 0\.6, .* Set beam_size \(--beam-size\) to 2"),
        ({"beam_size": 1, "length_penalty_rule": "gnmt"}, "length_penalty_rule is gnmt, but with one hypothesis"),
        ({"beam_size": 1, "coverage_penalty": 0.2}, r"coverage_penalty is 0\.2, .* Set beam_size \(--beam-size\) to 2"),
        ({"samples": 1, "coverage_penalty": 0.2}, r"coverage_penalty is 0\.2, .* Set samples \(--samples\) to 2"),
        ({"mbr": True, "beam_size": 1}, "mbr needs several hypotheses"),
    ],
)
def test_options_have_the_limits_of_settings(options, message, make_run):
    with pytest.raises(ConfigError, match=message):
        Translator.from_run(make_run(), **options)


def test_a_setting_of_the_configuration_that_an_option_conflicts_with_can_be_turned_off():
    decoding = DecodingConfig(mbr=True)
    with pytest.raises(ConfigError, match=r"Leave out rerank_with, or turn mbr off \(--no-mbr\)\.$"):
        decoding_with(decoding, {"rerank_with": "en-de"})
    with pytest.raises(ConfigError, match=r"Leave out one of them\.$"):
        decoding_with(decoding, {"rerank_with": "en-de", "mbr": True})
    assert not decoding_with(decoding, {"rerank_with": "en-de", "mbr": False}).mbr


def test_unknown_options_are_refused(make_run):
    with pytest.raises(TypeError, match="no option beams"):
        Translator.from_run(make_run(), beams=3)


def test_options_that_are_not_given_are_those_of_the_configuration():
    decoding = DecodingConfig(beam_size=3, min_length=2)
    assert decoding_with(decoding, {"beam_size": None, "length_penalty": 1.0}) == DecodingConfig(
        beam_size=3, min_length=2, length_penalty=1.0
    )


@pytest.mark.parametrize("one", [{"beam_size": 1}, {"samples": 1}])
def test_one_hypothesis_is_allowed_with_the_penalties_of_the_configuration_or_without_any(one):
    configured = DecodingConfig(length_penalty=1.0, coverage_penalty=0.2)
    assert decoding_with(configured, one) == replace(configured, **one)
    without = {"length_penalty": 0.0, "coverage_penalty": 0.0}
    assert decoding_with(configured, one | without) == DecodingConfig(**one, **without)


def test_the_score_of_one_sample_may_have_a_length_penalty():
    decoding = decoding_with(DecodingConfig(), {"samples": 1, "length_penalty": 1.0})
    assert (decoding.samples, decoding.length_penalty) == (1, 1.0)


def test_a_translator_says_what_its_search_is(make_run):
    for overrides in (
        ("decoding.beam_size=3", "decoding.coverage_penalty=0.0", "decoding.min_length=2"),
        ("decoding.samples=3", "decoding.temperature=0.5", "decoding.top_k=4", "decoding.top_p=0.5", "decoding.seed=7"),
        ("decoding.mbr=true",),
    ):
        path = make_run(*overrides)
        assert Translator.from_run(path).decoding == RunFolder.open(path).config.decoding


def test_samples_of_the_configuration_are_turned_off_by_0(make_run):
    path = make_run("decoding.samples=3", "decoding.seed=7")
    for options, expected in (
        ({}, (3, 7)),
        ({"samples": 1, "seed": 8}, (1, 8)),
        ({"samples": 0, "beam_size": 2}, (0, 1)),
    ):
        decoding = Translator.from_run(path, **options).decoding
        assert (decoding.samples, decoding.seed) == expected


def test_settings_that_are_not_in_use_are_those_of_the_other_search():
    sampling, beam = DecodingConfig(samples=2).in_use.keys(), DecodingConfig().in_use.keys()
    assert sampling - beam == {"samples", "temperature", "top_k", "top_p", "seed"}
    assert beam - sampling == {"beam_size"}
    reranked = DecodingConfig(rerank_with="en-de").in_use.keys()
    assert reranked - beam == {"rerank_with", "rerank_weight"}
    by_risk = DecodingConfig(rerank_with="en-de", mbr=True).in_use.keys()
    assert by_risk - beam == {"mbr"}
    assert beam - by_risk == {"coverage_penalty"}
    assert beam | sampling | reranked | by_risk == {field.name for field in fields(DecodingConfig)}


@pytest.mark.parametrize(
    ("options", "message"),
    [({"samples": 2, "top_k": 3}, r"decoding\.samples .* --samples 0"), ({"mbr": True}, r"decoding\.mbr .* --no-mbr")],
)
def test_samples_and_minimum_bayes_risk_are_exported_only_for_this_package(make_run, tmp_path, options, message):
    translator = Translator.from_run(make_run(), **options)
    for path in (tmp_path / "saved", tmp_path / "search.tflite", tmp_path / "model.bytenet"):
        with pytest.raises(InputError, match=message):
            translator.export(path)
    translator.export(tmp_path / "model.bytenet", engines="full")
    assert Translator.from_run(tmp_path / "model.bytenet").decoding.in_use == translator.decoding.in_use


def test_an_export_has_the_languages_and_lengths_of_the_run(make_run, tmp_path):
    path = make_run("data.source_language=da", "data.max_length=77")
    Translator.from_run(path).export(tmp_path / "da-en.bytenet", engines="full")
    data = ModelFile(tmp_path / "da-en.bytenet").config.data
    assert (data.languages, data.max_length) == (("da", "en"), 77)
