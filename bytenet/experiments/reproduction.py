"""Running an experiment from its trainings to its files."""

import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from bytenet.errors import InputError
from bytenet.experiments.experiment import Experiment, Scale
from bytenet.experiments.results import ResultFiles, read_record, read_table, write_record, write_table
from bytenet.experiments.training_runs import TrainingRun, num_cores, train_all
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
) -> tuple[dict[str, list[Verdict]], dict[str, str]]:
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
        The verdicts by the names of the experiments; and why those that failed did, such as for want of a corpus.

    Raises:
        InputError: an experiment is not to be had in this version.
    """
    for experiment in experiments:
        check_available(experiment)
    runs = (runs / scale).absolute()
    results.mkdir(parents=True, exist_ok=True)
    if jobs is None:
        jobs = 1 if scale == "thesis" else num_cores()
    counts = {
        experiment.name: 1 if experiment.one_seed else seeds or experiment.seeds.get(scale, 1)
        for experiment in experiments
    }
    failed: dict[str, str] = {}
    for count in sorted(set(counts.values())):
        asking = [experiment for experiment in experiments if counts[experiment.name] == count]
        trainings = [run for experiment in asking for run in experiment.runs(scale)]
        failed |= train_all(trainings, range(1, 1 + count), runs, jobs, say)
    verdicts: dict[str, list[Verdict]] = {}
    failures: dict[str, str] = {}
    for experiment in experiments:
        broken = [failed[run.name] for run in experiment.runs(scale) if run.name in failed]
        try:
            if broken:
                raise InputError(broken[0])
            used = range(1, 1 + counts[experiment.name])
            verdicts[experiment.name] = _measure(experiment, scale, results, runs, used, say)
        except InputError as error:
            failures[experiment.name] = str(error)
            say(f"{experiment.name}: {error}")
    return verdicts, failures


def check_available(experiment: Experiment) -> None:
    """Raise an InputError that says why, if this version cannot run the experiment."""
    if experiment.unavailable:
        raise InputError(f"{experiment.name}: {experiment.unavailable}")


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
        InputError: the experiment is not to be had in this version.
    """
    check_available(experiment)
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
    """Where an experiment at a scale differs from the thesis's: "setting value (the thesis's value)" each."""
    if not experiment.is_thesis:
        return []
    told: dict[str, list[str]] = {text: [] for text in experiment.differs.get(scale, ())}
    theirs = {run.name: run for run in experiment.runs("thesis")}
    runs = experiment.runs(scale)
    for run in runs:
        thesis = run.thesis or theirs[run.name]
        differences = [f"text: {run.text}"] if run.text else []
        mine, other = _settings(run), _settings(thesis)
        differences += [f"{key} {value} ({other[key]})" for key, value in mine.items() if value != other[key]]
        for difference in differences:
            told.setdefault(difference, []).append(run.name)
    everywhere = len(runs)
    return [text if len(names) in (0, everywhere) else f"{text}: {', '.join(names)}" for text, names in told.items()]


def _settings(run: TrainingRun) -> dict[str, Any]:
    """Every setting worth telling, by its dotted key, the variant's own where the run has none."""
    from bytenet.models.build import variant_arguments

    config = run.config(seed=1)
    found = {f"{section}.{key}": value for section, keys in asdict(config).items() for key, value in keys.items()}
    for key, value in variant_arguments(config.model).items():
        if found.get(f"model.{key}", value) is None:
            found[f"model.{key}"] = value
    return {key: value for key, value in found.items() if not key.startswith(_NOT_WORTH_TELLING)}
