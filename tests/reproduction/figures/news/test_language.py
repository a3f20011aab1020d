"""The logic of the experiments on natural language, with handmade curves."""

import numpy as np
import pytest

from bytenet.config import load_config
from bytenet.datasets import Pairs, read_corpus
from bytenet.reproduction.figures.news import europarl, memorise_verdicts
from bytenet.reproduction.figures.shared.corpus_files import as_files, joined, number_words, within


def curves(**columns):
    """A table of one seed of "bytenet". `columns` has the values at epochs 0, 1, 2, ..."""
    length = len(next(iter(columns.values())))
    return [
        {
            "run": "bytenet",
            "seed": 1,
            "epoch": float(epoch),
            **{name: values[epoch] for name, values in columns.items()},
        }
        for epoch in range(length)
    ]


def test_pairs_are_filtered_by_length_of_both_sides_in_order():
    pairs = Pairs(["a", "bb", "ccc", "dd"], ["AA", "B", "CC", "DDDD"])
    assert within(pairs, 1, 3).source == ["a", "bb", "ccc"]
    assert within(pairs, 1, 3, count=2).target == ["AA", "B"]
    assert joined([within(pairs, 4, 4), pairs]).source == pairs.source


def test_settings_of_written_files_load_the_same_corpus(tmp_path):
    train, validation = number_words(12, 4)
    (tmp_path / "empty.yaml").write_text("{}\n")
    corpus = read_corpus(load_config(tmp_path / "empty.yaml", as_files(tmp_path / "new", train, validation)).data)
    assert corpus.train == train
    assert corpus.validation == validation
    assert len(train) == 12


def test_epoch_of_bleu_comes_from_the_smoothed_curve():
    table = curves(train_bleu=[0, 0, 100, 100, 100])
    assert memorise_verdicts.epoch_of_bleu(table, "bytenet", 50, alpha=1.0) == [2.0]
    # The newest value has about half of the weight: 0, 0, 57, ...
    assert memorise_verdicts.epoch_of_bleu(table, "bytenet", 60, alpha=0.5) == [3.0]
    assert memorise_verdicts.epoch_of_bleu(table, "bytenet", 101, alpha=1.0) == [float("inf")]


@pytest.mark.parametrize(("end", "outcome"), [(600, "shown"), (130, "not shown")])
def test_rising_test_loss_is_detected(end, outcome):
    values = np.concatenate([np.linspace(800, 120, 40), np.linspace(120, end, 60), np.full(100, end)])
    (verdict,) = memorise_verdicts.rising_test_loss(curves(test_sentence_cross_entropy=values), "cpu")
    assert verdict.outcome == outcome


def test_swing_with_the_epochs_is_distinguished_from_noise():
    epochs = np.arange(0, 13, 0.1)
    noise = np.random.default_rng(1).normal(size=len(epochs))
    trend = 100 / (1 + epochs)
    share, chance = europarl.epoch_locked_share(epochs, trend + noise)
    assert share < 0.25
    assert chance > 0.05
    share, chance = europarl.epoch_locked_share(epochs, trend + noise + 4 * np.sin(2 * np.pi * epochs))
    assert share > 0.7
    assert chance < 0.01
    # A swing with another period does not follow the epochs.
    share, chance = europarl.epoch_locked_share(epochs, trend + noise + 4 * np.sin(2 * np.pi * epochs / 1.37))
    assert share < 0.25
    assert chance > 0.05
