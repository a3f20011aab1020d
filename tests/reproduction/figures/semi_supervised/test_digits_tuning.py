"""The sequences that settings are chosen on, and the comparisons."""

import pytest

from bytenet.datasets.corpora.digits import NAMES, digits
from bytenet.reproduction.figures.semi_supervised.digits_tuning import PROBLEMS, unseen_pairs
from bytenet.reproduction.figures.semi_supervised.grid_runs import grid_runs
from bytenet.reproduction.registry import find_experiment

EXPERIMENT = find_experiment("digits-tuning")


def test_unseen_sequences_are_not_in_training_or_test_sets():
    pairs = unseen_pairs()
    unseen = set(pairs.target)
    assert len(unseen) == len(pairs) == 20
    assert all("20 sequences" in text for text in (EXPERIMENT.title, EXPERIMENT.basis.size))
    assert pairs.source == [" ".join(NAMES[int(digit)] for digit in numeral) for numeral in pairs.target]
    drawn = {(2, 1024), (11, 128)}
    for trial in range(1, 6):
        for run in (*grid_runs("cpu"), *EXPERIMENT.runs("cpu")):
            data = run.config(trial).data
            drawn.add((data.train_seed, data.num_train))
            if data.num_monolingual:
                drawn.add((data.monolingual_seed, data.num_monolingual))
    assert len(drawn) == 2 + 5 * 3 + 5 * 2  # test sets, labelled pairs and unlabelled words of five trials
    for seed, size in drawn:
        assert not unseen & set(digits(seed, size).target)


@pytest.mark.parametrize("name", PROBLEMS)
def test_candidates_differ_from_the_preset_only_in_their_settings(name):
    labels = [row["settings"] for row in EXPERIMENT.labels("cpu") if row["problem"] == name]
    runs = [
        run for run, row in zip(EXPERIMENT.runs("cpu"), EXPERIMENT.labels("cpu"), strict=True) if row["problem"] == name
    ]
    preset, *others = (run.config(2) for run in runs)
    for label, config in zip(labels[1:], others, strict=True):
        stated = {setting.partition("=")[0] for setting in PROBLEMS[name].candidates[label]}
        assert {key for key, _, _ in preset.differences(config)} <= stated
        assert preset.differences(config)


def test_candidates_are_compared_with_the_preset_by_trial():
    rows = [
        {"problem": "pairs alone", "settings": label, "trial": trial, "misclassification": rate + trial / 100}
        for label, rate in (("the preset", 0.2), ("dropout 0.1, cosine rate", 0.3)) for trial in (1, 2, 3)
    ]  # fmt: skip
    preset, other = EXPERIMENT.verdicts(rows, "cpu")
    assert (preset.measured, preset.seeds) == (pytest.approx(0.22), 3)
    assert other.note.startswith("minus the preset 0.100 (0.1 to 0.1)")
