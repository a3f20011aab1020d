"""Fixtures for the subcommands that follow training: no pretrained models, and a run that was evaluated."""

import shutil

import pytest

from ..invoked_verbs import invoke_verb


@pytest.fixture
def nothing_shipped(ship, tmp_path):
    """A package without pretrained models."""
    ship(tmp_path / "pretrained")


@pytest.fixture(scope="session")
def evaluated_run(run_folder, tmp_path_factory):
    """A copy of the run folder after `bytenet evaluate --show 3`, and the printed output. Do not change the copy."""
    from bytenet.cli.evaluate import evaluate
    from bytenet.run_folder import RunFolder

    run = RunFolder.open(shutil.copytree(run_folder.path, tmp_path_factory.mktemp("evaluated") / "run"))
    return run, invoke_verb(evaluate, run.path, "--show", 3).stdout
