"""The numbers in the corpus report."""

from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from bytenet.config import DataConfig
from bytenet.datasets import Vocabulary, load_corpus, pair_lengths, plan_from_config, select_monolingual
from bytenet.datasets.corpus_report import CorpusReport
from bytenet.datasets.corpus_report.sentence_lengths import length_bars


def test_report_agrees_with_training(config):
    report = CorpusReport.from_config(config)
    corpus = load_corpus(config)
    vocabulary = Vocabulary.from_texts(corpus.train.source, corpus.train.target)
    plan = plan_from_config(pair_lengths(corpus.train, vocabulary), config)
    assert report.to_dict()["pairs"] == {
        "read": 7, "train": 5, "copies": 1, "synthetic": 0, "validation": None, "test": 2,
    }  # fmt: skip
    assert report.plan.buckets == plan.buckets
    assert report.plan.num_batches == plan.num_batches
    assert report.vocabulary_size == vocabulary.size
    assert {item.character for item in report.alphabet} == set(vocabulary.characters)


def test_lengths_are_measured_on_training_pairs_in_nfc(config):
    report = CorpusReport.from_config(config)
    source, target = report.source_lengths, report.target_lengths
    assert (source.shortest, source.median, source.mean, source.longest) == (
        2,
        6,
        (18 + 6 + 2 + 11 + 5) / 5,
        18,
    )
    assert (target.shortest, target.longest) == (4, 24)
    assert sum(count for _, _, count in report.length_histogram) == 5
    assert report.length_histogram[0][0] == 6
    assert report.length_histogram[-1][1] >= 25


@given(st.lists(st.integers(1, 500), min_size=1).map(np.array))
def test_bars_hold_every_length_once(lengths):
    bars = length_bars(lengths)
    assert len(bars) <= 20
    assert [count for _, _, count in bars] == [((lengths >= low) & (lengths <= high)).sum() for low, high, _ in bars]
    assert sum(count for _, _, count in bars) == len(lengths)
    assert all(one[1] + 1 == other[0] for one, other in pairwise(bars))


def test_report_counts_characters_unseen_in_training(config):
    report = CorpusReport.from_config(config)
    assert report.unseen == {"test": {"\u2028": 1, "ß": 1}}


def test_report_accepts_characters_below_the_minimum_count(data_folder):
    paths = {"train_source": data_folder("a", ["aab"]), "train_target": data_folder("b", ["aaa"])}
    paths["monolingual_source"] = data_folder("c", ["aaa", "aba"])
    settings = {key: str(path) for key, path in paths.items()}
    report = CorpusReport.from_config(DataConfig(corpus="files", unknown="error", min_character_count=2, **settings))
    assert report.vocabulary_size == 4
    assert {item.character for item in report.alphabet} == {"a", "b"}
    assert (report.monolingual["source"].used, report.monolingual["source"].unknown_characters) == (1, 1)


def test_monolingual_text_is_counted_as_training_uses_it(monolingual_config):
    report = CorpusReport.from_config(monolingual_config)
    (text,) = report.monolingual.values()
    corpus = load_corpus(monolingual_config)
    used = select_monolingual(
        corpus.monolingual_source, monolingual_config, Vocabulary.from_pairs(corpus.train, monolingual_config)
    )
    assert used.texts == ["Ein Haus", "Haus", "da über"]
    assert (text.read, text.used, text.outside_limits, text.unknown_characters) == (5, 3, 1, 1)
    assert (text.lengths.shortest, text.lengths.longest) == (4, 8)
    assert text.held_out == {"test": 1}
    assert list(report.monolingual) == ["source"]
    assert report.to_dict()["monolingual"]["source"]["used"] == 3
