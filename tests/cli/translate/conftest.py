"""Translators that the tests of several modules share."""

import os

import pytest


@pytest.fixture(scope="session")
def translators():
    """The translators that were made, by their folders and options."""
    return {}


@pytest.fixture(scope="module")
def shared_translators(translators):
    """Make one translator for each set of options. Loading a model and tracing its search takes most of the time."""
    from bytenet.decoding import Translator

    make = Translator.from_run

    def from_run(*folders, **options):
        key = (*map(os.fspath, folders), repr(options))
        if key not in translators:
            translators[key] = make(*folders, **options)
        return translators[key]

    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setattr(Translator, "from_run", from_run)
        yield
