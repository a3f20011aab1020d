"""The presets of the package are valid and differ from each other only where they should."""

import dataclasses

import pytest

from bytenet.config import load_config, preset_names
from bytenet.config.families.bytenet import ByteNetConfig


def test_package_has_a_preset_for_each_corpus_that_it_trains_on():
    names = preset_names()
    assert names == sorted(set(names))
    assert {"digits", "europarl", "multi30k", "newstest-memorise", "numbers"} <= set(names)


@pytest.mark.parametrize("name", preset_names())
def test_every_preset_is_valid_and_is_read_back_unchanged(name, yaml_file):
    by_size = name.startswith("pairs-")  # for the user's files
    files = ["data.train_source=train.de", "data.train_target=train.en"] if by_size else []
    config = load_config(name, files)
    assert load_config(yaml_file(config.to_yaml())) == config
    assert config.data.corpus.partition("-")[0] == ("files" if by_size else name.partition("-")[0])


def test_thesis_preset_differs_from_digits_only_in_thesis_choices():
    differences = {key: thesis for key, _, thesis in load_config("digits").differences(load_config("digits-thesis"))}
    assert differences == {
        "model.settings": "thesis",
        "model.dropout": 0.0,
        **{f"model.{key}": value for key, value in ByteNetConfig.THESIS.items() if key != "batch_norm_momentum"},
        "data.min_length": 0,
        "data.unknown": "drop",
        "data.bucketing": "histogram",
        "training.schedule": "constant",
        "training.loss": "sentence",
        "training.clip_norm": None,
        "evaluation.continuous_batch_size": 128,
        "evaluation.batch_norm_statistics": "batch",
        "decoding.length_penalty": 0.0,
    }


def test_attention_preset_differs_from_digits_only_in_thesis_choices():
    digits, baseline = load_config("digits"), load_config("digits-attention")
    only_one_has = {
        f"model.{key}" for key in dataclasses.asdict(digits.model).keys() ^ dataclasses.asdict(baseline.model).keys()
    }
    differences = {key: here for key, _, here in digits.differences(baseline) if key not in only_one_has}
    assert differences == {
        "model.family": "recurrent",
        "model.variant": "madsen_bounded",
        "model.settings": "thesis",
        "model.dropout": 0.0,
        "model.mask_padding": False,
        "model.length_rule": "pair",
        "data.min_length": 0,
        "data.unknown": "drop",
        "data.bucketing": "histogram",
        "training.epochs": 1001,
        "training.learning_rate": 1e-4,
        "training.schedule": "constant",
        "training.beta_2": 0.99,
        "training.loss": "sentence",
        "training.clip_norm": None,
        "evaluation.continuous_batch_size": 128,
        "decoding.beam_size": 1,
        "decoding.length_penalty": 0.0,
    }


def test_semi_supervised_presets_have_expected_differences_from_base():
    def differences(one, other):
        return {key: there for key, _, there in load_config(one).differences(load_config(other))}

    thesis = differences("digits-thesis", "digits-semi-thesis")
    assert thesis == {
        "data.batch_size": 8,
        "data.num_monolingual": 1024,
        "data.monolingual_seed": 13,
        "semi_supervised.enabled": True,
        "semi_supervised.source_weight": 0.2,
        "semi_supervised.target_weight": 0.0,
        "semi_supervised.batch_norm_statistics": "batch",
        "semi_supervised.bucketing": "histogram",
        "evaluation.continuous_every_seconds": None,
        "evaluation.every_epochs": 50,
        "evaluation.batch_norm_statistics": "moving",
    }
    ours = differences("digits", "digits-semi")
    assert ours["semi_supervised.enabled"]
    assert ours["data.num_monolingual"] == 1024
    assert ours["semi_supervised.target_weight"] == 0.0
