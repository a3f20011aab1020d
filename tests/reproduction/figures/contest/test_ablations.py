"""Ablations of ConvS2S change its model of the contest and nothing else. Their verdicts need enough trainings."""

import pytest

from bytenet.evaluation.t_intervals import FEWEST_TO_COMPARE
from bytenet.reproduction.registry import find_experiment


def test_ablation_confirms_the_paper_only_if_the_interval_leaves_out_zero():
    def rows(values):
        return [
            {"model": model, "trial": trial, "val_bleu": bleu, "val_chrf": 50.0}
            for model, bleus in values.items() for trial, bleu in enumerate(bleus, start=1)
        ]  # fmt: skip

    experiment = find_experiment("convs2s-ablations")
    clear = {"the whole model": (20.0, 20.1, 20.2), "no positions": (17.0, 17.1, 17.2)}
    [_, shown] = experiment.verdicts(rows(clear), "cpu")
    assert shown.outcome == "shown"
    assert shown.measured == pytest.approx(-3.0)
    better = {"the whole model": (20.0, 20.1, 20.2), "no positions": (23.0, 23.1, 23.2)}
    assert experiment.verdicts(rows(better), "cpu")[1].outcome == "not shown"
    wide = {"the whole model": (20.0, 15.0), "no positions": (17.0, 19.0)}
    assert experiment.verdicts(rows(wide), "cpu")[1].outcome == "no claim"
    few = {"the whole model": (20.0, 20.01), "no positions": (17.0, 17.01)}
    assert experiment.verdicts(rows(few), "cpu")[1].outcome == "no claim"


def test_ablations_are_judged_with_holm_correction():
    whole, changed = (20.0, 20.1, 20.2), (19.75, 19.8, 19.9)  # p = .020 by Welch's test

    def verdicts(*names):
        return find_experiment("convs2s-ablations").verdicts(
            [
                {"model": model, "trial": trial, "val_bleu": bleu, "val_chrf": 50.0}
                for model, bleus in (("the whole model", whole), *((name, changed) for name in names))
                for trial, bleu in enumerate(bleus, start=1)
            ],
            "cpu",
        )  # fmt: skip

    assert [one.outcome for one in verdicts("no positions")] == ["no claim", "shown"]
    three = verdicts("no positions", "no source positions", "no target positions")
    assert {one.outcome for one in three} == {"no claim"}
    assert "Welch's interval" in three[1].note


def test_change_of_bleu_has_the_seeds_of_both_sides():
    rows = [{"model": "the whole model", "trial": 1, "val_bleu": 20.0, "val_chrf": 50.0}]
    rows += [{"model": "no positions", "trial": trial, "val_bleu": 17.0, "val_chrf": 50.0} for trial in (1, 2, 3)]
    [_, change] = find_experiment("convs2s-ablations").verdicts(rows, "cpu")
    assert (change.seeds, change.interval, change.outcome) == (1, None, "no claim")


def test_ablations_have_enough_trainings_for_a_claim():
    assert find_experiment("convs2s-ablations").num_seeds("cpu") >= FEWEST_TO_COMPARE


def test_ablations_change_the_model_of_the_contest_and_nothing_else():
    whole, *changed = find_experiment("convs2s-ablations").runs("cpu")
    assert whole in find_experiment("family-contest").runs("cpu")
    assert changed
    for run in changed:
        differences = whole.config(1).differences(run.config(1))
        assert differences
        assert all(key.startswith("model.") for key, _, _ in differences), run.name
