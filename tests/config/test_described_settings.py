"""`bytenet settings`: all settings with their explanations, as a configuration that can be used."""

import re

import pytest
from click.testing import CliRunner

from bytenet.cli.settings import settings
from bytenet.config import load_config, preset_names
from bytenet.config.described_settings import described_yaml
from bytenet.config.families import family_configs
from bytenet.errors import ConfigError


@pytest.mark.parametrize("preset", preset_names())
def test_a_described_preset_is_read_back(preset, tmp_path):
    files = ["data.train_source=a.de", "data.train_target=a.en"] if preset.startswith("pairs-") else []
    config = load_config(preset, files)
    path = tmp_path / "described.yaml"
    path.write_text(described_yaml(config), encoding="utf-8")
    assert load_config(path) == config


@pytest.mark.parametrize("family", family_configs())
def test_the_settings_of_each_family_are_described(family, tmp_path):
    result = CliRunner().invoke(settings, ["--set", f"model.family={family}"])
    path = tmp_path / "described.yaml"
    path.write_text(result.stdout, encoding="utf-8")
    assert load_config(path) == load_config(None, [f"model.family={family}"])
    assert f"  # Values: {', '.join(family_configs()[family].VARIANTS)}" in result.stdout.replace("\n  #  ", "")


@pytest.mark.parametrize("text", [None, "preset: pairs-2k\n"])
def test_presets_for_own_files_are_described_without_them(text, tmp_path):
    argument = "pairs-2k"
    if text:
        argument = str(tmp_path / "my.yaml")
        (tmp_path / "my.yaml").write_text(text)
    result = CliRunner().invoke(settings, [argument, "--set", "data.train_source=own.de"])
    assert isinstance(result.exception, ConfigError)  # one of two files
    result = CliRunner().invoke(settings, [argument])
    assert result.exit_code == 0
    assert result.stderr == "train.source and train.target stand for the names of your files.\n"
    assert "\n  train_source: " in result.stdout
    assert "train.source\n" in result.stdout


def test_comments_and_values_come_from_the_source():
    lines = described_yaml(load_config("numbers", ["training.devices=[GPU:0]"])).split("\n")
    schedule = lines.index("  schedule: cosine")
    assert lines[schedule - 1] == "  # Values: constant, cosine, inverse_sqrt, linear, plateau, step"
    assert (
        '  devices: [\'GPU:0\']  # such as ["GPU:0", "GPU:1"]; null is all GPUs, or the CPU if there is none' in lines
    )
    compilation = next(number for number, line in enumerate(lines) if line.startswith("  jit_compile:"))
    assert lines[compilation - 1] == "  # Values: true, false, auto"
    # A comment of the base class, for a setting that a subclass defines again without one.
    transformer = described_yaml(load_config(None, ["model.family=transformer"])).split("\n")
    assert transformer[transformer.index("  # mask_padding: true") - 1].startswith("  # Hides padding")
    assert not any("None" in line for line in lines)


def test_another_variant_brings_its_own_values(tmp_path):
    path = tmp_path / "described.yaml"
    text = described_yaml(load_config("numbers"))
    assert "  variant: bytenet " in text
    path.write_text(text.replace("  variant: bytenet ", "  variant: simplified "), encoding="utf-8")
    assert load_config(path).model.block_size == "small"
    path.write_text(text.replace("  settings: default", "  settings: thesis"), encoding="utf-8")
    assert not load_config(path).model.mask_padding


def test_every_setting_is_there_once():
    config = load_config("multi30k-attention")
    settings = re.findall(r"^  (?:# )?([a-z0-9_]+): ", described_yaml(config), re.MULTILINE)
    names = {key.partition(".")[2] for key in config.settings()}
    keys = [key for key in settings if key in names]
    assert keys == [key.partition(".")[2] for key in config.settings()]


def test_a_preset_that_does_not_exist_is_named():
    with pytest.raises(ConfigError, match="Did you mean numbers"):
        CliRunner().invoke(settings, ["number"], catch_exceptions=False)
