"""Every experiment runs at the smallest scale without a corpus, and can be drawn again from its data alone."""

import shutil
from typing import get_args

import pytest

from bytenet.reproduction.engine.redrawing import redraw
from bytenet.reproduction.engine.results import ResultFiles, read_record, read_table
from bytenet.reproduction.engine.runner import reproduce
from bytenet.reproduction.engine.settings_differences import settings_that_differ
from bytenet.reproduction.engine.verdict import Outcome
from bytenet.reproduction.registry import all_experiments

# Experiments without training, and one with a single training. The others are slow.
MARKS = dict.fromkeys(["fig-2.4.1", "fig-2.4.2", "tab-2.4.1", "fig-3.5.2", "tab-3.1.3"], ())
MARKS["fig-3.3.2"] = MARKS["fig-3.4.1"] = pytest.mark.thorough
OUTCOMES = set(get_args(Outcome))


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """The folder of results, and the folder of shared trainings."""
    return tmp_path_factory.mktemp("results"), tmp_path_factory.mktemp("runs")


@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    "experiment",
    [
        pytest.param(experiment, id=experiment.name, marks=MARKS.get(experiment.name, pytest.mark.slow))
        for experiment in all_experiments()
    ],
)
def test_experiment_writes_data_picture_and_verdicts(experiment, folders, monkeypatch, tmp_path):
    monkeypatch.delenv("BYTENET_DATA", raising=False)
    results, runs = folders
    verdicts, failures = reproduce([experiment], "smoke", results, runs)
    assert failures == {}
    verdicts = verdicts[experiment.name]
    files = ResultFiles(results, experiment.name, "smoke")
    assert read_table(files.data)
    assert read_record(files)[0] == verdicts
    assert {verdict.outcome for verdict in verdicts} <= OUTCOMES
    assert files.picture.exists() == (experiment.plot is not None)

    # Again, from the data alone.
    again = ResultFiles(tmp_path, experiment.name, "smoke")
    shutil.copy(files.data, again.data)
    if experiment.judges_settings:
        shutil.copy(files.record, again.record)
    assert redraw(experiment, "smoke", tmp_path) == verdicts
    if experiment.plot is not None:
        assert again.picture.read_bytes() == files.picture.read_bytes()
        assert files.picture.read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        (
            "fig-3.3.1",
            [
                "model.settings default (thesis)", "model.dropout 0.2 (0.0)", "model.mask_padding True (False)",
                "model.length_rule unfold (pair)", "model.initializer auto (thesis_code)",
                "model.norm_epsilon 1e-05 (1e-08)", "data.min_length 1 (0)",
                "data.bucketing optimal (histogram)", "data.unknown symbol (drop)",
                "training.schedule cosine (constant)", "training.clip_norm 1.0 (None)",
                "training.loss character (sentence)", "evaluation.batch_norm_statistics moving (batch)",
                "decoding.length_penalty 0.6 (0.0)",
            ],
        ),
        (
            "fig-3.3.3",
            [
                "text", "model.dim 64 (400)", "data.batch_size 16 (64)", "data.bucketing optimal (histogram)",
                "data.shuffle_buffer 64 (8192)", "training.learning_rate 0.001 (0.0003)",
            ],
        ),
    ],
)  # fmt: skip
def test_all_settings_that_differ_are_listed(name, settings):
    (experiment,) = (experiment for experiment in all_experiments() if experiment.name == name)
    assert [told.partition(":")[0] for told in settings_that_differ(experiment, "cpu")] == settings


@pytest.mark.parametrize("experiment", all_experiments(), ids=lambda experiment: experiment.name)
def test_differences_from_the_thesis_are_listed_at_every_scale(experiment):
    others = [run.name for run in experiment.runs("thesis") if run.thesis is not None]  # not trained in the thesis
    differ = settings_that_differ(experiment, "thesis")
    assert all(any(name in told for name in others) for told in differ) or differ == list(experiment.differs["thesis"])
    for scale in ("smoke", "cpu"):
        assert all("(" in told or told.startswith("text: ") for told in settings_that_differ(experiment, scale))
