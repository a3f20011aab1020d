"""Targets and the sources that they belong to."""

import numpy as np
import pytest

from bytenet.models.batch_rows import memory_of_targets


def test_successive_targets_belong_to_one_source():
    memory = {"encoded": np.array([[1.0], [2.0]])}
    repeated = memory_of_targets(memory, np.zeros((2, 3)), np.zeros((4, 5)))["encoded"]
    assert np.asarray(repeated).tolist() == [[1.0], [1.0], [2.0], [2.0]]


@pytest.mark.parametrize(("sources", "targets"), [(2, 3), (2, 1), (0, 1)])
def test_sources_with_different_numbers_of_targets_are_refused(sources, targets):
    with pytest.raises(ValueError, match=f"^{targets} targets for {sources} sources; expected the same number"):
        memory_of_targets({}, np.zeros((sources, 3)), np.zeros((targets, 5)))
