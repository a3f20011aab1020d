"""`bytenet launch`: which commands it takes, and the exit code."""

import pytest
from click.testing import CliRunner

from bytenet.cli.launch import launch
from bytenet.training.distribution import launcher


@pytest.fixture
def started(monkeypatch):
    """What was to be started; every worker fails with exit code 7."""
    calls = []

    def note(arguments, workers, environment):
        calls.append((arguments, workers, "TF_CPP_MIN_LOG_LEVEL" in environment))
        return 7

    monkeypatch.setattr(launcher, "launch", note)
    return calls


@pytest.mark.parametrize(("level", "passed_on"), [("2", False), ("0", True)])
def test_the_command_and_its_exit_code_are_passed_on(started, monkeypatch, level, passed_on):
    monkeypatch.setenv("TF_CPP_MIN_LOG_LEVEL", level)
    done = CliRunner().invoke(launch, ["--workers", "3", "--", "train", "numbers", "--run", "x", "--set", "a=b"])
    assert done.exit_code == 7
    assert started == [(("train", "numbers", "--run", "x", "--set", "a=b"), 3, passed_on)]


def test_only_training_has_workers(started):
    done = CliRunner().invoke(launch, ["--", "translate", "runs/x"])
    assert done.exit_code == 2
    assert "Only train can have several workers, not 'translate'" in done.output
    assert started == []
