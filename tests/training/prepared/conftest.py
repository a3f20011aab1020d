"""Small runs that are prepared and fitted."""

import pytest

from bytenet.training.prepared.fitting import fit_prepared
from bytenet.training.prepared.preparation import prepare


def nothing(line):
    """Show no progress."""


@pytest.fixture
def prepared(smallest_config, tmp_path):
    """Prepare the smallest run, with further overrides, and fit it."""

    def make(name, *overrides, say=nothing):
        folder = prepare(smallest_config(*overrides), tmp_path / name)
        fit_prepared(folder.run, say)
        return folder.run

    return make
