"""The logic of the experiments on natural language, with handmade curves."""

import re
from types import SimpleNamespace

import numpy as np
import pytest

from bytenet.config import load_config
from bytenet.datasets import Pairs, read_corpus
from bytenet.reproduction.figures.news import europarl, memorise_verdicts
from bytenet.reproduction.figures.shared.corpus_files import as_files, joined, number_words, pairs_of_lengths
from bytenet.reproduction.registry import find_experiment

HALF_AS_WIDE = ["model.dim 64 (400): {0}-bytenet", "model.dim 32 (200): {0}-simplified"]
AS_WIDE = ["model.dim 64 (400): {0}-bytenet", "model.dim 64 (200): {0}-simplified"]


def in_seeds(number=1, **runs):
    """A table of the curves of several runs. Seeds differ by 1 % from one to the next."""
    return [
        {**row, "run": run, "seed": seed, **{name: row[name] * (1 + (seed - 1) / 100) for name in columns}}
        for run, columns in runs.items()
        for row in curves(**columns)
        for seed in range(1, 1 + number)
    ]


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
    assert pairs_of_lengths(pairs, 1, 3).source == ["a", "bb", "ccc"]
    assert pairs_of_lengths(pairs, 1, 3, count=2).target == ["AA", "B"]
    assert joined([pairs_of_lengths(pairs, 4, 4), pairs]).source == pairs.source


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
    share, p_value = europarl.share_repeated_every_epoch(epochs, trend + noise)
    assert share < 0.25
    assert p_value > 0.05
    share, p_value = europarl.share_repeated_every_epoch(epochs, trend + noise + 4 * np.sin(2 * np.pi * epochs))
    assert share > 0.7
    assert p_value < 0.01
    # A swing with another period does not follow the epochs.
    share, p_value = europarl.share_repeated_every_epoch(epochs, trend + noise + 4 * np.sin(2 * np.pi * epochs / 1.37))
    assert share < 0.25
    assert p_value > 0.05


@pytest.mark.parametrize("epochs", [[], [0.5], np.linspace(0, 0.5, 5), np.linspace(0.1, 2, 20)])
def test_curve_of_two_epochs_or_less_shows_no_swing(epochs):
    assert europarl.share_repeated_every_epoch(np.array(epochs), np.arange(len(epochs)) % 3.0) == (0, 1)


def test_share_of_each_training_has_its_own_p():
    table = [
        {"run": run, "seed": seed, "epoch": epoch, "test_sentence_cross_entropy": value,
         "train_sentence_cross_entropy": value, "test_bleu": 1.0, "train_bleu": 1.0}
        for run in ("bytenet", europarl.FULL_SHUFFLE) for seed in (1, 2)
        for epoch, value in zip(
            np.arange(0, 13, 0.1), np.random.default_rng(seed).normal(size=130) + (seed == 2) * np.tile(range(10), 13),
            strict=True,
        )
    ]  # fmt: skip
    share, *_ = find_experiment("fig-3.3.3").verdicts(table, "cpu")
    assert re.match(r"p = 0\.\d+, 0\.001 for a share this large, if neighbouring values were independent", share.note)


def bleu(jump, end=100.0, length=100):
    """A training BLEU that jumps at an epoch, with the cross entropies of a model that learns."""
    values = np.where(np.arange(length) < jump, 0.0, end)
    return {"train_bleu": values, "train_sentence_cross_entropy": 100.0 - values}


@pytest.mark.parametrize(
    ("seeds", "settings", "jump", "outcome"),
    [
        (3, HALF_AS_WIDE, 30, "shown"),
        (3, HALF_AS_WIDE, 80, "not shown"),
        (3, HALF_AS_WIDE, 1000, "not shown"),  # it never learns
        (1, HALF_AS_WIDE, 30, "no claim"),  # one training of each
        (3, AS_WIDE, 30, "no claim"),  # 1.84 times ByteNet's weights
        (3, None, 30, "no claim"),
    ],
)
def test_fewer_iterations_need_three_trainings_and_the_ratio_of_widths(seeds, settings, jump, outcome):
    table = in_seeds(seeds, bytenet=bleu(56), simplified=bleu(jump))
    settings = settings and [text.format("memorise") for text in settings]
    _, passes = find_experiment("fig-d.2.2").verdicts(table, "cpu", {}, settings=settings)
    assert passes.outcome == outcome
    assert ("ByteNet's width here" in passes.note) == (settings is not None and "64 (200)" in settings[1])


