"""The measurements and output of the command `benchmark semi-supervised`."""

import json
import os

import pytest
from click.testing import CliRunner

from bytenet.cli.benchmark import benchmark
from bytenet.config import load_config
from bytenet.errors import ConfigError
from bytenet.profiling.benchmarks import semi_supervised
from bytenet.profiling.benchmarks.semi_supervised import measure_semi_supervised
from bytenet.training.tasks.translator_pair import TranslatorPair

from .small_settings import SMALL_SEMI_SUPERVISED, set_options

ONE_SHAPE = [*SMALL_SEMI_SUPERVISED, "data.bucketing=none", "semi_supervised.bucketing=none"]


@pytest.fixture
def asked(monkeypatch):
    """Runs the command with a stand-in that records its arguments and the threads, and measures nothing."""
    for name in ("TF_NUM_INTRAOP_THREADS", "TF_NUM_INTEROP_THREADS", "OMP_NUM_THREADS"):
        monkeypatch.setenv(name, "7")
    found = []

    def note(config, beam_sizes, repeats, say):
        threads = {os.environ[name] for name in os.environ if name.endswith("_THREADS") and name[:2] in ("TF", "OM")}
        found.append((config, beam_sizes, repeats, threads))
        return [], []

    monkeypatch.setattr(semi_supervised, "measure_semi_supervised", note)

    def run(*arguments):
        result = CliRunner().invoke(benchmark, ["semi-supervised", *arguments], catch_exceptions=False)
        assert result.exit_code == 0, result.stderr
        return found[-1]

    return run


def test_command_measures_the_grid_of_the_thesis_by_default(asked):
    assert asked() == (load_config("digits-semi"), (), 5, {"7"})
    arguments = ["multi30k-semi", "--set", "model.dim=8", "--beam", "1", "--beam", "10", "--threads", "1"]
    expected = (load_config("multi30k-semi", ["model.dim=8"]), (1, 10), 3, {"1"})
    assert asked(*arguments, "--repeats", "3") == expected


@pytest.mark.thorough
def test_command_prints_both_tables_or_json(eagerly, monkeypatch):
    measured, hypotheses = [], set()
    search = TranslatorPair.search

    def noted_search(pair, side, ids, max_length):
        found = search(pair, side, ids, max_length)
        hypotheses.add(found[0].shape[1])
        return found

    def measure_once(*arguments, **settings):
        measured[:] = measured or measure_semi_supervised(*arguments, **settings, seconds_a_turn=0)
        return measured

    monkeypatch.setattr(TranslatorPair, "search", noted_search)
    monkeypatch.setattr(semi_supervised, "measure_semi_supervised", measure_once)
    settings = set_options(ONE_SHAPE)
    arguments = ["semi-supervised", *settings, "--beam", "5", "--repeats", "1"]
    result = CliRunner().invoke(benchmark, arguments, catch_exceptions=False)
    as_json = json.loads(CliRunner().invoke(benchmark, [*arguments, "--json"], catch_exceptions=False).stdout)
    steps, parts = (table.split("\n") for table in result.stdout.strip().split("\n\n"))
    assert steps[0].split()[-4:] == ["times", "pairs", "only", "thesis"]
    assert [line.split("  ")[0] for line in steps[1:]] == ["pairs only, no XLA", "beam 5, no XLA"]
    assert steps[2].endswith("5.4 to 5.7")
    assert not steps[1][steps[0].index("times pairs only") :].strip()
    assert [line.split("  ")[0] for line in parts[1:]] == ["pairs", "text and search", "search"]
    assert "4 x 17" in parts[1]
    assert "pairs: 4 x 17 (100% of the batches)" in result.stderr
    assert hypotheses == {5}
    assert [step["beam_size"] for step in as_json["steps"]] == [None, 5]
    assert as_json["steps"][1]["thesis_times"] == [5.4, 5.7]
    assert [part["part"] for part in as_json["parts"]] == ["pairs", "text and search", "search"]


@pytest.mark.parametrize("arguments", [["digts-semi"], ["--set", "semi_supervised.beams=4"]])
def test_wrong_settings_are_refused(arguments):
    with pytest.raises(ConfigError):
        CliRunner().invoke(benchmark, ["semi-supervised", *arguments], catch_exceptions=False)
