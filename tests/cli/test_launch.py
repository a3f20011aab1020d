"""`bytenet launch`: which commands it takes, and the exit code."""

import pytest
from click.testing import CliRunner

from bytenet.cli.launch import launch
from bytenet.training.distribution import launcher


@pytest.fixture
def started(monkeypatch):
    """What was to be started; every worker fails with exit code 7."""
    calls = []

    def note(arguments, workers):
        calls.append((arguments, workers))
        return 7

    monkeypatch.setattr(launcher, "launch", note)
    return calls


def test_the_command_and_its_exit_code_are_passed_on(started):
    done = CliRunner().invoke(launch, ["--workers", "3", "--", "train", "numbers", "--run", "x", "--set", "a=b"])
    assert done.exit_code == 7
    assert started == [(("train", "numbers", "--run", "x", "--set", "a=b"), 3)]


def test_only_training_has_workers(started):
    done = CliRunner().invoke(launch, ["--", "translate", "runs/x"])
    assert done.exit_code == 2
    assert "Only train can have several workers, not 'translate'. For example: bytenet launch" in done.output
    assert started == []
