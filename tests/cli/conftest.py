"""Fixtures for the subcommands that follow training: pretrained models, and a run that was evaluated."""

import shutil

import pytest

from ..invoked_verbs import invoke_verb


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


@pytest.fixture(scope="session")
def evaluated_run(run_folder, tmp_path_factory):
    """A copy of the run folder after `bytenet evaluate --show 3`, and the printed output. Do not change the copy."""
    from bytenet.cli.evaluate import evaluate
    from bytenet.run_folder import RunFolder

    run = RunFolder.open(shutil.copytree(run_folder.path, tmp_path_factory.mktemp("evaluated") / "run"))
    return run, invoke_verb(evaluate, run.path, "--show", 3).stdout
