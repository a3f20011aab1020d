"""Fixtures for the subcommands that follow training: a run folder with a small untrained model."""

import gzip
import shutil

import pytest
from click.testing import CliRunner

_SOURCES = ["ein Hund", "zwei Hunde", "ein Haus", "drei Häuser"]
_TARGETS = ["a dog", "two dogs", "a house", "three houses"]


_BYTENET = ["model.dim=8", "model.num_sets=1", "model.dilations=[1, 2]"]
_TRANSFORMER = [
    "model.family=transformer", "model.dim=8", "model.heads=2", "model.encoder_layers=1", "model.decoder_layers=2",
    "model.feed_forward_dim=8",
]  # fmt: skip


@pytest.fixture(scope="session")
def run_folder(tmp_path_factory):
    """The folder of a ByteNet run on four sentence pairs, used as both its training and its test set."""
    return _make_run(tmp_path_factory.mktemp("run"), _BYTENET)


@pytest.fixture(scope="session")
def attentive_run_folder(tmp_path_factory):
    """The same as `run_folder`, but with a Transformer."""
    return _make_run(tmp_path_factory.mktemp("attentive_run"), _TRANSFORMER)


def _make_run(folder, overrides):
    import keras

    from bytenet.config import load_config
    from bytenet.datasets import Vocabulary
    from bytenet.models import build_model
    from bytenet.run_folder import RunFolder
    from bytenet.saved.keras_model import save_model

    settings = {"corpus": "files"}
    for side, lines in (("source", _SOURCES), ("target", _TARGETS)):
        path = folder / f"text.{side}.gz"
        path.write_bytes(gzip.compress("".join(f"{line}\n" for line in lines).encode()))
        settings |= {f"{split}_{side}": str(path) for split in ("train", "test")}
    overrides = [*overrides, *(f"data.{key}={value}" for key, value in settings.items()), "decoding.beam_size=3"]
    config_path = folder / "settings.yaml"
    config_path.write_text("{}\n")
    config = load_config(str(config_path), overrides)
    vocabulary = Vocabulary.from_texts(_SOURCES, _TARGETS)
    run = RunFolder.create(folder / "run", config, vocabulary)
    keras.utils.set_random_seed(1)
    save_model(build_model(config.model, vocabulary.size), run.model_path)
    return run


@pytest.fixture(scope="session")
def model_path(run_folder, tmp_path_factory):
    """The model of the run folder as a file, with a card. Do not change it."""
    from bytenet.decoding import Translator

    path = tmp_path_factory.mktemp("model") / "de-en.bytenet"
    card = (
        "# A model\n\n- licence: CC0\n- scores on test: BLEU 1.5 (1.0 to 2.0); 4 sentences\n- alphabet: 20 characters\n"
    )
    Translator.from_run(run_folder.path).export(path, languages=("de", "en"), max_length=40, card=card)
    return path


@pytest.fixture
def shipped(model_path, monkeypatch, tmp_path):
    """Ships the model file as de-en, and works in an empty folder."""
    monkeypatch.setattr("bytenet.lite.pretrained._folder", lambda: model_path.parent)
    monkeypatch.chdir(tmp_path)
    return model_path


@pytest.fixture
def nothing_shipped(monkeypatch, tmp_path):
    """A package without pretrained models."""
    monkeypatch.setattr("bytenet.lite.pretrained._folder", lambda: tmp_path / "pretrained")


def _invoke(verb, *arguments, stdin=b""):
    result = CliRunner().invoke(verb, [str(argument) for argument in arguments], input=stdin)
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


@pytest.fixture
def invoke():
    """A function that runs a subcommand in this process and raises its errors."""
    return _invoke


@pytest.fixture(scope="session")
def evaluated_run(run_folder, tmp_path_factory):
    """A copy of the run folder after `bytenet evaluate --show 3`, and the printed output. Do not change the copy."""
    from bytenet.cli.evaluate import evaluate
    from bytenet.run_folder import RunFolder

    run = RunFolder.open(shutil.copytree(run_folder.path, tmp_path_factory.mktemp("evaluated") / "run"))
    return run, _invoke(evaluate, run.path, "--show", 3).stdout
