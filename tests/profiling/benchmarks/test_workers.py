"""What a step of several workers costs."""

import json

import pytest
from click.testing import CliRunner

from bytenet.cli.benchmark import benchmark

from .small_settings import set_options

SMALL = [*set_options(["model.num_sets=1", "model.dilations=[1]"]), "--dim", "4", "--batch-size", "4", "--length", "6"]


@pytest.mark.slow
def test_two_workers_are_measured():
    arguments = ["training", "numbers", "--workers", "2", "--no-xla", "--vocab-size", "8", "--repeats", "2", "--json"]
    done = CliRunner().invoke(benchmark, [*arguments, *SMALL])
    assert done.exit_code == 0, done.output
    (cost,) = json.loads(done.stdout)
    assert (cost["workers"], cost["batch_size"], cost["length"]) == (2, 4, 6)
    assert cost["exchanged_megabytes"] == pytest.approx(4 * cost["trainable_parameters"] / 1e6)
    assert cost["seconds"]["repeats"] == 2
    assert cost["exchange_seconds"]["least"] > 0


def test_workers_are_measured_alone():
    done = CliRunner().invoke(benchmark, ["training", "--workers", "2", "--replicas", "2"])
    assert done.exit_code == 2
    assert "--workers measures nothing else" in done.output
