"""Measuring the input pipeline: these tests check the counts, not the times."""

import json

import numpy as np
import pytest
from click.testing import CliRunner

from bytenet.cli.benchmark.pipeline import pipeline
from bytenet.config import DataConfig
from bytenet.datasets import Vocabulary, load_corpus, pair_lengths, plan_from_config
from bytenet.datasets.text import normalisation
from bytenet.profiling.benchmarks import pipeline as measuring

CONFIG = DataConfig(corpus="digits", batch_size=8, num_buckets=2)


@pytest.fixture
def short(monkeypatch):
    """One epoch for each measurement."""
    monkeypatch.setattr(measuring, "_LEAST_PAIRS_TIMED", 1)


def test_whole_epochs_are_timed_and_all_characters_counted(monkeypatch):
    monkeypatch.setattr(measuring, "_LEAST_PAIRS_TIMED", 300)
    pairs = load_corpus(CONFIG).train
    vocabulary = Vocabulary.from_texts(pairs.source, pairs.target)
    delivered = []
    whole = measuring.training_dataset

    def counted(*arguments, **settings):
        for batch in whole(*arguments, **settings):
            delivered.append(batch)
            yield batch

    monkeypatch.setattr(measuring, "training_dataset", counted)
    monkeypatch.setattr(
        measuring, "seconds_in_turns", lambda runs, repeats: {name: [run() and 2.0] for name, run in runs.items()}
    )
    rates = measuring.measure_pipeline(pairs, vocabulary, CONFIG, repeats=1)
    assert [rate.stage for rate in rates] == ["encode the corpus, once", "plan an epoch", "deliver batches"]
    # 128 pairs three times, as at least 300 are required. Each measurement is set to two seconds.
    chars = sum(map(len, pairs.source + pairs.target)) + 2 * 128
    for rate in rates:
        assert rate.pairs_per_second.median == 3 * 128 / 2
        assert rate.chars_per_second.median == 3 * chars / 2
    plan = plan_from_config(pair_lengths(pairs, vocabulary), CONFIG)
    assert len(delivered) == 3 * plan.num_batches
    real = sum(np.count_nonzero(ids["source_ids"]) + np.count_nonzero(ids["target_ids"]) for ids, _, _ in delivered)
    assert real == 3 * chars


def test_the_form_of_texts_is_not_checked_again_while_they_are_timed(short, monkeypatch):
    def check(text):
        raise AssertionError("A run does not check the texts of an epoch.")

    pairs = load_corpus(CONFIG).train
    vocabulary = Vocabulary.from_texts(pairs.source, pairs.target)
    monkeypatch.setattr(normalisation, "_is_certainly_nfc", check)
    assert len(measuring.measure_pipeline(pairs, vocabulary, CONFIG, repeats=1)) == 3


def test_bucketing_methods_are_compared_with_the_same_bucket_limit():
    lengths = np.random.default_rng(0).gamma(4, 12, 700).astype(int) + 1
    costs = measuring.compare_bucketing(lengths, DataConfig(batch_size=8, num_buckets=3))
    assert [cost.bucketing for cost in costs] == [
        "as set: optimal", "none", "fixed_width", "histogram", "optimal", "optimal, any size",
    ]  # fmt: skip
    as_set, none, fixed_width, histogram, optimal, any_size = costs
    assert as_set.buckets == 3
    assert none.buckets == 1
    assert max(fixed_width.buckets, optimal.buckets) <= histogram.buckets
    assert any_size.times_optimal == 1
    assert 1 <= optimal.times_optimal < histogram.times_optimal < none.times_optimal
    assert histogram.times_optimal == histogram.padding_share / any_size.padding_share
    assert none.least_pairs == 700


def test_optimum_may_have_buckets_smaller_than_settings_allow():
    lengths = np.array([10] * 60 + [11] * 60 + [100] * 4)
    as_set, *_, optimal, any_size = measuring.compare_bucketing(lengths, DataConfig(batch_size=8, num_buckets=2))
    assert (any_size.buckets, any_size.least_pairs) == (2, 4)
    assert min(as_set.least_pairs, optimal.least_pairs) >= 16
    assert as_set.times_optimal == as_set.padding_share / any_size.padding_share > 2


def test_no_padding_gives_no_division_by_zero():
    costs = measuring.compare_bucketing(np.full(16, 5), DataConfig(batch_size=8))
    assert {(cost.padding_share, cost.times_optimal) for cost in costs} == {(0, None)}


def test_command_prints_both_tables_or_json(short):
    arguments = ["digits", "--set", "data.batch_size=8", "--repeats", "2"]
    printed = CliRunner().invoke(pipeline, arguments, catch_exceptions=False).stdout.split("\n\n")
    assert [table.count("\n") for table in printed] == [3, 7]
    assert "deliver batches" in printed[0]
    assert "as set: optimal" in printed[1]
    found = json.loads(CliRunner().invoke(pipeline, [*arguments, "--json"], catch_exceptions=False).stdout)
    assert [row["pairs_per_second"]["repeats"] for row in found["rates"]] == [2, 2, 2]
    assert found["padding"][-1]["bucketing"] == "optimal, any size"
