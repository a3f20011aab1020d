"""The time before the first training step. The tests check that its parts are complete, not how long it is."""

import json
import os

import pytest
from click.testing import CliRunner

from bytenet import compile_cache
from bytenet.cli.benchmark import benchmark
from bytenet.errors import InputError
from bytenet.profiling.benchmarks import startup
from bytenet.profiling.benchmarks.measurement import Spread
from bytenet.profiling.benchmarks.startup import WAYS, measure_startup

from .small_settings import SMALL


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("settings", "way"),
    [
        pytest.param([], "no XLA", id="one device"),
        pytest.param(
            ["training.devices=[CPU:0, CPU:1]", "training.sync_batch_norm=false"], "XLA, empty cache", id="two devices"
        ),
    ],
)
def test_parts_of_a_start_sum_to_its_whole_time_and_nothing_is_left_of_its_run(monkeypatch, tmp_path, settings, way):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(startup.tempfile, "tempdir", None)  # the folder for temporary files is looked up again
    (cost,) = measure_startup("digits", [*SMALL, *settings], ways=[way])
    assert not [*tmp_path.iterdir()]
    assert cost.way == way
    assert list(cost.parts) == [
        "imports", "corpus and plan", "model", "before the first step", "tracing", "compiling and first step",
    ]  # fmt: skip
    assert all(part.least >= 0 for part in cost.parts.values()), "the marks are in the order of time"
    assert cost.seconds.median == pytest.approx(sum(part.median for part in cost.parts.values()))


@pytest.mark.slow
def test_warm_cache_run_adds_no_files_to_the_cache(tmp_path):
    cache, kept = tmp_path / "cache", []
    for way in ("XLA, empty cache", "XLA, warm cache"):
        startup._start("digits", SMALL, way, cache, tmp_path)
        kept.append(sorted(path.name for path in cache.rglob("*") if path.is_file()))
    assert kept[0]
    assert kept[1] == kept[0]


def test_a_run_first_keeps_freed_memory_as_the_command_does(monkeypatch):
    class KeptError(Exception):
        pass

    def keep():
        raise KeptError

    monkeypatch.setattr(startup, "keep_freed_memory", keep)
    monkeypatch.setattr(startup.compile_cache, "turn_on", None)  # not called yet
    with pytest.raises(KeptError):
        startup._train_and_mark("marks.json", "digits", SMALL)


def test_failed_run_gives_its_last_lines(monkeypatch, tmp_path):
    """A stand-in for Python fails before it writes a mark. The error shows its last lines."""
    program = tmp_path / "python"
    program.write_text("#!/bin/sh\nseq 1 20 | sed 's/^/line /' >&2\necho \"asked for: $2 $4\" >&2\nexit 3\n")
    program.chmod(0o755)
    monkeypatch.setattr(startup.sys, "executable", str(program))
    with pytest.raises(InputError, match="ended before its first step") as error:
        measure_startup("digits", ["training.epochs=2"], ways=["no XLA"])
    message, *last_lines = str(error.value).split("\n")
    assert message == (
        "The training of digits training.epochs=2 training.jit_compile=false ended before its first step. "
        "Its last lines:"
    )
    assert last_lines == [*(f"line {number}" for number in range(12, 21)), f"asked for: {startup.__name__} digits"]


@pytest.fixture
def starts(monkeypatch):
    """Records each start instead of running it, and fills the cache as XLA would."""
    started = []

    def start(preset_or_file, overrides, way, cache, folder):
        started.append((way, cache.exists()))
        if way != "no XLA":
            cache.mkdir(exist_ok=True)
        return dict.fromkeys(startup._PARTS.values(), 1.0 + len(started))

    monkeypatch.setattr(startup, "_start", start)
    return started


def test_caches_are_empty_or_warm_as_each_way_requires(starts):
    measure_startup("digits", repeats=2)
    assert starts == 2 * [("no XLA", False), ("XLA, empty cache", False), ("XLA, warm cache", True)]
    starts.clear()
    costs = measure_startup("digits", ways=["XLA, warm cache"])
    assert starts == [("XLA, warm cache", False), ("XLA, warm cache", True)]
    assert costs[0].seconds == Spread(18.0, 18.0, 18.0, 1), "the run that filled the cache does not count"


@pytest.mark.parametrize("way", WAYS)
def test_run_uses_only_its_own_cache(monkeypatch, tmp_path, way):
    """The command `bytenet` has its own cache. A child process would inherit and prefer it."""
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


def test_command_prints_a_table(starts):
    result = CliRunner().invoke(benchmark, ["startup", "digits", "--repeats", "2"], catch_exceptions=False)
    lines = result.stdout.strip().split("\n")
    assert [line.split("  ")[0] for line in lines[1:]] == list(WAYS)
    assert lines[1].split("  ")[-1] == "3.5 (2.0 to 5.0)"
    assert lines[0].startswith("way")
    assert lines[0].endswith("compiling and first step")


@pytest.mark.parametrize(
    ("options", "ways"),
    [(("--no-xla", "--warm-cache"), ["no XLA", "XLA, warm cache"]), (("--empty-cache",), ["XLA, empty cache"])],
)
def test_options_choose_the_ways(starts, options, ways):
    result = CliRunner().invoke(benchmark, ["startup", "digits", *options, "--json"], catch_exceptions=False)
    assert [cost["way"] for cost in json.loads(result.stdout)] == ways


@pytest.mark.parametrize(
    ("preset", "message"), [("digts", "digts"), ("digits-semi", r"bytenet benchmark semi-supervised\.$")]
)
def test_unsuitable_presets_are_refused_before_any_start(starts, preset, message):
    with pytest.raises(InputError, match=message):
        CliRunner().invoke(benchmark, ["startup", preset], catch_exceptions=False)
    assert starts == []
