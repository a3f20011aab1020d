"""A run folder and its model are opened. Missing, damaged and changed files are named."""

import json
import zipfile
from pathlib import Path

import pytest

from bytenet.datasets import Vocabulary
from bytenet.errors import ConfigError, InputError, MissingFileError
from bytenet.run_folder import RunFolder

from .small_runs import CONFIG, SEMI, VOCABULARY


@pytest.fixture
def trained(run) -> RunFolder:
    """A run with a saved, untrained model."""
    from bytenet.models import build_model

    build_model(CONFIG.model, VOCABULARY.size).save(run.model_path)
    return run


def test_backward_translator_is_trained_in_its_parent_run(tmp_path, monkeypatch):
    whole = RunFolder.create(tmp_path / "both", SEMI, VOCABULARY)
    part = RunFolder.create(whole.path / "backward", CONFIG, VOCABULARY)
    assert (part.trained_in, whole.trained_in) == (whole.path, whole.path)
    monkeypatch.chdir(whole.path)
    assert RunFolder("backward").trained_in == whole.path
    monkeypatch.chdir(part.path)
    assert (RunFolder(".").trained_in, RunFolder(".").name) == (whole.path, "backward")
    with pytest.raises(MissingFileError, match=rf"not saved a model yet.*--resume --run {whole.path}`"):
        part.load_model()
    supervised = RunFolder.create(tmp_path / "one", CONFIG, VOCABULARY)
    assert RunFolder(supervised.path / "backward").trained_in == supervised.path / "backward"


def test_folder_named_backward_beside_an_unrelated_config_has_no_parent(tmp_path):
    (tmp_path / "config.yaml").write_text("foo: 1\n", encoding="utf-8")
    assert RunFolder(tmp_path / "backward").trained_in == tmp_path / "backward"


def test_open_says_what_is_missing(tmp_path, run):
    with pytest.raises(MissingFileError, match="none does not exist; expected the folder of a run"):
        RunFolder.open(tmp_path / "none")
    with pytest.raises(MissingFileError, match=r"which `bytenet train PRESET --run '.*/no run'` makes"):
        RunFolder.open(tmp_path / "no run")
    with pytest.raises(MissingFileError, match=r"is not a run folder: config\.yaml and vocabulary\.json missing"):
        RunFolder.open(tmp_path)
    for path, command in (
        (run.config_path, f"train {run.config_path} --run DIR"),
        (run.vocabulary_path, "train PRESET"),
    ):
        with pytest.raises(MissingFileError, match=rf"{path} is a file; expected the folder .* `bytenet {command}"):
            RunFolder.open(path)
    run.vocabulary_path.unlink()
    with pytest.raises(MissingFileError, match=r"is not a run folder: vocabulary\.json missing"):
        RunFolder.open(run.path)


def test_damaged_configuration_error_names_file_and_line(run):
    run.config_path.write_text("model:\n  dimm: 4\n")
    with pytest.raises(
        ConfigError, match=r"config\.yaml:2: there is no setting 'model\.dimm'\. Did you mean model\.dim"
    ):
        _ = RunFolder.open(run.path).config


def test_the_saved_model_is_loaded(run):
    import numpy as np

    from bytenet.models import build_model

    inputs = {"source_ids": np.array([[3, 4, 1]]), "target_ids": np.array([[4, 3, 1]])}
    model = build_model(CONFIG.model, VOCABULARY.size)
    expected = np.asarray(model(inputs))
    model.save(run.model_path)
    loaded = run.load_model()
    assert loaded.vocab_size == VOCABULARY.size
    np.testing.assert_array_equal(np.asarray(loaded(inputs)), expected)


def test_loading_a_model_before_it_is_saved_is_refused(run):
    with pytest.raises(
        MissingFileError, match=r"model yet\. If it is running, wait .*with `bytenet train --resume --run"
    ):
        run.load_model()


def test_vocabulary_of_another_size_is_refused(trained):
    Vocabulary.from_texts(["ein anderes Alphabet"]).save(trained.vocabulary_path)
    with pytest.raises(
        InputError, match=r"was trained with a vocabulary of \d+ symbols, but .*vocabulary\.json has \d+"
    ):
        RunFolder.open(trained.path).load_model()


def test_another_vocabulary_of_the_same_size_is_refused(trained):
    noted = {"vocabulary": trained.vocabulary.fingerprint()}
    trained.environment_path.write_text(json.dumps(noted), encoding="utf-8")
    assert RunFolder.open(trained.path).vocabulary == trained.vocabulary
    shifted = [chr(ord(character) + 1) for character in trained.vocabulary.characters]
    Vocabulary(shifted).save(trained.vocabulary_path)
    with pytest.raises(InputError, match=r"not the vocabulary that the run was trained with.*Put back"):
        RunFolder.open(trained.path).load_model()


def _cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:1000])


def _drop_the_weights(path: Path) -> None:
    with zipfile.ZipFile(path) as whole:
        members = {name: whole.read(name) for name in whole.namelist() if "weights" not in name}
    with zipfile.ZipFile(path, "w") as rest:
        for name, content in members.items():
            rest.writestr(name, content)


@pytest.mark.parametrize("damage", [_cut, _drop_the_weights, lambda path: path.write_bytes(b"")])
def test_damaged_model_is_refused(trained, damage):
    damage(trained.model_path)
    with pytest.raises(InputError, match=r"model\.keras cannot be loaded: .+\. It was damaged"):
        trained.load_model()
