"""The measurements and output of the command `benchmark training`."""

import json
import os
import subprocess
import sys

import pytest
from click.testing import CliRunner

from bytenet.cli.benchmark import benchmark
from bytenet.config import load_config
from bytenet.errors import ConfigError
from bytenet.profiling.benchmarks import training
from bytenet.profiling.benchmarks.training import measure_training

from .small_settings import SMALL, set_options


@pytest.fixture
def cases(monkeypatch):
    """Runs the command with a stand-in that records the cases and measures nothing."""
    asked = []

    def note(cases, repeats, say):
        asked.extend(cases)
        return []

    monkeypatch.setattr(training, "measure_training", note)

    def run(*arguments):
        asked.clear()
        result = CliRunner().invoke(benchmark, ["training", *arguments], catch_exceptions=False)
        assert result.exit_code == 0, result.stderr
        return list(asked)

    return run


def test_command_measures_the_thesis_model_by_default(cases):
    (case,) = cases()
    assert case.name == "bytenet, d=400, 64 x 100, XLA"
    assert case.vocab_size == 105
    (case,) = cases("multi30k", "--length", "50")
    assert case.name == "bytenet, d=128, 51 x 50, XLA"
    assert case.config == load_config("multi30k")
    two, three = cases("multi30k", "--length", "50", "--replicas", "2", "--replicas", "3")
    assert (two.batch_size, three.batch_size) == (48, 48)  # of 51
    (case,) = cases("--set", "training.deterministic=true")
    assert not case.jit_compile
    (case,) = cases("--set", "training.jit_compile=false")
    assert not case.jit_compile


def test_command_measures_all_combinations_of_repeated_options(cases):
    widths = ["--dim", "8", "--dim", "12"]
    found = cases(*widths, "--variant", "selu", "--variant", "simplified", "--batch-size", "4", "--no-xla")
    assert [case.name.removesuffix(", 4 x 100, no XLA") for case in found] == [
        "selu, d=8", "selu, d=12", "simplified, d=8", "simplified, d=12",
    ]  # fmt: skip
    found = cases("--batch-size", "2", "--batch-size", "4", "--length", "9", "--xla", "--no-xla")
    assert [(case.batch_size, case.length, case.jit_compile) for case in found] == [
        (2, 9, False), (2, 9, True), (4, 9, False), (4, 9, True),
    ]  # fmt: skip


def test_command_never_compiles_for_several_replicas(cases):
    found = cases("--replicas", "1", "--replicas", "2", "--xla")
    assert [(case.replicas, case.jit_compile) for case in found] == [(1, True), (2, False)]
    found = cases("--replicas", "2", "--xla", "--no-xla", "--baseline", "--baseline-xla", "--vocab-size", "60")
    assert {case.vocab_size for case in found} == {60}
    assert [(case.stock, case.replicas, case.jit_compile) for case in found] == [
        (False, 2, False), (True, 1, False), (True, 1, True),
    ]  # fmt: skip


@pytest.mark.usefixtures("small_product")
def test_command_prints_one_row_for_each_case(monkeypatch):
    measured = []

    def measure_once(*arguments, **settings):
        measured[:] = measured or measure_training(*arguments, **settings, seconds_a_turn=0)
        return measured

    monkeypatch.setattr(training, "measure_training", measure_once)
    settings = set_options(SMALL)
    arguments = ["training", "numbers", *settings, "--batch-size", "2", "--length", "4", "--no-xla", "--repeats", "1"]
    result = CliRunner().invoke(benchmark, [*arguments, "--run-minutes", "0.5"], catch_exceptions=False)
    lines = result.stdout.strip().split("\n")
    assert len(lines) == 2
    assert lines[1].startswith("simplified, d=4, 2 x 4, no XLA  ")
    seconds, share = lines[1][lines[0].index("s to compile") :].split()
    assert float(seconds) == pytest.approx(measured[0].compile_seconds, abs=0.05)
    assert float(share.removesuffix("%")) == pytest.approx(100 * measured[0].compile_seconds / 30, abs=0.05)
    assert "of 0.5 min" in lines[0]
    assert "first steps" in result.stderr
    as_json = json.loads(CliRunner().invoke(benchmark, [*arguments, "--json"], catch_exceptions=False).stdout)
    assert as_json[0]["dim"] == 4
    assert as_json[0]["share_of_peak"]["repeats"] == 1


@pytest.mark.parametrize("arguments", [["--dim", "7"], ["--variant", "bytnet"], ["--set", "model.dimm=4"]])
def test_wrong_settings_are_refused(arguments):
    with pytest.raises(ConfigError):
        CliRunner().invoke(benchmark, ["training", *arguments], catch_exceptions=False)


@pytest.mark.usefixtures("small_product")
def test_command_leaves_share_of_peak_blank_in_mixed_precision(policy):
    settings = set_options([*SMALL, "training.mixed_precision=true"])
    arguments = ["training", "numbers", *settings, "--batch-size", "2", "--length", "4", "--no-xla", "--repeats", "1"]
    with policy("float32"):
        result = CliRunner().invoke(benchmark, arguments, catch_exceptions=False)
    header, row = result.stdout.strip().split("\n")
    place = header.index("share of peak")
    assert row[place:].split()[0] == "-"
    assert " min" not in header, "no length of a run was given"


@pytest.mark.thorough
def test_compile_cache_is_neither_read_nor_written(tmp_path):
    """Not even if a user turned it on for TensorFlow, because the benchmark measures compilation."""
    settings = set_options(SMALL)
    arguments = ["decoding", "numbers", *settings, "--length", "2", "--vocab-size", "8", "--repeats", "1", "--xla"]
    done = subprocess.run(
        [sys.executable, "-m", "bytenet", "benchmark", *arguments],
        capture_output=True, text=True, env=os.environ | {"BYTENET_COMPILE_CACHE": str(tmp_path)},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "cached  yes" in done.stdout
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_other_xla_flags_are_kept(cases, monkeypatch):
    monkeypatch.setenv("TF_XLA_FLAGS", "--tf_xla_auto_jit=0 --tf_xla_persistent_cache_directory=/full")
    cases()
    assert os.environ["TF_XLA_FLAGS"] == "--tf_xla_auto_jit=0"


@pytest.mark.slow
def test_one_and_two_replicas_are_measured():
    """This test starts its own process, because TensorFlow in this process already has one CPU."""
    settings = set_options(SMALL)
    arguments = ["numbers", *settings, "--batch-size", "4", "--length", "6", "--replicas", "1", "--replicas", "2"]
    done = subprocess.run(
        [sys.executable, "-m", "bytenet", "benchmark", "training", *arguments, "--no-xla", "--repeats", "1", "--json"],
        capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    one, two = json.loads(done.stdout)
    assert (one["replicas"], two["replicas"]) == (1, 2)
    assert two["case"].endswith("2 replicas")
    assert one["gigaflops_a_step"] == two["gigaflops_a_step"]
