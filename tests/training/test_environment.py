"""What a run folder says of its training."""

import pytest

from bytenet.datasets import Vocabulary
from bytenet.run_folder import RunFolder
from bytenet.saved.environment import commits_of
from bytenet.training.environment import command_line, write_environment


@pytest.mark.parametrize("program", ["/home/me/.venv/bin/bytenet", "/home/me/bytenet/__main__.py"])
def test_a_command_is_as_a_user_writes_it(program):
    assert command_line([program, "train", "my corpus.yaml"]) == "bytenet train 'my corpus.yaml'"


def test_all_commits_of_a_resumed_training_are_listed(smallest_config, tmp_path, monkeypatch):
    folder = RunFolder.create(tmp_path / "run", smallest_config(), Vocabulary("abc"))
    for commit in ("first", "second", "second", None):
        monkeypatch.setattr("bytenet.training.environment._git_commit", lambda commit=commit: commit)
        write_environment(folder, seed=1, parameters=1, replicas=1, trained_lengths=[1])
    assert commits_of(folder.environment()) == ["first", "second"]
    assert len(folder.environment()["commands"]) == 4
    assert commits_of({"git_commit": "of an earlier version"}) == ["of an earlier version"]
    assert commits_of({"git_commit": None}) == []
