"""Runs experiments: trains, measures, judges and saves the results."""

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from bytenet.errors import InputError
from bytenet.reproduction.engine.experiment import Experiment, Scale, Work
from bytenet.reproduction.engine.merging import (
    EarlierResults,
    join,
    read_earlier,
    refuse_loss,
    rows_by_training,
    settings_of,
)
from bytenet.reproduction.engine.origins import provenance
from bytenet.reproduction.engine.redrawing import collected, draw_and_judge, redraw
from bytenet.reproduction.engine.results import ResultFiles, read_table, write_record, write_table
from bytenet.reproduction.engine.settings_differences import settings_that_differ
from bytenet.reproduction.engine.verdict import Verdict
from bytenet.reproduction.jobs.scheduler import num_cores, train_all
from bytenet.reproduction.jobs.training_run import run_folder_of


def reproduce(
    experiments: Sequence[Experiment],
    scale: Scale,
    results: Path,
    runs: Path,
    seeds: int | None = None,
    jobs: int | None = None,
    partial: bool = False,
    join_earlier: bool = False,
    say: Callable[[str], None] = lambda line: None,
) -> tuple[dict[str, list[Verdict]], dict[str, str]]:
    """Run experiments, and save the data, the picture and the verdicts of each.

    All trainings run before the first measurement. Trainings with the same number of seeds share the cores, also those
    of different experiments. So a core hardly ever waits for the last training of an experiment.

    Args:
        experiments: the experiments.
        scale: their scale.
        results: folder for the results.
        runs: folder for the trainings, with a subfolder for each scale. Later calls use its finished trainings.
        seeds: number of trainings of each run. None: the experiment's own number.
        jobs: trainings at a time. None: one for each core, and one at the scale "thesis".
        partial: train nothing, and measure the finished trainings.
        join_earlier: keep the rows of other trainings in `results`, and do not train these again.
        say: prints a line of progress.

    Returns:
        The verdicts, by the name of the experiment; and the reasons of failures, such as a missing corpus, by name.

    Raises:
        InputError: an experiment cannot be measured in part; the results to join belong to other trainings; or new
            results would replace those of more trainings.
    """
    from bytenet.training.environment import describe_environment

    _check_options(experiments, partial, join_earlier)
    # Before any result is written: new results in the repository would count as changes of its commit.
    environment = describe_environment()
    counts = {experiment.name: experiment.num_seeds(scale, seeds) for experiment in experiments}

    def earlier(experiment: Experiment) -> EarlierResults:
        files = ResultFiles(results, experiment.name, scale)
        return read_earlier(experiment, files) if join_earlier else EarlierResults()

    selected = {}
    for experiment in experiments:
        kept = earlier(experiment).rows.keys()
        planned = {(run.name, seed) for run in experiment.runs(scale) for seed in range(1, 1 + counts[experiment.name])}
        refuse_loss(experiment, ResultFiles(results, experiment.name, scale), planned | kept, counts[experiment.name])
        selected[experiment.name] = planned - kept
    runs = (runs / scale).absolute()
    results.mkdir(parents=True, exist_ok=True)
    if jobs is None:
        jobs = 1 if scale == "thesis" else num_cores()
    failed = {} if partial else _train_all(experiments, scale, counts, selected, runs, jobs, say)
    option = "--partial --join" if join_earlier else "--partial"
    verdicts: dict[str, list[Verdict]] = {}
    failures: dict[str, str] = {}
    for experiment in experiments:
        with collected(failures, experiment, say):
            if reason := failed.get(experiment.name):
                hint = f" `{option}` measures the other trainings." if experiment.in_part else ""
                raise InputError(f"{reason}{hint}")
            work = Work(scale, range(1, 1 + counts[experiment.name]), runs, say, environment)
            verdicts[experiment.name] = _measure(experiment, work, results, earlier)
    for experiment in experiments:
        if experiment.name in verdicts and any(name in verdicts for name in experiment.beside):
            with collected(failures, experiment, say):  # the data beside it may have been measured after it
                verdicts[experiment.name] = redraw(experiment, scale, results)
    return verdicts, failures


def _check_options(experiments: Sequence[Experiment], partial: bool, join_earlier: bool) -> None:
    if not (partial or join_earlier):
        return
    for experiment in experiments:
        if not experiment.in_part:
            option = "--partial" if partial else "--join"
            raise InputError(
                f"{experiment.name} shows nothing before all its trainings are finished; leave out {option}."
            )