def europarl_curves(test, train=60.0):
    columns = {"test_sentence_cross_entropy": [test] * 10, "train_sentence_cross_entropy": [train] * 10}
    return columns | {"test_bleu": [0.0] * 10, "train_bleu": [0.0] * 10}


@pytest.mark.parametrize(
    ("seeds", "settings", "test", "outcome"),
    [
        (3, HALF_AS_WIDE, 110.0, "shown"), (3, HALF_AS_WIDE, 80.0, "not shown"),
        (1, HALF_AS_WIDE, 110.0, "no claim"), (3, AS_WIDE, 110.0, "no claim"),
    ],
)  # fmt: skip
def test_more_overfitting_needs_three_trainings_and_the_ratio_of_widths(seeds, settings, test, outcome):
    table = in_seeds(seeds, bytenet=europarl_curves(94.0), simplified=europarl_curves(test))
    settings = [text.format("europarl") for text in settings]
    higher, wider, *_ = find_experiment("fig-3.4.4").verdicts(table, "cpu", settings=settings)
    assert (higher.outcome, wider.outcome) == (outcome, outcome)


@pytest.mark.parametrize(("scale", "seeds"), [("cpu", 1), ("cpu", 5), ("thesis", 1)])
def test_fewer_steps_or_one_training_do_not_show_that_it_never_learns(scale, seeds):
    table = in_seeds(seeds, bytenet=bleu(56), no_norm=bleu(60, end=38.0))
    _, never, _ = find_experiment("fig-3.5.1").verdicts(table, scale, {})
    assert never.outcome == "no claim"
    assert ("3,200 steps here, about 14,100 in the thesis" in never.note) == (scale == "cpu")


def test_three_trainings_of_the_thesis_size_decide_whether_it_never_learns():
    never, learns = (
        find_experiment("fig-3.5.1").verdicts(in_seeds(3, bytenet=bleu(56), no_norm=bleu(60, end)), "thesis", {})[1]
        for end in (80.0, 120.0)
    )
    assert (never.outcome, never.contradicts) == ("shown", False)
    assert (learns.outcome, learns.contradicts) == ("not shown", True)


def test_values_of_one_training_are_not_judged_at_any_scale():
    table = in_seeds(1, bytenet=bleu(56), no_norm=bleu(60, end=80.0))
    for scale in ("cpu", "thesis"):
        assert find_experiment("fig-3.5.1").verdicts(table, scale, {})[0].outcome == "no claim"
    samples = [{"target": "a", "translation": "b", "BLEU": 0.0, "length_ratio_of_all": 1.2}]
    outcomes = [verdict.outcome for verdict in find_experiment("tab-3.3.2").verdicts(samples, "cpu")]
    assert outcomes == ["no claim", "no claim"]


def test_another_training_of_bytenet_than_that_of_its_own_figure_is_named():
    table = in_seeds(1, bytenet=bleu(56), no_norm=bleu(60))
    same = [row for row in table if row["run"] == "bytenet"]
    other = in_seeds(1, bytenet=bleu(58))
    words = "another training of ByteNet than figure 3.3.2's"
    notes = [
        find_experiment("fig-3.5.1").verdicts(table, "cpu", {"fig-3.3.2": beside})[1].note
        for beside in (same, other, [])
    ]
    assert [words in note for note in notes] == [False, True, False]


@pytest.mark.parametrize(("scale", "translated"), [("smoke", 3), ("cpu", 1), ("thesis", 3)])
def test_samples_are_of_all_sentences_except_where_the_training_had_fewer(scale, translated, monkeypatch):
    seen = []

    def evaluate(folder, pairs, *_, **options):
        seen.append(len(pairs))
        return SimpleNamespace(sources=pairs.source, references=pairs.target, hypotheses=pairs.target)

    texts = ["a" * length for length in (10, 100, 200)]
    monkeypatch.setattr("bytenet.evaluation.pairs_of_split", lambda folder, split: Pairs(texts, texts))
    monkeypatch.setattr("bytenet.evaluation.evaluate_run", evaluate)
    find_experiment("tab-3.3.2").measure(
        SimpleNamespace(scale=scale, seeds=(1,), say=print, folders=lambda run: ["folder"])
    )
    assert seen == [translated]
