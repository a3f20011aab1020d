"""The benchmark of shards: made corpora have exactly the faults that they claim, and all is measured."""

import json
import re
from itertools import islice

import keras
import pytest
from click.testing import CliRunner

from bytenet.cli.benchmark import benchmark
from bytenet.cli.benchmark.sharding import sharding
from bytenet.config import DataConfig, load_config
from bytenet.datasets import Pairs
from bytenet.datasets.shards.sharding.shard_corpus import shard_corpus
from bytenet.errors import InputError
from bytenet.profiling.benchmarks.measurement import Spread
from bytenet.profiling.benchmarks.sharding import made_corpus, measure, training
from bytenet.profiling.benchmarks.sharding.made_corpus import _made, write_made_corpus
from bytenet.profiling.benchmarks.sharding.made_data import data_in_files, data_in_shards
from bytenet.profiling.benchmarks.sharding.measure import ShardingCost
from bytenet.profiling.benchmarks.sharding.training import TrainingRate

PAIRS = Pairs(["ein langer Satz", "kurz", "noch ein Satz für alle"], ["a long sentence", "short", "one more for all"])


@pytest.mark.parametrize("number", [999, 1000, 1399])
def test_made_corpora_have_the_faults_that_they_claim(monkeypatch, tmp_path, number):
    monkeypatch.setattr(made_corpus, "_WRITTEN_AT_ONCE", 500)
    paths, faults = write_made_corpus(tmp_path, PAIRS, number)
    report = shard_corpus(paths, tmp_path / "shards", shards=2, duplicates_megabytes=4, processes=0)
    assert report.read == number
    assert {entry.reason: entry.pairs for entry in report.left_out if entry.pairs} == faults
    assert report.kept == number - number // 100


def test_made_pairs_are_real_ones():
    source, target = next(islice(_made([("ein Satz", "a sentence")]), 7, None))
    assert (source, target) == ("ein Satz 7", "a sentence 7")


def test_a_corpus_without_sentences_is_refused(tmp_path):
    with pytest.raises(InputError, match="has no pairs of 10 to 400 letters"):
        write_made_corpus(tmp_path, Pairs(["a"], ["b"]), 1000)


def test_settings_of_the_real_corpus_are_not_those_of_the_made_one(tmp_path):
    """Shards refuse most of them."""
    real = DataConfig(
        corpus="files", source_language="en", target_language="fr", reversed=True, train_source="a", train_target="b",
        validation_source="c", validation_target="d", synthetic_source="e", synthetic_target="f", pair_copies=2,
        max_train_pairs=9, shuffle="none", unknown="drop", batch_size=7, max_length=90,
    )  # fmt: skip
    assert data_in_shards(real, tmp_path) == DataConfig(
        corpus="shards", train_shards=str(tmp_path), batch_size=7, max_length=90
    )
    assert data_in_files(real, "made.source", "made.target") == DataConfig(
        corpus="files", train_source="made.source", train_target="made.target", batch_size=7, max_length=90
    )


def test_the_sharding_and_the_reading_of_corpora_are_measured(monkeypatch, tmp_path):
    monkeypatch.setattr(measure, "in_new_process", lambda function, *arguments: function(*arguments))
    (cost,) = measure.measure_sharding(PAIRS, DataConfig(batch_size=4), tmp_path, [200], shards=2, processes=0)
    assert (cost.pairs, cost.kept) == (200, 198)
    assert cost.shard_bytes == sum(path.stat().st_size for path in (tmp_path / "200-pairs" / "shards").iterdir())
    assert min(cost.sharded_pairs_per_second, cost.read_pairs_per_second) > 0
    assert min(cost.sharding_peak_bytes, cost.reading_peak_bytes) > 1e6


@pytest.mark.parametrize(
    ("preset", "setting", "message"),
    [
        ("digits-semi", "data.batch_size=2", "semi_supervised.enabled is true"),
        ("digits", "training.accumulate_batches=2", "training.accumulate_batches is 2"),
    ],
)
def test_unsuitable_trainings_are_refused_before_the_sharding(monkeypatch, preset, setting, message):
    monkeypatch.setattr("bytenet.profiling.benchmarks.sharding.measure.measure_sharding", None)  # not called
    with pytest.raises(InputError, match=message):
        CliRunner().invoke(benchmark, ["sharding", preset, "--set", setting], catch_exceptions=False)


