"""The sequences that settings are chosen on, and what is compared."""

import pytest

from bytenet.datasets.corpora.digits import digits
from bytenet.reproduction.figures.semi_supervised.digits_tuning import PROBLEMS, unseen_pairs
from bytenet.reproduction.figures.semi_supervised.grid_runs import grid_runs
from bytenet.reproduction.registry import find_experiment

EXPERIMENT = find_experiment("digits-tuning")


def test_no_unseen_sequence_is_tested_or_trained_on():
    unseen = set(unseen_pairs().target)
    assert len(unseen) == len(unseen_pairs()) == 20
    assert dict(zip(unseen_pairs().target, unseen_pairs().source, strict=True)).get("999", "nine nine nine") == (
        "nine nine nine"
    )
    assert not unseen & set(digits(2, 1024).target) | unseen & set(digits(11, 128).target)
    for trial in range(1, 6):
        for run in (*grid_runs("cpu"), *EXPERIMENT.runs("cpu")):
            data = run.config(trial).data
            assert not unseen & set(digits(data.train_seed, data.num_train).target)
            if data.num_monolingual:
                assert not unseen & set(digits(data.monolingual_seed, data.num_monolingual).target)


@pytest.mark.parametrize("name", PROBLEMS)
def test_candidates_differ_from_the_preset_in_their_settings_alone(name):
    labels = [row["settings"] for row in EXPERIMENT.labels("cpu") if row["problem"] == name]
    runs = [
        run for run, row in zip(EXPERIMENT.runs("cpu"), EXPERIMENT.labels("cpu"), strict=True)
        if row["problem"] == name
    ]  # fmt: skip
    preset, *others = (run.config(2) for run in runs)
    for label, config in zip(labels[1:], others, strict=True):
        stated = {setting.partition("=")[0] for setting in PROBLEMS[name].candidates[label]}
        assert {key for key, _, _ in preset.differences(config)} <= stated
        assert preset.differences(config)


def test_candidates_are_compared_with_the_preset_trial_by_trial():
    rows = [
        {"problem": "pairs alone", "settings": label, "trial": trial, "misclassification": rate + trial / 100}
        for label, rate in (("the preset", 0.2), ("dropout 0.1, cosine rate", 0.3)) for trial in (1, 2, 3)
    ]  # fmt: skip
    preset, other = EXPERIMENT.verdicts(rows, "cpu")
    assert (preset.measured, preset.seeds) == (pytest.approx(0.22), 3)
    assert other.note.startswith("minus the preset 0.100 (0.1 to 0.1)")
