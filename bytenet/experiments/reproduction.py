"""Running an experiment from its trainings to its files."""

import os
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from bytenet.config import Config
from bytenet.errors import InputError
from bytenet.experiments.experiment import Experiment, Scale
from bytenet.experiments.results import ResultFiles, read_record, read_table, write_record, write_table
from bytenet.experiments.training_runs import TrainingRun, train_all
from bytenet.experiments.verdict import Verdict

_NOT_WORTH_TELLING = ("training.seed", "training.jit_compile", "evaluation.", "training.checkpoint", "data.validation_")


def reproduce(
    experiments: Sequence[Experiment],
    scale: Scale,
    results: Path,
    runs: Path,
    seeds: int | None = None,
    jobs: int | None = None,
    say: Callable[[str], None] = lambda line: None,
) -> dict[str, list[Verdict]]:
    """Run experiments and leave data, picture and verdicts of each.

    Trainings come first, all of them side by side, so that no core waits for the last one of an experiment.

    Args:
        experiments: which.
        scale: at which size.
        results: folder for the files.
        runs: folder for the trainings, which later calls find there; each scale has one of its own in it.
        seeds: trainings of each run; None is the experiment's own number.
        jobs: trainings at a time; None is one a core, and at "thesis" a single one.
        say: prints a line of progress.

    Returns:
        The verdicts by the names of the experiments.

    Raises:
        InputError: an experiment is not to be had in this version, or a training or corpus fails.
    """
    for experiment in experiments:
        if experiment.unavailable:
            raise InputError(f"{experiment.name}: {experiment.unavailable}")
    runs = (runs / scale).absolute()
    results.mkdir(parents=True, exist_ok=True)
    if jobs is None:
        jobs = 1 if scale == "thesis" else os.cpu_count() or 1
    chosen_seeds = {
        experiment.name: range(1, 1 + (seeds or experiment.seeds.get(scale, 1))) for experiment in experiments
    }
    for count in sorted({len(numbers) for numbers in chosen_seeds.values()}):
        trainings = [
            run
            for experiment in experiments
            if len(chosen_seeds[experiment.name]) == count
            for run in experiment.runs(scale)
        ]
        train_all(trainings, range(1, 1 + count), runs, jobs, say)
    return {
        experiment.name: _measure(experiment, scale, results, runs, chosen_seeds[experiment.name], say)
        for experiment in experiments
    }


def _measure(
    experiment: Experiment, scale: Scale, results: Path, runs: Path, seeds: Sequence[int], say: Callable[[str], None]
) -> list[Verdict]:
    from bytenet.experiments.experiment import Work

    files = ResultFiles(results, experiment.name, scale)
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as scratch:
        table = experiment.measure(Work(scale, seeds, runs, Path(scratch), say))
    write_table(files.data, table)
    verdicts = redraw(experiment, scale, results)
    write_record(files, verdicts, _facts(experiment, scale, seeds, time.monotonic() - began))
    say(f"{experiment.name}: {files.data}" + (f", {files.picture}" if experiment.plot else ""))
    return verdicts


def redraw(experiment: Experiment, scale: Scale, results: Path) -> list[Verdict]:
    """Draw the picture again, and judge again, from the data that an earlier run left.

    Raises:
        MissingFileError: there is no such data.
    """
    files = ResultFiles(results, experiment.name, scale)
    table = read_table(files.data)
    if experiment.plot is not None:
        experiment.plot(table, files.picture)
    verdicts = experiment.verdicts(table, scale)
    if (earlier := read_record(files)) is not None:
        write_record(files, verdicts, earlier[1])
    return verdicts


def _facts(experiment: Experiment, scale: Scale, seeds: Sequence[int], seconds: float) -> dict[str, Any]:
    from bytenet.training.environment import describe_environment

    return {
        "experiment": experiment.name,
        "scale": scale,
        "seeds": len(seeds),
        "command": reproduce_command(experiment, scale, len(seeds)),
        "seconds_after_training": round(seconds, 1),
        **describe_environment(),
        "differs_from_the_thesis": settings_that_differ(experiment, scale),
    }


def reproduce_command(experiment: Experiment, scale: Scale, seeds: int) -> str:
    """The command line that makes a result again."""
    command = f"bytenet reproduce {experiment.name} --scale {scale}"
    return f"{command} --seeds {seeds}" if experiment.runs(scale) else command


def settings_that_differ(experiment: Experiment, scale: Scale) -> list[str]:
    """Where the trainings at a scale differ from those at the thesis's, "setting value (thesis's value)" each."""
    thesis = {run.name: run for run in experiment.runs("thesis")}
    told: dict[str, None] = {}
    for run in experiment.runs(scale):
        if run.name not in thesis:
            told[f"{run.name} is not the thesis's"] = None
            continue
        if run.prepare is not None and thesis[run.name].prepare is None:
            told[f"data.corpus files, made for this scale ({_config(thesis[run.name]).data.corpus})"] = None
        for key, value, theirs in _differences(run, thesis[run.name]):
            told[f"{key} {value} ({theirs})"] = None
    return list(told)


def _differences(run: TrainingRun, other: TrainingRun) -> list[tuple[str, Any, Any]]:
    mine, theirs = _config(run), _config(other)
    return [
        (key, value, their) for key, value, their in mine.differences(theirs) if not key.startswith(_NOT_WORTH_TELLING)
    ]


def _config(run: TrainingRun) -> Config:
    return run.config(seed=1)
