"""`bytenet benchmark serving`: which texts the server is asked for, and what is printed."""

import json
from dataclasses import asdict

import pytest

from bytenet.cli.benchmark.serving import serving
from bytenet.profiling.benchmarks import serving as measurement
from bytenet.profiling.benchmarks.serving import ServingCost
from bytenet.profiling.benchmarks.serving.clients import Load
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


def load(clients, requests_a_second, seconds=5.0):
    return Load(clients, seconds, requests_a_second, 12.3, 45.6, {200: 1234, 503: 2}, wrong=1, texts=1000)


@pytest.mark.parametrize(("later", "growth"), [(None, ""), (510_000_000, ", +2.0% after it")])
def test_options_reach_the_measurement_whose_result_is_printed(
    monkeypatch, invoke, model_path, tmp_path, later, growth
):
    calls = []
    one_client = load(1, 10.0), load(1, 30.0)
    cost = ServingCost(load(8, 3.0), one_client, load(8, 50.0, 99.6), 500_000_000, later, 1.26, 0.74)

    def measure(*arguments, say):
        calls.append(arguments)
        return cost

    monkeypatch.setattr(measurement, "measure_serving", measure)
    (tmp_path / "texts").write_text("eins\n")
    options = (model_path, "--texts", tmp_path / "texts", "--clients", 8, "--seconds", 2.5, "--beam-size", 4)
    *rows, _, speedup, memory, start = invoke(serving, *options).stdout.splitlines()
    printed = json.loads(invoke(serving, *options, "--json").stdout)
    assert calls == 2 * [(model_path, ["eins"], ("de", "en"), 8, 2.5, ["--beam-size", "4"])]
    assert [row.split()[:5] for row in rows[1:]] == [
        ["8", "5", "3.0", "12", "46"], ["1", "5", "10.0", "12", "46"], ["8", "100", "50.0", "12", "46"],
        ["1", "5", "30.0", "12", "46"],
    ]  # fmt: skip
    assert all(row.split()[5:] == ["200:", "1,234,", "503:", "2", "1,000", "1"] for row in rows[1:])
    assert speedup == "2.5 times the requests of one client"
    assert memory == f"memory of the server: 500 MB in the first minute{growth}"
    assert start == ("first answer 1.3 seconds after the start, and 0.7 seconds after a start that follows kill -9")
    assert printed == json.loads(json.dumps(asdict(cost))) | {"speedup": 2.5}


def test_numbers_without_answers_are_null_or_a_dash(monkeypatch, invoke, model_path, tmp_path):
    silent = Load(1, 5.0, 0.0, None, None, {0: 9}, wrong=0, texts=0)
    cost = ServingCost(silent, (silent, silent), silent, 500_000_000, None, 1.0, 1.0)
    monkeypatch.setattr(measurement, "measure_serving", lambda *_, say: cost)
    (tmp_path / "texts").write_text("eins\n")
    options = (model_path, "--texts", tmp_path / "texts")
    lines = invoke(serving, *options).stdout.splitlines()
    assert lines[1].split()[:5] == ["1", "5", "0.0", "-", "-"]
    assert "one client alone got no answer, so there is no ratio" in lines

    def refuse(name):
        raise AssertionError(f"{name} is not JSON")

    printed = json.loads(invoke(serving, *options, "--json").stdout, parse_constant=refuse)
    assert (printed["speedup"], printed["many_clients"]["median_ms"], printed["many_clients"]["p99_ms"]) == 3 * (None,)


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
