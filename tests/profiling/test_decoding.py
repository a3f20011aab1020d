"""Timing of decoding: what is counted, not how long it takes."""

import json

import pytest
from click.testing import CliRunner

from bytenet.cli.benchmark import benchmark
from bytenet.models import ByteNet
from bytenet.profiling.decoding import measure_decoding


@pytest.fixture(scope="module")
def model():
    model = ByteNet(8, dim=4, num_sets=1, dilations=(1, 2))
    model.build({"source_ids": (None, None), "target_ids": (None, None)})
    return model


@pytest.mark.parametrize("beam_size", [1, 3])
def test_every_search_goes_to_the_length_asked_for(model, monkeypatch, beam_size):
    positions = []
    step = model.step

    def count(previous_ids, state, memory, position):
        positions.append(position)
        return step(previous_ids, state, memory, position)

    monkeypatch.setattr(model, "step", count)
    costs = measure_decoding(model, [3, 12], batch_size=2, beam_size=beam_size, repeats=3)
    assert [cost.length for cost in costs] == [3, 12]
    assert len(positions) == 2, "each length is traced once, and never again while it is timed"
    for cost in costs:
        assert 0 < cost.least <= cost.median <= cost.most
        assert cost.repeats == 3


def test_the_command_prints_a_line_a_length(monkeypatch):
    small = ["--set", "model.dim=4", "--set", "model.num_sets=1", "--set", "model.dilations=[1,2]", "--repeats", "1"]
    arguments = ["decoding", "numbers", *small, "--length", "4", "--length", "6"]
    printed = CliRunner().invoke(benchmark, arguments, catch_exceptions=False).stdout.strip().split("\n")
    assert len(printed) == 3
    assert printed[1].split()[0] == "4"
    assert printed[1].endswith("1.00")
    as_json = CliRunner().invoke(benchmark, [*arguments, "--json"], catch_exceptions=False).stdout
    assert [cost["length"] for cost in json.loads(as_json)] == [4, 6]
