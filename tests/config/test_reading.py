"""Presets, files and overrides are read on top of each other."""

import dataclasses
import subprocess
import sys
from pathlib import Path

import pytest

from bytenet.config import (
    PATH_KEYS,
    Config,
    DataConfig,
    DecodingConfig,
    SemiSupervisedConfig,
    TrainingConfig,
    load_config,
)
from bytenet.config.families import family_configs
from bytenet.config.families.bytenet import ByteNetConfig
from bytenet.config.families.recurrent import RecurrentConfig
from bytenet.errors import ConfigError


def test_written_configuration_includes_defaults():
    text = Config().to_yaml()
    for section in dataclasses.fields(Config):
        for key in dataclasses.fields(section.default_factory):
            assert f"  {key.name}:" in text


def test_each_family_has_its_own_variants():
    assert family_configs().keys() >= {"bytenet", "recurrent"}
    for family, config_class in family_configs().items():
        assert config_class().family == family
        for variant, values in config_class.VARIANTS.items():
            config = config_class(variant=variant)
            assert {key: getattr(config, key) for key in values} == values


def test_given_value_wins_over_thesis_settings_and_these_over_the_variant():
    config = ByteNetConfig(variant="simplified", settings="thesis", initializer="he", dim=None)
    assert (config.block_size, config.dim) == ("small", 200)
    assert (config.mask_padding, config.norm_epsilon, config.length_rule) == (False, 1e-8, "pair")
    assert config.initializer == "he"
    assert ByteNetConfig(variant="simplified", dim=8).dim == 8


def test_older_file_with_settings_of_all_families_is_read(yaml_file):
    older = "model: {family: recurrent, variant: null, dim: null, num_sets: null, join: concat, length_rule: null}\n"
    assert load_config(yaml_file(older)).model == RecurrentConfig()
    bytenet = "model: {family: bytenet, variant: bytenet, num_layers: 3, head: dense}\n"
    assert load_config(yaml_file(bytenet)).model == ByteNetConfig()
    thesis = "model: {family: bytenet, variant: simplified, settings: thesis, dim: 20, mask_padding: null}\n"
    assert load_config(yaml_file(thesis)).model == ByteNetConfig(variant="simplified", settings="thesis", dim=20)


@pytest.mark.parametrize("family", ["bytenet", "convs2s", "recurrent", "transformer"])
def test_another_family_leaves_out_what_only_the_former_one_has(family, yaml_file):
    for preset in ("numbers", "digits-attention", "multi30k-luong"):
        config = load_config(preset, [f"model.family={family}"])
        assert config.model.family == family
        assert config.model.dim == load_config(preset).model.dim
    own = yaml_file(f"preset: numbers\nmodel: {{family: {family}}}\n")
    assert load_config(own).model == load_config("numbers", [f"model.family={family}"]).model


def test_the_same_family_keeps_the_variant():
    assert load_config("multi30k-bahdanau", ["model.family=recurrent"]) == load_config("multi30k-bahdanau")


@pytest.mark.parametrize(
    ("old", "present"),
    [
        ("family: attention", RecurrentConfig(variant="madsen")),
        ("family: attention, variant: null, num_layers: null", RecurrentConfig(variant="madsen")),
        (
            "family: attention, variant: bounded, settings: thesis, dim: 8, num_layers: 2, head: bounded",
            RecurrentConfig(variant="madsen_bounded", settings="thesis", dim=8, encoder_layers=2),
        ),
        (
            "family: attention, variant: dense, settings: default, dropout: 0.1, mask_padding: true, length_rule: "
            "unfold, unfold_scale: 1.2, unfold_offset: 24, dim: 20, num_layers: 3, head: dense, initializer: auto",
            RecurrentConfig(variant="madsen", dropout=0.1),
        ),
    ],
)
def test_settings_of_the_former_family_attention_are_read_as_the_baseline(yaml_file, old, present):
    assert load_config(yaml_file(f"model: {{{old}}}\n")).model == present
    overrides = [f"model.{setting.replace(': ', '=')}" for setting in old.split(", ")]
    assert load_config("digits", ["model.dim=null", "model.dropout=null", *overrides]).model == present


def test_wrong_settings_of_the_former_family_are_refused_in_their_place(yaml_file):
    with pytest.raises(ConfigError, match=r"my.yaml:2: model.variant is 'selu', but should be one of luong, "):
        load_config(yaml_file("model:\n  variant: selu\n  family: attention\n"))
    with pytest.raises(ConfigError, match=r"there is no setting 'model.num_layers'"):
        load_config("numbers", ["model.num_layers=2"])


def test_override_wins_over_the_file_and_the_file_over_its_preset(yaml_file):
    name = yaml_file("preset: digits\nmodel:\n  dim: 8\ntraining:\n  epochs: 7\n")
    config = load_config(name, ["training.epochs=3", "training.epochs=5", "model.dilations=[1, 2]"])
    assert config.data == load_config("digits").data
    assert (config.model.dim, config.training.epochs, config.model.dilations) == (8, 5, (1, 2))


def test_preset_wins_over_a_file_of_the_same_name_unless_given_as_path(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("digits").write_text("training: {epochs: 77}\n")
    assert load_config("digits").training.epochs != 77
    assert load_config("./digits").training.epochs == 77


def test_paths_are_made_absolute(yaml_file, tmp_path):
    name = yaml_file("data: {corpus: files, train_source: a.de, train_target: ~/a.en}\n")
    data = load_config(name).data
    assert data.train_source == str(tmp_path / "a.de")
    assert data.train_target == str(Path.home() / "a.en")


def test_every_path_key_is_a_setting():
    keys = {f"data.{key.name}" for key in dataclasses.fields(DataConfig)}
    keys |= {f"semi_supervised.{key.name}" for key in dataclasses.fields(SemiSupervisedConfig)}
    keys |= {f"training.{key.name}" for key in dataclasses.fields(TrainingConfig)}
    keys |= {f"decoding.{key.name}" for key in dataclasses.fields(DecodingConfig)}
    assert set(PATH_KEYS) <= keys
    assert len(PATH_KEYS) == 15


def test_values_from_python_are_converted_or_refused():
    config = ByteNetConfig(dilations=[1, 2, 4], dim=20)
    assert config.dilations == (1, 2, 4)
    assert dataclasses.replace(config, dim=8).dim == 8
    assert TrainingConfig(learning_rate=1).learning_rate == 1.0
    with pytest.raises(dataclasses.FrozenInstanceError):
        config.dim = 9
    for wrong in ({"dim": True}, {"dim": "20"}, {"dim": 20.5}, {"dilations": ["1"]}, {"width": 20}):
        with pytest.raises(ValueError, match="1 validation error"):
            ByteNetConfig(**wrong)


def test_reading_a_configuration_does_not_import_tensorflow():
    code = (
        "import sys; from bytenet.config import load_config; load_config('numbers');"
        "sys.exit(', '.join({'tensorflow', 'keras', 'numpy'} & set(sys.modules)) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_variant_can_be_changed_on_top_of_the_file_of_a_run(yaml_file):
    settings = ["model.dim=64", "model.norm_epsilon=0.001"]
    name = yaml_file(load_config("digits", settings).to_yaml())
    assert load_config(name) == load_config("digits", settings)
    for change in ("model.variant=simplified_selu", "model.settings=thesis", "model.variant=v2"):
        assert load_config(name, [change]) == load_config("digits", [*settings, change])