def _train_all(
    experiments: Sequence[Experiment],
    scale: Scale,
    counts: Mapping[str, int],
    selected: Mapping[str, Collection[tuple[str, int]]],
    runs: Path,
    jobs: int,
    say: Callable[[str], None],
) -> dict[str, str]:
    """Train, for each number of seeds, the experiments that have it.

    Args:
        experiments: the experiments.
        scale: their scale.
        counts: the number of seeds, by the name of the experiment.
        selected: names and seeds of the trainings to do, by the name of the experiment.
        runs: folder for the run folders.
        jobs: trainings at a time.
        say: prints a line of progress.

    Returns:
        Why an experiment lacks trainings, by its name: the different reasons, one a line.
    """
    reasons = {}
    for count in sorted(set(counts.values())):
        same_count = [experiment for experiment in experiments if counts[experiment.name] == count]
        trainings = [run for experiment in same_count for run in experiment.runs(scale)]
        to_do = set().union(*(selected[experiment.name] for experiment in same_count))
        failed = train_all(trainings, range(1, 1 + count), runs, jobs, say, to_do)
        for experiment in same_count:
            of_experiment = [why for training, why in failed.items() if training in selected[experiment.name]]
            if of_experiment:
                reasons[experiment.name] = "\n".join(dict.fromkeys(of_experiment))
    return reasons


def _measure(
    experiment: Experiment, work: Work, results: Path, earlier_results: Callable[[Experiment], EarlierResults]
) -> list[Verdict]:
    files = ResultFiles(results, experiment.name, work.scale)
    began = time.monotonic()
    table = experiment.measure(work)
    seeds = len(work.seeds)
    facts = dict(work.environment)
    commits = _training_commits(experiment, work)
    if experiment.in_part:
        measured = rows_by_training(experiment, work.scale, table)
        earlier = earlier_results(experiment)  # read it now: results may have arrived during the training
        refuse_loss(experiment, files, measured.keys() | earlier.rows.keys(), seeds)
        table = join(experiment, work.scale, measured, earlier)
        if not table:
            raise InputError(
                f"None of the trainings of {experiment.name} in {work.runs} is finished with these settings."
            )
        seeds = max(seeds, *(row["trial"] for row in table))
        facts = provenance(work.environment, {training: commits.get(training, []) for training in measured}, earlier)
        facts |= _facts_of_part(experiment, work, seeds, len(measured), len(table))
    elif known := set().union(*commits.values()):
        facts["training_commits"] = sorted(known)
    facts = _facts(experiment, work.scale, seeds, time.monotonic() - began) | facts
    write_table(files.data, table)
    write_record(files, [], facts)  # so that no old verdicts stand beside the new data if drawing or judging fails
    table = read_table(files.data)  # rounded, as `redraw` will read it
    verdicts = draw_and_judge(experiment, table, files)
    write_record(files, verdicts, facts)
    work.say(f"{experiment.name}: {files.data}" + (f", {files.picture}" if experiment.plot else ""))
    return verdicts


def _facts(experiment: Experiment, scale: Scale, seeds: int, seconds: float) -> dict[str, Any]:
    """How a result was made, for its record."""
    return {
        "experiment": experiment.name,
        "scale": scale,
        "seeds": seeds,
        "command": experiment.command(scale, seeds),
        "seconds_after_training": round(seconds, 1),
        "differs_from_the_thesis": settings_that_differ(experiment, scale),
    }


def _facts_of_part(experiment: Experiment, work: Work, seeds: int, num_measured: int, num_rows: int) -> dict[str, Any]:
    """More facts of an experiment that can be measured in part. Reports the part."""
    runs = experiment.runs(work.scale)
    facts: dict[str, Any] = {"settings": settings_of(runs)}
    if measured_with := experiment.measured_with(work.scale):
        facts["measured_with"] = measured_with
    if num_rows < len(runs) * seeds:
        facts["trainings"] = f"{num_rows:,} of {len(runs) * seeds:,}"
        work.say(f"{experiment.name}: {facts['trainings']} trainings are finished")
    if num_rows > num_measured:
        work.say(f"{experiment.name}: kept {num_rows - num_measured:,} of the earlier results")
    return facts


def _training_commits(experiment: Experiment, work: Work) -> dict[tuple[str, int], list[str]]:
    """The commits of the trainings, by name and seed, as far as their folders name them.

    Raises:
        InputError: the environment of a training is damaged.
    """
    from bytenet.run_folder import RunFolder
    from bytenet.saved.environment import commits_of

    commits = {}
    for run in experiment.runs(work.scale):
        for seed in work.seeds:
            folder = RunFolder(run_folder_of(run, seed, work.runs))
            if folder.environment_path.is_file():
                commits[run.name, seed] = commits_of(folder.environment())
    return commits
