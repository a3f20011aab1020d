"""`bytenet benchmark serving`: which texts the server is asked for."""

import pytest

from bytenet.cli.benchmark.serving import serving
from bytenet.profiling.benchmarks import serving as measurement


class MeasuredError(Exception):
    """The measurement would begin. Its argument has the texts."""


@pytest.fixture
def texts_of(monkeypatch, invoke):
    """A function that gives the texts with which the command would measure a server."""

    def measure(model, texts, *arguments, **options):
        raise MeasuredError(texts)

    def texts(*arguments):
        with pytest.raises(MeasuredError) as raised:
            invoke(serving, *arguments)
        return raised.value.args[0]

    monkeypatch.setattr(measurement, "measure_serving", measure)
    return texts


def test_a_run_has_texts_of_its_own(texts_of, run_folder):
    assert texts_of(run_folder.path, "--max-texts", 2) == ["ein Hund", "zwei Hunde"]


@pytest.mark.parametrize("name", ["de-en", "path"])
def test_a_file_needs_texts_also_by_the_name_of_a_pretrained_model(texts_of, shipped, invoke, tmp_path, name):
    model = shipped if name == "path" else name
    result = invoke(serving, model)
    assert result.exit_code == 2
    assert "does not say what it was trained on. Give texts with --texts FILE." in " ".join(result.stderr.split())
    (tmp_path / "texts").write_text("eins\n\nzwei\neins\n")
    assert texts_of(model, "--texts", tmp_path / "texts") == ["eins", "zwei"]
