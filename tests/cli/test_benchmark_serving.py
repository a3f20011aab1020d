"""`bytenet benchmark serving`: which texts the server is asked for."""

import pytest

from bytenet.cli.benchmark.serving import serving
from bytenet.profiling.benchmarks import serving as measurement
from bytenet.trained_model import open_model


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


def test_texts_are_lines_that_the_server_does_not_split(texts_of, model_path, tmp_path, monkeypatch):
    said = []
    monkeypatch.setitem(serving.callback.__globals__, "say", said.append)
    most = open_model(model_path).config.data.max_length
    fitting, long = "a" * most, "a" * (most + 1)
    decomposed = "a\u0308" * most  # twice as many characters before they are composed
    (tmp_path / "texts").write_text("\n".join([" eins ", "\u200b", long, f"  {fitting} ", decomposed, "eins"]))
    assert texts_of(model_path, "--texts", tmp_path / "texts") == ["eins", fitting, decomposed]
    assert said == [f"2 lines left out: blank, or longer than {most} characters"]


@pytest.mark.thorough
def test_a_server_gives_the_answers_of_the_command_and_comes_back_after_a_kill(model_path):
    texts = ["ein Hund", "zwei Hunde", "ein Haus"]
    cost = measurement.measure_serving(model_path, texts, ("de", "en"), clients=2, seconds=2)
    loads = (cost.each_text_once, *cost.one_client, cost.many_clients)
    assert [load.clients for load in loads] == [2, 1, 1, 2]
    for load in loads:
        assert list(load.statuses) == [200]
        assert load.wrong == 0
    assert cost.each_text_once.statuses == {200: len(texts)}
    assert cost.many_clients.texts == len(texts)
    assert min(cost.seconds_to_first_answer, cost.seconds_to_answer_again) > 0
    assert cost.first_minute_bytes > 1e6
    assert cost.later_bytes is None
