"""What a step of several workers costs."""

import json

import pytest
from click.testing import CliRunner

from bytenet.cli.benchmark import benchmark
from bytenet.config import load_config
from bytenet.profiling.benchmarks.measurement import Spread
from bytenet.profiling.benchmarks.training_case import TrainingCase
from bytenet.profiling.benchmarks.workers import training
from bytenet.profiling.benchmarks.workers.training import WorkersCost

from .small_settings import set_options

SMALL = [*set_options(["model.num_sets=1", "model.dilations=[1]"]), "--dim", "4", "--batch-size", "4", "--length", "6"]


@pytest.mark.slow
def test_two_workers_are_measured():
    arguments = ["training", "numbers", "--workers", "2", "--no-xla", "--vocab-size", "8", "--repeats", "2", "--json"]
    done = CliRunner().invoke(benchmark, [*arguments, *SMALL])
    assert done.exit_code == 0, done.output
    (cost,) = json.loads(done.stdout)
    assert cost["case"] == "bytenet, d=4, 4 x 6, no XLA"
    assert (cost["workers"], cost["batch_size"], cost["length"]) == (2, 4, 6)
    assert cost["exchanged_megabytes"] == pytest.approx(4 * cost["trainable_parameters"] / 1e6)
    assert cost["seconds"]["repeats"] == 2
    assert cost["exchange_seconds"]["least"] > 0


def test_workers_are_measured_alone():
    done = CliRunner().invoke(benchmark, ["training", "--workers", "2", "--replicas", "2"])
    assert done.exit_code == 2
    assert "--workers measures nothing else" in done.output


def test_workers_are_not_called_replicas(monkeypatch):
    said = []
    seconds = Spread.of([0.5])
    cost = WorkersCost("a case", 2, 4, 6, False, 9, 1.0, seconds, seconds, seconds)
    monkeypatch.setattr(training, "on_each_worker", lambda *_: cost)
    case = TrainingCase(load_config("numbers", ["model.dim=4"]), 4, 6, jit_compile=False, replicas=2)
    training.measure_workers([case], 2, 1, say=said.append)
    assert [line.startswith("bytenet, d=4, 4 x 6, no XLA, 2 workers") for line in said] == [True, True]
