"""The trainings of the attention baseline, and verdicts on made-up tables."""

import pytest

from bytenet.reproduction.figures.semi_supervised.attention_baseline import EXPERIMENTS
from bytenet.reproduction.figures.semi_supervised.baseline_runs import FORMS, PRINTED, TRIALS, supervised_bytenet

(BASELINE,) = EXPERIMENTS
_COLUMNS = ("misclassification", "misclassification_301", "misclassification_12")


def table(*rates, loss=1.7, **others):
    """Every cell with these misclassification rates, one for each trial. `others` has other rates for some forms."""
    return [
        {"form": name, "pairs": num_pairs, "trial": trial, "loss": loss, **dict.fromkeys(_COLUMNS, rate)}
        for name, form in FORMS.items() for num_pairs in form.sizes
        for trial, rate in enumerate(others.get(name, rates), start=1)
    ]  # fmt: skip


def verdicts(*words, rows):
    return [one for one in BASELINE.verdicts(rows, "cpu") if all(word in one.quantity for word in words)]


def test_every_cell_has_ten_trainings_on_the_five_sets_of_the_grid():
    for run in BASELINE.runs("cpu"):
        configs = [run.config(trial) for trial in range(1, 1 + TRIALS)]
        assert [config.data.train_seed for config in configs] == 2 * [10, 20, 30, 40, 50]
        assert len({config.training.seed for config in configs}) == TRIALS == 10
        assert {config.training.epochs for config in configs} == {1001}
        # Also evaluated after 301 epochs, as ByteNet's trainings, on the test set of the grid.
        assert {config.evaluation.every_epochs for config in configs} == {301}
        assert {(config.data.validation_seed, config.data.num_validation) for config in configs} == {(2, 1024)}


def test_thesis_form_has_the_head_and_initializer_of_the_thesis():
    settings = {run.name: run.config(1).model for run in BASELINE.runs("cpu")}
    assert (settings["attention-thesis-64"].variant, settings["attention-thesis-64"].initializer) == (
        "madsen_bounded", "thesis_code",
    )  # fmt: skip
    assert settings["attention-bounded-128"].variant == "madsen_bounded"
    assert {model.initializer for name, model in settings.items() if "thesis" not in name} == {"auto"}


@pytest.mark.parametrize(
    ("rates", "outcome", "says_so"),
    [
        ((0.49, 0.5, 0.51), "shown", False),
        ((0.3, 0.5, 0.7), "not shown", False),  # the mean alone would show it
        ((0.3, 0.4, 0.5), "not shown", False),
        ((0.29, 0.3, 0.31), "not shown", True),
        ((0.5, 0.5), "no claim", False),  # two trainings are too few
    ],
)
def test_bytenet_is_better_only_if_the_whole_interval_shows_it(rates, outcome, says_so):
    for epochs in ("301", "1,001"):
        (one,) = verdicts(
            "minus the author's ByteNet", "64 pairs", "as in the thesis", f"{epochs} epochs) minus", rows=table(*rates)
        )
        assert (one.outcome, one.seeds) == (outcome, len(rates))
        assert one.note.endswith("the baseline is better") == says_so
        assert "share five training sets but count as independent" in one.note
    # The other forms are not in the thesis. Its sentence on the baseline is about ByteNet with unlabelled text.
    others = verdicts("linear last layer", "minus the author's ByteNet", "64 pairs", rows=table(*rates))
    assert {(one.outcome, one.qualifies) for one in others} == {("no claim", False)}


def test_three_trainings_give_no_claim_and_ten_give_a_verdict():
    few = verdicts("64 pairs, as in the thesis", rows=table(0.3, 0.5, 0.9))
    assert [one.outcome for one in few] == ["no claim"]
    assert "1,001 epochs here; the author's may have had 2,001" in few[0].note
    many = verdicts("64 pairs, as in the thesis", rows=table(*[0.5, 0.56, 0.6] * 3, 0.55))
    assert [one.outcome for one in many] == ["agrees"]
    assert [one.outcome for one in verdicts("64 pairs, as in the thesis", rows=table(*[0.1, 0.11] * 5))] == [
        "not reproduced"
    ]


def test_initializers_are_compared_with_the_same_head():
    (one,) = verdicts("initial weights minus Keras's", rows=table(0.5, 0.6, bounded=(0.1, 0.2)))
    assert one.measured == pytest.approx(0.4)


def test_loss_beside_the_bound_of_the_logits_is_no_claim():
    verdict = BASELINE.verdicts(table(0.4, 0.5, loss=1.6), "cpu")[-1]
    assert (verdict.measured, verdict.outcome, verdict.seeds) == (1.6, "no claim", 2)


def test_bytenet_mean_uses_the_fifteen_trainings_of_the_thesis():
    assert [len(supervised_bytenet(num_pairs)) for num_pairs in PRINTED] == [15, 15, 15]


def test_picture_of_partial_results_is_drawn(tmp_path):
    rows = [row for row in table(0.3, 0.4) if row["pairs"] == 64]
    BASELINE.plot(rows, tmp_path / "picture.png")
    assert (tmp_path / "picture.png").read_bytes().startswith(b"\x89PNG")
