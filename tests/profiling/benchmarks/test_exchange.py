"""The exchange of gradients, and the model of its time."""

import json
from dataclasses import asdict

import pytest
import tensorflow as tf
from click.testing import CliRunner

from bytenet.cli.benchmark import benchmark
from bytenet.profiling.benchmarks.measurement import Spread
from bytenet.profiling.benchmarks.workers import exchange
from bytenet.profiling.benchmarks.workers.exchange import ExchangeTime, exchange_of
from bytenet.profiling.benchmarks.workers.exchange_model import ExchangeModel

MODEL = ExchangeModel(call_seconds=0.005, round_seconds=0.001, byte_seconds=3e-9)


def test_seconds_of_an_exchange_are_those_computed_by_hand():
    # Four workers: 6 rounds, and each sends 1.5 times its 8 MB. At 1 Gbit/s, 12 MB take 96 ms.
    assert MODEL.seconds(4, 8e6) == pytest.approx(0.005 + 0.006 + 0.036)
    assert MODEL.seconds(4, 8e6, bits_per_second=1e9) == pytest.approx(0.047 + 0.096)
    assert MODEL.seconds(4, 8e6, bits_per_second=1e9, processes_a_core=2) == pytest.approx(2 * 0.047 + 0.096)


def test_predicted_efficiency_is_the_one_computed_by_hand():
    predicted = MODEL.prediction(2, gigabits=1.0, size=10e6, step_seconds=0.883)
    assert predicted.exchange_seconds == pytest.approx(0.005 + 0.002 + 0.030 + 0.080)
    assert predicted.efficiency == pytest.approx(0.883)


def test_a_fit_finds_the_costs_again():
    times = [
        ExchangeTime(
            workers, workers / 2, size, Spread.of([MODEL.seconds(workers, size * 1e6, processes_a_core=workers / 2)])
        )
        for workers in (2, 3)
        for size in (0.1, 1.0, 10.0)
    ]
    fitted = ExchangeModel.fitted(times)
    assert fitted.call_seconds == pytest.approx(MODEL.call_seconds)
    assert fitted.round_seconds == pytest.approx(MODEL.round_seconds)
    assert fitted.byte_seconds == pytest.approx(MODEL.byte_seconds)
    assert fitted.compared(times[0]).model_seconds == pytest.approx(times[0].seconds.median)


def test_vectors_are_exchanged_in_the_type_of_the_training():
    for dtype, total in (("float32", 2 + 2**-9), ("bfloat16", 2.0)):
        assert exchange_of(tf.distribute.get_strategy(), dtype)(tf.fill([2], 1 + 2**-10)) == total


def test_a_model_needs_two_numbers_of_workers():
    done = CliRunner().invoke(benchmark, ["exchange", "--workers", "2"])
    assert done.exit_code == 2
    assert "--workers 2 is only one number of workers" in done.stderr


@pytest.mark.parametrize("option", ["--workers", "--check-workers", "--link", "--gradient", "--step"])
def test_a_worker_of_tf_config_refuses_options_of_the_model(option):
    cluster = {"cluster": {"worker": ["one:5000", "two:5000"]}, "task": {"type": "worker", "index": 0}}
    done = CliRunner(env={"TF_CONFIG": json.dumps(cluster)}).invoke(benchmark, ["exchange", option, "2"])
    assert done.exit_code == 2
    assert f"Leave out {option}, or unset TF_CONFIG." in done.stderr


def test_rows_of_a_worker_of_tf_config_have_the_form_of_the_others(monkeypatch):
    """They have no time by the model."""
    times = [ExchangeTime(2, 1.0, 10.0, Spread.of([0.25]))]
    monkeypatch.setattr(exchange, "measure_exchange_as_worker", lambda sizes, repeats: times)
    cluster = {"cluster": {"worker": ["one:5000", "two:5000"]}, "task": {"type": "worker", "index": 0}}
    runner = CliRunner(env={"TF_CONFIG": json.dumps(cluster)})
    row = asdict(MODEL.compared(times[0])) | {"model_seconds": None}
    printed = runner.invoke(benchmark, ["exchange", "--json"], catch_exceptions=False).stdout
    assert json.loads(printed) == {"measured": [row]}
    table = runner.invoke(benchmark, ["exchange"], catch_exceptions=False).stdout
    assert table.split("\n")[1].split() == ["2", "10", "250"]


@pytest.mark.slow
def test_exchanges_are_measured_and_predicted():
    done = CliRunner().invoke(
        benchmark, ["exchange", "--repeats", "2", "--check-workers", "2", "--link", "1", "--json"]
    )
    assert done.exit_code == 0, done.output
    result = json.loads(done.stdout)
    assert {row["time"]["workers"] for row in result["measured"]} == {2, 3}
    assert all(row["time"]["seconds"]["least"] > 0 and row["model_seconds"] > 0 for row in result["measured"])
    assert [row["machines"] for row in result["predicted"]] == [2, 4, 8, 16, 32, 64]
    assert all(0 < row["efficiency"] < 1 for row in result["predicted"])
