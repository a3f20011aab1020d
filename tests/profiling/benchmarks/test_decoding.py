"""Timing of decoding: these tests check the counts, not the times."""

import itertools
import json
from types import SimpleNamespace

import pytest
from click.testing import CliRunner

from bytenet.cli.benchmark import benchmark
from bytenet.config.families.bytenet import ByteNetConfig
from bytenet.models import ByteNet
from bytenet.profiling.benchmarks import decoding
from bytenet.profiling.benchmarks.decoding import DecodingCase, measure_decoding

from .small_settings import SMALL, set_options

OPTIONS = [*set_options(SMALL), "--repeats", "1"]


@pytest.fixture(scope="module")
def model():
    model = ByteNet(ByteNetConfig(dim=4, num_sets=1, dilations=(1, 2)), 8)
    model.build({"source_ids": (None, None), "target_ids": (None, None)})
    return model


@pytest.fixture
def fixed_times(monkeypatch):
    """First calls take 5 s and half a second in turns, later ones 1, 2 and 3 s."""
    readings = itertools.accumulate(itertools.cycle([0, 5, 0, 0.5]))
    monkeypatch.setattr(decoding, "time", SimpleNamespace(perf_counter=readings.__next__))

    def seconds_in_turns(runs, repeats, warmup):
        assert warmup == 0, "the first calls are the warm-up"
        return {name: [run() or 1.0 + turn for turn in range(repeats)] for name, run in runs.items()}

    monkeypatch.setattr(decoding, "seconds_in_turns", seconds_in_turns)


@pytest.mark.parametrize("beam_size", [1, 3])
def test_every_search_runs_to_the_requested_length(model, monkeypatch, fixed_times, beam_size):
    traces = []
    make_step = model.make_step
    monkeypatch.setattr(model, "make_step", lambda: traces.append(1) or make_step())
    cases = [DecodingCase(length, 2, beam_size) for length in (3, 12)]
    costs = measure_decoding(model, cases, repeats=3)
    assert [cost.case for cost in costs] == cases
    assert len(traces) == 2, "each length is traced once, and never again while it is timed"
    for cost in costs:
        assert cost.milliseconds.median == pytest.approx(2000 / cost.case.length)
        assert cost.milliseconds.repeats == 3
        assert cost.characters_per_second == pytest.approx(2 * cost.case.length / 2)  # two sentences in two seconds
    first_call_slower, first_call_faster = costs
    assert first_call_slower.compile_seconds == 5 - 2
    assert first_call_faster.compile_seconds == 0


def test_uncached_methods_run_the_model_on_whole_prefixes(model, monkeypatch, fixed_times):
    lengths = []
    call = model.call

    def record(inputs, training=False):
        lengths.append(inputs["target_ids"].shape[1])
        return call(inputs, training)

    monkeypatch.setattr(model, "call", record)
    cases = [DecodingCase(16, 2, method="growing prefix"), DecodingCase(16, 2, method="fixed length")]
    costs = measure_decoding(model, cases, repeats=3)
    assert lengths == [None, 16], "one graph for every prefix, one for the final length"
    assert [cost.milliseconds.median for cost in costs] == [2000 / 8, 2000 / 1], "eight prefixes and one are timed"


def test_sampled_prefixes_have_the_mean_length_of_all_prefixes():
    from bytenet.profiling.benchmarks.decoding import _prefix_lengths

    for length in (1, 2, 7, 8, 100, 512):
        sampled = _prefix_lengths(DecodingCase(length, method="growing prefix"))
        assert 1 <= min(sampled) <= max(sampled) <= length
        assert sum(sampled) / len(sampled) == pytest.approx((1 + length) / 2, abs=0.5)
    assert _prefix_lengths(DecodingCase(30, method="fixed length")) == [30]


def test_command_prints_a_line_for_every_combination():
    lengths = ["--length", "4", "--length", "6", "--no-xla"]
    arguments = ["decoding", "numbers", *OPTIONS, *lengths, "--beam-size", "1", "--beam-size", "2", "--uncached"]
    printed = CliRunner().invoke(benchmark, arguments, catch_exceptions=False).stdout.strip().split("\n")
    assert [line.split()[:5] for line in printed[1:]] == [
        ["4", "1", "1", "cached", "no"],
        ["4", "1", "2", "cached", "no"],
        ["6", "1", "1", "cached", "no"],
        ["6", "1", "2", "cached", "no"],
        ["4", "1", "1", "growing", "prefix"],
        ["4", "1", "1", "fixed", "length"],
        ["6", "1", "1", "growing", "prefix"],
        ["6", "1", "1", "fixed", "length"],
    ]
    assert printed[0].endswith("  time / time of the first row")
    assert printed[1].split()[-1] == "1.00"


def test_command_prints_json_with_and_without_xla():
    arguments = ["decoding", "numbers", *OPTIONS, "--length", "4", "--json"]
    costs = json.loads(CliRunner().invoke(benchmark, arguments, catch_exceptions=False).stdout)
    assert [cost["case"]["jit_compile"] for cost in costs] == [False, True]
    assert costs[0]["milliseconds"]["repeats"] == 1


@pytest.mark.parametrize(("mixed_precision", "dtype"), [("true", "bfloat16"), ("false", "float32")])
def test_command_uses_the_precision_of_the_configuration(monkeypatch, policy, mixed_precision, dtype):
    models = []
    monkeypatch.setattr(decoding, "measure_decoding", lambda model, cases, repeats: models.append(model) or [])
    arguments = ["decoding", "numbers", *OPTIONS, "--set", f"training.mixed_precision={mixed_precision}"]
    with policy("float32"):
        CliRunner().invoke(benchmark, arguments, catch_exceptions=False)
    assert [model.compute_dtype for model in models] == [dtype]
