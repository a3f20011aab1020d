"""The contest of the families: the same conditions for all, and verdicts of small tables."""

from pathlib import Path

import numpy as np
import pytest

from bytenet.reproduction.engine.results import ResultFiles, read_table
from bytenet.reproduction.figures.contest.attention_offsets import by_offset
from bytenet.reproduction.figures.contest.longer import runs_of
from bytenet.reproduction.figures.contest.systems import CHOSEN, COMPETITORS, SYSTEMS, TRIES, training_of
from bytenet.reproduction.registry import find_experiment

DOCS = Path(__file__).parents[4] / "docs"


def test_systems_differ_only_in_their_models_their_steps_and_the_settings_of_their_presets():
    choice = TRIES[0]
    configs = {name: training_of(name, system, "cpu", choice, 10).config(1) for name, system in SYSTEMS.items()}
    reference = configs["ByteNet"]
    own = {f"training.{name}" for name in ("max_steps", "epochs", "beta_2", "label_smoothing")}
    own.add("evaluation.every_epochs")
    for config in configs.values():
        differing = {key for key, _, _ in reference.differences(config)}
        assert {key for key in differing if not key.startswith("model.")} <= own
        assert config.model.dropout == choice.dropout
        assert config.training.learning_rate == choice.learning_rate
    assert len({config.model.family for config in configs.values()}) == 4


def test_steps_are_those_of_the_time():
    for name, system in SYSTEMS.items():
        steps = training_of(name, system, "cpu", CHOSEN[name], 30).config(1).training.max_steps
        assert steps == round(30 * system.steps_a_minute)


def test_longer_contest_has_the_best_try_of_each_system():
    tries = read_table(ResultFiles(DOCS / "reproduction", "family-contest-tuning", "cpu").data)
    for system in COMPETITORS:
        best = max((row for row in tries if row["system"] == system), key=lambda row: row["val_chrf"])
        config = runs_of("cpu")[system].config(1)
        assert (config.model.dropout, config.training.learning_rate) == (best["dropout"], best["learning_rate"])


def test_costs_of_decoding_are_compared_with_short_texts_and_with_a_line():
    rows = [
        {"system": "ByteNet", "length": length, "milliseconds": cost, "low": cost, "high": cost}
        for length, cost in ((50, 9.0), (200, 1.0), (800, 3.0), (2000, 4.0))
    ]
    over_short, over_line = find_experiment("family-decoding").verdicts(rows, "cpu")
    assert over_short.measured == pytest.approx(4.0 / 9.0)
    assert (
        "at 800 characters, divided by the value on a straight line from 200 to 2,000 characters" in over_line.quantity
    )
    assert over_line.measured == pytest.approx(3.0 / 2.0)  # the line has 1 at 200 and 4 at 2,000
    assert over_line.outcome == over_short.outcome == "no claim"


def test_best_try_and_another_choice_are_named():
    tries = [(choice, 40 + place) for place, choice in enumerate(TRIES)]
    rows = [
        {"system": "ByteNet", "dropout": choice.dropout, "learning_rate": choice.learning_rate, "trial": 1,
         "val_chrf": chrf, "val_bleu": 10.0, "minutes": 10.0}
        for choice, chrf in tries
    ]  # fmt: skip
    experiment = find_experiment("family-contest-tuning")
    [verdict] = experiment.verdicts(rows, "cpu")
    best = max(tries, key=lambda pair: pair[1])[0]
    assert verdict.measured == 40 + len(TRIES) - 1
    assert ("family-contest takes another" in verdict.note) == (best != CHOSEN["ByteNet"])
    [partial] = experiment.verdicts(rows[:1], "cpu")
    assert f"{len(TRIES) - 1} to come" in partial.note


def test_systems_with_attention_are_compared_seed_by_seed():
    rows = [
        {"system": system, "trial": trial, "bleu": bleu + trial, "bleu_low": 0.0, "bleu_high": 99.0, "chrf": 2 * bleu,
         "chrf_low": 0.0, "chrf_high": 99.0, "val_bleu": 1.0, "val_chrf": 2.0, "minutes": 10.0,
         "characters_a_second": 100.0, "written_a_second": 10.0, "length_ratio": 1.0, "curve": "5.0:2.00",
         "by_length": f"20.0:50.00 90.0:{bleu:.2f}"}
        for system, bleu in (("ByteNet", 10.0), ("ByteNet, window", 20.0), ("ByteNet, full", 23.0))
        for trial in (1, 2)
        if (system, trial) != ("ByteNet", 2)
    ]  # fmt: skip
    verdicts = {verdict.quantity: verdict for verdict in find_experiment("source-attention").verdicts(rows, "cpu")}
    assert verdicts["BLEU, ByteNet, window minus ByteNet"].measured == 10
    assert verdicts["BLEU, ByteNet, window minus ByteNet"].seeds == 1
    difference = verdicts["BLEU, ByteNet, full minus ByteNet, window"]
    assert (difference.measured, difference.interval, difference.seeds) == (3, (3, 3), 2)
    assert verdicts["chrF2, ByteNet, full minus ByteNet, window"].measured == 6
    longest = "chrF2 of the longest quarter of the sources, ByteNet, full minus ByteNet, window"
    assert verdicts[longest].measured == 3
    assert all(verdict.outcome == "no claim" for verdict in verdicts.values())


def test_attention_is_counted_by_its_offset():
    weights = np.array([[0.5, 0.5, 0.0], [0.25, 0.25, 0.5]])
    sums = by_offset(weights)
    # From two symbols before to two symbols after the own position.
    np.testing.assert_allclose(sums[38:43], [0.0, 0.25, 0.75, 1.0, 0.0])
    assert sums.sum() == pytest.approx(2.0)
    far = by_offset(np.eye(1, 100, 99))
    assert far[-1] == 1.0
