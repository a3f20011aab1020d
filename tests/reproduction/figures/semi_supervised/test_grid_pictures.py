"""The pictures of figures 3.6.1 and 3.6.2."""

from statistics import fmean

import pytest

from bytenet.reproduction.engine.results import read_table, write_table
from bytenet.reproduction.engine.statistics import by_trial
from bytenet.reproduction.figures.semi_supervised.baseline_runs import PRINTED
from bytenet.reproduction.figures.semi_supervised.grid_runs import (
    LABELLED,
    WEIGHTS,
    thesis_rows,
)

from .grid_tables import ERRORS, NO_BASELINE, TIMES, table


@pytest.mark.parametrize("experiment", [ERRORS, TIMES], ids=lambda experiment: experiment.name)
@pytest.mark.parametrize("keep", [lambda row: True, lambda row: row["trial"] == 1 and row["labelled"] == 64])
def test_pictures_of_full_and_partial_results_are_drawn(experiment, keep, tmp_path):
    write_table(tmp_path / "data.csv", table(0.8, keep=keep))
    beside = [NO_BASELINE] if experiment.beside else []
    experiment.plot(read_table(tmp_path / "data.csv"), tmp_path / "picture.png", *beside)
    assert (tmp_path / "picture.png").read_bytes().startswith(b"\x89PNG")


def test_picture_has_the_thesis_intervals_and_the_baseline(figures, tmp_path):
    ERRORS.plot(table(0.8), tmp_path / "picture.png", NO_BASELINE)
    axes = figures[0].axes
    assert [one.get_title() for one in axes[:3]] == [f"{size} labelled pairs" for size in LABELLED]
    settings = [one.get_ylabel().partition("\n")[0] for one in axes[::3]]
    assert settings == ["here, the thesis's settings", "here, our defaults"]
    for one, size in zip(axes, 2 * LABELLED, strict=True):
        labelled = {container.get_label(): container for container in one.containers}
        assert set(labelled) == {f"weight {weight}, {whose}" for weight in WEIGHTS for whose in ("thesis", "here")}
        line, _, (bars,) = labelled["weight 0.2, thesis"]
        assert line.get_ydata()[0] == pytest.approx(
            fmean(by_trial(thesis_rows(), "misclassification", labelled=size, unlabelled=0, weight=0.2).values())
        )
        low, high = bars.get_segments()[0][:, 1]
        assert (low + high) / 2 == pytest.approx(line.get_ydata()[0])
        if size == 64:
            assert (high - low) / 2 == pytest.approx(0.033, abs=0.001)  # as in the figure of the thesis
        assert [line.get_ydata()[0] for line in one.lines if line.get_label().startswith("attention")] == [
            PRINTED[size]
        ]
