"""Verdicts on the attention baseline."""

import pytest

from bytenet.experiments.attention_baseline import EXPERIMENTS, FORMS, PRINTED

(BASELINE,) = EXPERIMENTS


def table(*rates, loss=1.7):
    """Every form and number of pairs with these misclassification rates, one a seed."""
    return [
        {"form": form, "pairs": num_pairs, "seed": seed, "misclassification": rate, "loss": loss}
        for form in FORMS for num_pairs in PRINTED for seed, rate in enumerate(rates, start=1)
    ]  # fmt: skip


def against_bytenet(*rates):
    """The verdict on 64 pairs, with which the thesis's ByteNet has .420 of the symbols wrong."""
    found = BASELINE.verdicts(table(*rates), "cpu")
    (verdict,) = [one for one in found if "minus the mean of ByteNet" in one.quantity and "64 pairs" in one.quantity]
    return verdict


@pytest.mark.parametrize(
    ("rates", "outcome", "contradicts"),
    [
        ((0.5,), "shown", False),
        ((0.4,), "not shown", False),
        ((0.49, 0.5, 0.51), "shown", False),
        ((0.3, 0.5, 0.7), "not shown", False),  # by mean alone it would be
        ((0.3, 0.4, 0.5), "not shown", False),
        ((0.29, 0.3, 0.31), "not shown", True),
    ],
)
def test_bytenet_is_better_where_the_whole_interval_says_so(rates, outcome, contradicts):
    verdict = against_bytenet(*rates)
    assert (verdict.outcome, verdict.contradicts, verdict.seeds) == (outcome, contradicts, len(rates))


@pytest.mark.parametrize(("loss", "outcome"), [(1.6, "shown"), (1.0, "not shown")])
def test_the_bound_of_the_logits_is_seen_in_the_loss(loss, outcome):
    verdict = BASELINE.verdicts(table(0.4, 0.5, loss=loss), "cpu")[-1]
    assert (verdict.outcome, verdict.seeds) == (outcome, 2)
