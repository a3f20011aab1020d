"""The settings in which the trainings of an experiment differ from those of the thesis."""

from collections.abc import Sequence
from typing import Any

from bytenet.reproduction.engine.experiment import Experiment, Scale
from bytenet.reproduction.jobs.training_run import TrainingRun

_UNREPORTED = ("training.seed", "training.jit_compile", "evaluation.", "training.checkpoint", "data.validation_")
"""Beginnings of the settings that change no result, or only how it is evaluated."""
_REPORTED_ANYWAY = ("evaluation.batch_norm_statistics",)  # it changes the curves
_MAX_RUN_NAMES = 6


def settings_that_differ(experiment: Experiment, scale: Scale) -> list[str]:
    """The differences between an experiment at a scale and the thesis's.

    Returns:
        Texts such as "model.dim 64 (400)": setting, value, and the thesis's value. The names of the runs follow if the
        difference is not in all runs.
    """
    if not experiment.is_thesis:
        return []
    run_names: dict[str, list[str]] = {text: [] for text in experiment.differs.get(scale, ())}
    thesis_runs = {run.name: run for run in experiment.runs("thesis")}
    runs = experiment.runs(scale)
    for run in runs:
        settings, thesis_settings = _settings(run), _settings(run.thesis or thesis_runs[run.name])
        differences = [f"text: {run.text}"] if run.text else []
        differences += [
            f"{key} {value} ({thesis_settings[key]})"
            for key, value in settings.items()
            if key in thesis_settings and value != thesis_settings[key]
        ]
        for difference in differences:
            run_names.setdefault(difference, []).append(run.name)
    return [f"{text}{_runs_text(names, len(runs))}" for text, names in run_names.items()]


def _runs_text(names: Sequence[str], num_runs: int) -> str:
    """The names of the runs; "" for all runs."""
    if len(names) in (0, num_runs):
        return ""
    if len(names) > _MAX_RUN_NAMES:
        return f": {names[0]} and {len(names) - 1} more"
    return f": {', '.join(names)}"


def _settings(run: TrainingRun) -> dict[str, Any]:
    """The reported settings of a run, by dotted key."""
    config = run.config(seed=1)
    settings = config.settings()
    if config.data.bucketing != "optimal":
        del settings["data.num_buckets"]  # no other bucketing uses it
    return {key: value for key, value in settings.items() if key in _REPORTED_ANYWAY or not key.startswith(_UNREPORTED)}
