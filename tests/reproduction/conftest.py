import matplotlib.figure
import pytest


@pytest.fixture
def figures(monkeypatch):
    """The figures that the test saves, in order. Their files are written too."""
    found = []
    save = matplotlib.figure.Figure.savefig

    def saved(figure, *arguments, **options):
        found.append(figure)
        save(figure, *arguments, **options)

    monkeypatch.setattr(matplotlib.figure.Figure, "savefig", saved)
    return found
