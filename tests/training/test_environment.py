"""What a run folder says of its training."""

import pytest

from bytenet.training.environment import command_line


@pytest.mark.parametrize("program", ["/home/me/.venv/bin/bytenet", "/home/me/bytenet/__main__.py"])
def test_a_command_is_as_a_user_writes_it(program):
    assert command_line([program, "train", "my corpus.yaml"]) == "bytenet train 'my corpus.yaml'"
