"""The folder of a small run."""

import pytest

from bytenet.run_folder import RunFolder

from .small_runs import CONFIG, VOCABULARY


@pytest.fixture
def run(tmp_path) -> RunFolder:
    """A run that was just started."""
    return RunFolder.create(tmp_path / "runs" / "one", CONFIG, VOCABULARY)
