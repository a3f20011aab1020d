"""Where the time goes before the first training step: that it is all accounted for, not how long it is."""

import json
import os

import pytest
from click.testing import CliRunner

from bytenet import compile_cache
from bytenet.cli.benchmark import benchmark
from bytenet.errors import ConfigError, InputError
from bytenet.profiling import startup
from bytenet.profiling.measurement import Spread
from bytenet.profiling.startup import WAYS, measure_startup

SMALL = ["model.dim=4", "model.num_sets=1", "model.dilations=[1]"]


def test_all_of_a_start_is_accounted_for():
    (cost,) = measure_startup("digits", SMALL, ways=["no XLA"])
    assert cost.way == "no XLA"
    assert list(cost.parts) == [
        "imports", "corpus and plan", "model", "before the first step", "tracing", "compiling and first step",
    ]  # fmt: skip
    assert all(part.least > 0 for part in cost.parts.values())
    assert cost.seconds.median == pytest.approx(sum(part.median for part in cost.parts.values()))


@pytest.mark.slow
def test_a_warm_cache_saves_compiling():
    empty, warm = measure_startup("digits", SMALL, ways=["XLA, empty cache", "XLA, warm cache"])
    assert warm.parts["compiling and first step"].median < empty.parts["compiling and first step"].median


def test_a_run_that_fails_says_why():
    with pytest.raises(InputError, match=r"(?s)ended before its first step.*min_length 7 is more than max_length 3"):
        measure_startup("digits", ["data.min_length=7", "data.max_length=3"], ways=["no XLA"])


@pytest.fixture
def starts(monkeypatch):
    """Notes what is started instead of starting it, and fills the cache as XLA would."""
    started = []

    def start(preset_or_file, overrides, way, cache, folder):
        started.append((way, cache.exists()))
        if way != "no XLA":
            cache.mkdir(exist_ok=True)
        return dict.fromkeys(startup._PARTS.values(), 1.0 + len(started))

    monkeypatch.setattr(startup, "_start", start)
    return started


def test_caches_are_empty_and_warm_when_they_should_be(starts):
    measure_startup("digits", repeats=2)
    assert starts == 2 * [("no XLA", False), ("XLA, empty cache", False), ("XLA, warm cache", True)]
    starts.clear()
    costs = measure_startup("digits", ways=["XLA, warm cache"])
    assert starts == [("XLA, warm cache", False), ("XLA, warm cache", True)]
    assert costs[0].seconds == Spread(18.0, 18.0, 18.0, 1), "the run that filled the cache does not count"


@pytest.mark.parametrize("way", WAYS)
def test_a_run_has_no_cache_but_its_own(monkeypatch, tmp_path, way):
    """The command `bytenet` itself has one, which its child would inherit and prefer."""
    monkeypatch.setenv("TF_XLA_FLAGS", "--tf_xla_auto_jit=0")
    monkeypatch.setenv("BYTENET_COMPILE_CACHE", str(tmp_path / "users"))
    users = compile_cache.turn_on()
    assert str(users) in os.environ["TF_XLA_FLAGS"]
    environment = startup._environment(way, tmp_path / "own")
    assert environment["TF_XLA_FLAGS"] == "--tf_xla_auto_jit=0"
    for name in ("TF_XLA_FLAGS", "BYTENET_COMPILE_CACHE"):
        monkeypatch.setenv(name, environment[name])
    folder = compile_cache.turn_on()
    assert folder is None if way == "no XLA" else folder.is_relative_to(tmp_path / "own")


def test_the_command(starts):
    result = CliRunner().invoke(benchmark, ["startup", "digits", "--repeats", "2"], catch_exceptions=False)
    lines = result.stdout.strip().split("\n")
    assert [line.split("  ")[0] for line in lines[1:]] == list(WAYS)
    assert lines[1].split("  ")[-1] == "3.5 (2.0 to 5.0)"
    assert lines[0].startswith("way")
    assert lines[0].endswith("compiling and first step")
    result = CliRunner().invoke(
        benchmark, ["startup", "digits", "--no-xla", "--warm-cache", "--json"], catch_exceptions=False
    )
    assert [cost["way"] for cost in json.loads(result.stdout)] == ["no XLA", "XLA, warm cache"]


def test_wrong_settings_start_nothing(starts):
    with pytest.raises(ConfigError, match="digts"):
        CliRunner().invoke(benchmark, ["startup", "digts"], catch_exceptions=False)
    assert starts == []