@pytest.mark.parametrize("kind", ["folder", "file"])
def test_a_folder_of_other_files_is_refused_at_the_start(monkeypatch, tmp_path, kind):
    monkeypatch.setattr("bytenet.datasets.load_corpus", None)  # not called
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "file").touch()
    work = tmp_path / "work" if kind == "folder" else tmp_path / "work" / "file"
    with pytest.raises(InputError, match=rf"{work} exists and is not empty\. Give another folder for .*--work"):
        CliRunner().invoke(benchmark, ["sharding", "digits", "--work", str(work)], catch_exceptions=False)


@pytest.fixture
def measured(monkeypatch):
    """The measurements that the command asks for: their number of pairs, batch size, and options. Nothing is measured.

    The folder of the measurements must be there.
    """
    calls = []

    def measure_sharding(pairs, data, folder, sizes, shards, processes, say):
        calls.append((len(pairs), data.batch_size, folder.is_dir(), sizes, shards, processes))
        return [ShardingCost(2000, 1980, 1234.4, 56_000_000, 7890.6, 512_000_000, 3_000_000)]

    def compare_training(pairs, config, folder, steps, repeats):
        calls.append((len(pairs), config.data.batch_size, folder.is_dir(), steps, repeats))
        return [TrainingRate("shards", Spread.of([1000.0]), Spread.of([0.98]))]

    monkeypatch.setattr(measure, "measure_sharding", measure_sharding)
    monkeypatch.setattr(training, "compare_training", compare_training)
    return calls


SMALL = ("digits", "--set=data.num_train=20", "--set=data.batch_size=4")


def test_options_reach_the_measurements_and_their_results_are_printed(measured, invoke):
    options = (
        "--pairs=2000",
        "--pairs=4000",
        "--pairs=2000",
        "--shards=8",
        "--processes=2",
        "--steps=7",
        "--repeats=3",
    )
    lines = invoke(sharding, *SMALL, *options).stdout.splitlines()
    assert measured == [(20, 4, True, (2000, 4000), 8, 2), (20, 4, True, 7, 3)]
    assert [re.split("  +", line) for line in lines] == [
        ["pairs", "sharded, pairs/s", "peak MB", "read, pairs/s", "peak MB of reading", "files MB"],
        ["2,000", "1,234", "56", "7,891", "512", "3"],
        [""],
        ["training from", "padded target characters/s, median (min to max)", "times memory"],
        ["shards", "1,000", "0.980"],
    ]
    printed = json.loads(invoke(sharding, *SMALL, "--json").stdout)
    assert measured[2:] == [(20, 4, True, (1_000_000,), 64, 1), (20, 4, True, 100, 5)]
    assert [cost["kept"] for cost in printed["sizes"]] == [1980]
    assert [rate["ratio"]["median"] for rate in printed["training"]] == [0.98]


def test_no_steps_mean_no_training(measured, invoke):
    assert list(json.loads(invoke(sharding, *SMALL, "--steps=0", "--json").stdout)) == ["sizes"]
    assert len(measured) == 1


@pytest.mark.thorough
def test_training_from_shards_is_compared_with_training_from_memory(monkeypatch, tmp_path):
    seconds = {"memory": [2.0, 4.0], "shards": [8.0, 4.0]}
    steps_of_turns = {name: [] for name in seconds}
    shapes = []
    train_on_batch = keras.Model.train_on_batch

    def recorded(model, inputs, target_ids, **settings):
        shapes.append(target_ids.shape)
        return train_on_batch(model, inputs, target_ids, **settings)

    def seconds_in_turns(runs, repeats):
        for _ in range(1 + repeats):  # the first one does not count
            for name, run in runs.items():
                begin = len(shapes)
                run()
                steps_of_turns[name].append(len(shapes) - begin)
        return seconds

    monkeypatch.setattr(keras.Model, "train_on_batch", recorded)
    monkeypatch.setattr(training, "seconds_in_turns", seconds_in_turns)
    settings = (
        "model.dim=4", "model.num_sets=1", "model.dilations=[1]", "training.jit_compile=false", "data.pair_copies=2",
        "evaluation.continuous_train=true", "training.schedule=plateau",
    )  # fmt: skip
    config = load_config("numbers", [*settings, "data.batch_size=4", "data.bucketing=none"])
    memory, shards = training.compare_training(PAIRS, config, tmp_path, steps=3, repeats=2)
    assert steps_of_turns == {"memory": [3, 3, 3], "shards": [3, 3, 3]}
    longest = len("noch ein Satz für alle 47⏎")
    assert set(shapes) == {(4, longest)}
    positions = 3 * 4 * longest
    assert memory == TrainingRate("memory", Spread.of([positions / 2, positions / 4]), ratio=Spread(1, 1, 1, repeats=2))
    assert shards == TrainingRate("shards", Spread.of([positions / 8, positions / 4]), ratio=Spread.of([2 / 8, 4 / 4]))
