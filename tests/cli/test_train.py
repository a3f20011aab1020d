"""`bytenet train` passes the right configuration to the training."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from bytenet.cli.train import train
from bytenet.config import ConfigSources, load_config
from bytenet.config.families import family_configs
from bytenet.datasets import Vocabulary
from bytenet.errors import ConfigError, InputError, MissingFileError
from bytenet.presets.sizes import PRESETS_OF_FAMILIES
from bytenet.run_folder import RunFolder


@pytest.fixture
def train_command(monkeypatch, tmp_path):
    """A function that runs `bytenet train` in an empty folder. The training only records its arguments."""
    asked = []

    def note(config, run_dir, resume, cluster):
        assert cluster == "the workers of the environment"
        asked.append((config, run_dir, resume))

    monkeypatch.setattr("bytenet.training.train", note)
    monkeypatch.setattr(
        "bytenet.training.distribution.cluster.Cluster.from_environment", lambda: "the workers of the environment"
    )
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str):
        result = CliRunner().invoke(train, arguments)
        if result.exception and not isinstance(result.exception, SystemExit):
            raise result.exception
        return result, asked

    return run


def test_preset_and_set_options_make_the_configuration(train_command):
    result, asked = train_command("digits", "--set", "training.epochs=5", "--set", "model.dim=8", "--run", "runs/a")
    assert result.exit_code == 0
    assert asked == [(load_config("digits", ["training.epochs=5", "model.dim=8"]), Path("runs/a"), False)]


def test_settings_file_makes_the_configuration(train_command):
    Path("my.yaml").write_text("preset: digits\nmodel: {dim: 8}\n")
    _, asked = train_command("my.yaml", "--run", "runs/a")
    assert asked == [(load_config("digits", ["model.dim=8"]), Path("runs/a"), False)]


def test_resume_uses_the_settings_of_the_run(train_command):
    saved = load_config("digits", ["training.learning_rate=0.5"])
    RunFolder.create("runs/a", saved, Vocabulary.from_texts(["eins"]))
    _, asked = train_command("--resume", "--run", "runs/a")
    assert asked == [(saved, Path("runs/a"), True)]


def test_resume_applies_set_options_to_the_settings_of_the_run(train_command):
    saved = load_config("digits", ["training.learning_rate=0.5"])
    RunFolder.create("runs/a", saved, Vocabulary.from_texts(["eins"]))
    _, asked = train_command("--resume", "--run", "runs/a", "--set", "training.epochs=999")
    assert asked[0][0].differences(saved) == [("training.epochs", 999, saved.training.epochs)]


def test_a_corpus_without_a_preset_gets_one_by_its_size(train_command):
    for name in ("de", "en"):
        Path(name).write_text("a\n" * 9000)
    settings = ("data.corpus=files", "data.train_source=de", "data.train_target=en")
    result, asked = train_command(*(f"--set={setting}" for setting in settings), "--run", "runs/a")
    assert "9,000 pairs: preset pairs-10k-bahdanau\nOn 10,000 captions, preset pairs" in result.stderr
    config = ConfigSources.read(None, settings).config("pairs-10k-bahdanau")
    assert asked == [(config, Path("runs/a"), False)]


def test_a_resumed_run_keeps_the_preset_that_was_chosen(train_command):
    Path("my.yaml").write_text("data: {corpus: numbers, num_train: 9000}\n")
    begun = ConfigSources.read("my.yaml").config("pairs-2k")
    RunFolder.create("runs/a", begun, Vocabulary.from_texts(["eins"]))
    result, asked = train_command("my.yaml", "--resume", "--run", "runs/a")
    assert asked == [(begun, Path("runs/a"), True)]
    assert result.stderr == ""


def test_a_preset_with_measured_figures_says_what_to_expect(train_command):
    result, _ = train_command("multi30k-attention", "--run", "runs/a")
    assert "BLEU after 27 minutes" in result.stderr
    for changed in (["multi30k-attention", "--set", "model.dim=64"], ["multi30k-luong"], ["numbers"]):
        result, _ = train_command(*changed, "--run", "runs/a")
        assert result.stderr == ""


def test_a_folder_in_use_is_refused_before_the_corpus_is_read_and_before_a_message(train_command, monkeypatch):
    monkeypatch.delenv("TF_CONFIG", raising=False)
    RunFolder.create("runs/a", load_config("digits"), Vocabulary.from_texts(["eins"]))
    with pytest.raises(InputError, match="runs/a holds a run already"):
        train_command("--set", "data.corpus=nowhere", "--run", "runs/a")
    monkeypatch.setenv("TF_CONFIG", "{}")  # another worker may have made the folder
    assert len(train_command("digits", "--run", "runs/a")[1]) == 1


def test_a_setting_that_must_stay_is_refused_before_the_training_begins(train_command):
    RunFolder.create("runs/a", load_config("digits"), Vocabulary.from_texts(["eins"]))
    with pytest.raises(InputError, match=r"model\.dim was \d+ and is 64"):
        train_command("--resume", "--run", "runs/a", "--set", "model.dim=64")


def test_resume_with_a_preset_uses_the_preset(train_command):
    _, asked = train_command("digits", "--resume", "--run", "runs/new")
    assert asked == [(load_config("digits"), Path("runs/new"), True)]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "Missing option '--run'"),
        (["digits"], "Missing option '--run'"),
        (
            ["--run", "runs/a"],
            "Missing PRESET_OR_FILE, for example: bytenet train numbers --run runs/numbers",
        ),
        (
            ["--run", "runs/a", "--set", "data.train_source=de"],
            "numbers\nFor your own text, add: --set data.corpus=files --set data.train_source=FILE --set",
        ),
        (["digits", "more", "--run", "runs/a"], "unexpected extra argument"),
    ],
)
def test_wrong_arguments_exit_with_code_2(train_command, arguments, message):
    result, asked = train_command(*arguments)
    assert result.exit_code == 2
    assert message in result.stderr
    assert asked == []


def test_resume_without_a_run_folder_is_refused(train_command):
    with pytest.raises(MissingFileError, match="runs/a does not exist; expected the folder of a run"):
        train_command("--resume", "--run", "runs/a")


def test_wrong_setting_is_refused_before_training(train_command):
    with pytest.raises(ConfigError, match=r"training\.epoch'"):
        train_command("digits", "--set", "training.epoch=5", "--run", "runs/a")
    assert not Path("runs").exists()


def test_help_lists_presets_and_families(train_command):
    result, _ = train_command("--help")
    assert result.exit_code == 0
    assert "multi30k-transformer" in result.output
    assert all(preset in train.help for preset in PRESETS_OF_FAMILIES["recurrent"])
    for family, config_class in family_configs().items():
        assert f"\n  {family}: " in result.output
        assert all(variant in result.output for variant in config_class.VARIANTS)
