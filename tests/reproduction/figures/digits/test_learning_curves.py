"""Verdicts on the figures of Synthetic Digits, from handmade curves."""

import pytest

from bytenet.reproduction.registry import find_experiment

BYTENET, SIMPLIFIED, SELU = (find_experiment(name) for name in ("fig-3.3.1", "fig-d.2.1", "fig-d.3.1"))
GAP = "test minus training misclassification, thesis settings"


def curves(first=12.0, rise=2.0, **errors):
    """Five seeds of each run, with the given final test error (lower for the first seeds) and a training error of 0.

    The test cross entropy rises by `rise`, and a little more for the last seeds.
    """
    return [
        {
            "run": run, "seed": seed, "epoch": float(epoch), "train_misclassification": 0.0,
            "test_misclassification": error + (seed - 3) / 100, "train_sentence_cross_entropy": first / (1 + epoch),
            "test_sentence_cross_entropy": 7.5 + (rise + (seed - 3) / 10) * epoch / 300,
        }
        for run, error in errors.items() for seed in range(1, 6) for epoch in range(0, 301, 100)
    ]  # fmt: skip


def by_quantity(verdicts):
    return {verdict.quantity: verdict for verdict in verdicts}


ERROR = "test misclassification, last fifth of the training minus first fifth, thesis settings"


def test_overfitting_by_the_cross_entropy_qualifies_only_figure_3_3_1():
    found = BYTENET.verdicts(curves(thesis=0.3, default=0.2), "cpu")
    (finding,) = [verdict for verdict in found if verdict.qualifies]
    assert by_quantity(found)[GAP].outcome == "no claim"  # the thesis does not define it
    assert (finding.printed, finding.source) == ("very little overfitting if any", "result-bytenet.tex:38")
    assert (finding.outcome, finding.measured) == ("not shown", pytest.approx(2))
    assert "from 7.5 to 9.5 nats per sentence, and the test error from 0.30 to 0.30" in finding.note
    for experiment in (SIMPLIFIED, SELU):
        table = curves(thesis=0.3, code=0.3, default=0.2)
        assert not any(verdict.qualifies for verdict in experiment.verdicts(table, "cpu", {"fig-3.3.1": table}))
    assert not any(verdict.contradicts for verdict in found)  # the thesis does not say which loss it means


@pytest.mark.parametrize(("change", "outcome"), [(-0.1, "shown"), (0.0, "no claim"), (0.1, "not shown")])
def test_overfitting_by_the_misclassification_rate_is_judged_apart(change, outcome):
    table = [
        row | {"test_misclassification": row["test_misclassification"] + change * row["epoch"] / 300}
        for row in curves(thesis=0.3, default=0.2)
    ]
    found = by_quantity(BYTENET.verdicts(table, "cpu"))[ERROR]
    assert (found.printed, found.outcome) == ("very little overfitting if any", outcome)
    assert found.measured == pytest.approx(change)
    assert not found.contradicts


@pytest.mark.parametrize("rise", [0.0, -2.0])
def test_a_test_loss_that_does_not_rise_is_no_finding(rise):
    found = BYTENET.verdicts(curves(rise=rise, thesis=0.3, default=0.2), "cpu")
    assert not any(verdict.qualifies for verdict in found)
    loss, _ = [verdict for verdict in found if verdict.printed == "very little overfitting if any"]
    assert (loss.outcome, loss.measured) == ("shown", pytest.approx(rise))


def test_training_error_may_be_higher_than_the_test_error():
    table = [row | {"train_misclassification": 0.4} for row in curves(thesis=0.3, default=0.2)]
    found = by_quantity(BYTENET.verdicts(table, "cpu"))[GAP]
    assert (found.outcome, found.measured) == ("no claim", pytest.approx(-0.1))
    assert found.interval[0] < found.measured < found.interval[1] < 0


def test_one_training_shows_neither_overfitting_nor_its_absence_nor_better_settings():
    one = [row for row in curves(thesis=0.3, default=0.1) if row["seed"] == 1]
    found = BYTENET.verdicts(one, "cpu")
    judged = {verdict.quantity: verdict.outcome for verdict in found}
    assert judged["test misclassification, defaults"] == "no claim"
    assert [one.outcome for one in found if one.printed == "very little overfitting if any"] == ["no claim"] * 2
    assert not any(verdict.contradicts or verdict.qualifies for verdict in found)


@pytest.mark.parametrize(("error", "outcome"), [(0.2, "shown"), (0.3, "not shown"), (0.4, "not shown")])
def test_simplified_is_compared_with_the_figure_of_bytenet(error, outcome):
    bytenet = curves(thesis=0.3, default=0.2)
    found = by_quantity(SIMPLIFIED.verdicts(curves(thesis=error, default=0.2), "cpu", {"fig-3.3.1": bytenet}))
    verdict = found["test misclassification of Simplified minus ByteNet's, thesis settings"]
    assert (verdict.outcome, verdict.measured) == (outcome, pytest.approx(error - 0.3))
    assert not any("minus" in verdict.quantity for verdict in SIMPLIFIED.verdicts(bytenet, "cpu", {"fig-3.3.1": []}))


@pytest.mark.parametrize(("error", "outcome"), [(0.3, "no claim"), (0.5, "not shown"), (0.1, "not shown")])
def test_missing_difference_between_selu_and_bytenet_is_no_claim(error, outcome):
    bytenet = curves(thesis=0.3, default=0.2)
    table = curves(thesis=error, code=0.3, default=0.2)
    found = by_quantity(SELU.verdicts(table, "cpu", {"fig-3.3.1": bytenet}))
    assert found["test misclassification of SELU minus ByteNet's, thesis settings"].outcome == outcome


@pytest.mark.parametrize(("first", "outcome"), [(103.0, "agrees"), (12.0, "not reproduced")])
def test_first_cross_entropy_is_judged(first, outcome):
    table = curves(first, thesis=0.39, code=0.39, default=0.2)
    found = by_quantity(SELU.verdicts(table, "cpu", {"fig-3.3.1": []}))
    verdict = found["first cross entropy, nats per sentence, thesis settings"]
    assert (verdict.outcome, verdict.measured) == (outcome, pytest.approx(first))
    late = [row for row in table if row["epoch"] > 0]  # curves that begin after the first step have no such verdict
    assert not [name for name in by_quantity(SELU.verdicts(late, "cpu", {})) if name.startswith("first")]


def test_selu_reproduction_uses_the_initializer_of_the_thesis():
    weights = [run.config(1).model.initializer for run in SELU.runs("cpu")]
    assert weights == ["thesis_selu", "thesis_code", "auto"]
    assert [run.config(1).model.initializer for run in BYTENET.runs("cpu")] == ["thesis_code", "auto"]
