"""The names that `bytenet.datasets` promises."""

import pytest


def test_public_names_exist_and_other_names_are_refused():
    import bytenet.datasets

    for name in bytenet.datasets.__all__:
        assert getattr(bytenet.datasets, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'other'"):
        bytenet.datasets.other  # noqa: B018
