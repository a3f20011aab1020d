"""Running an experiment from its trainings to its files."""

import json
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from bytenet.errors import InputError
from bytenet.reproduction.engine.experiment import Experiment, Scale, Table, Work
from bytenet.reproduction.engine.merging import EarlierResults, join, read_earlier, settings_of
from bytenet.reproduction.engine.results import ResultFiles, read_record, read_table, write_record, write_table
from bytenet.reproduction.engine.verdict import Verdict
from bytenet.reproduction.jobs.scheduler import num_cores, train_all
from bytenet.reproduction.jobs.training_run import TrainingRun, marker_in, run_folder_of

_NOT_WORTH_TELLING = ("training.seed", "training.jit_compile", "evaluation.", "training.checkpoint", "data.validation_")
_TOLD_ALL_THE_SAME = ("evaluation.batch_norm_statistics",)  # what the curves are measured with

_MOST_NAMES = 6


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
    """Run experiments and leave data, picture and verdicts of each.

    Trainings come first, all of them side by side, so that no core waits for the last one of an experiment.

    Args:
        experiments: which.
        scale: at which size.
        results: folder for the files.
        runs: folder for the trainings, which later calls find there; each scale has one of its own in it.
        seeds: trainings of each run; None is the experiment's own number.
        jobs: trainings at a time; None is one a core, and at "thesis" a single one.
        partial: train nothing, and measure what is finished.
        join_earlier: keep the rows of the results that are there of other trainings, and do not train those again.
        say: prints a line of progress.

    Returns:
        The verdicts by the names of the experiments; and why those that failed did, such as for want of a corpus.

    Raises:
        InputError: an experiment is not to be had in part; or results that are to be joined are of other trainings.
    """
    for experiment in experiments:
        if (partial or join_earlier) and not experiment.in_part:
            option = "--partial" if partial else "--join"
            raise InputError(
                f"{experiment.name} shows nothing before all its trainings are finished; leave out {option}."
            )
    from bytenet.training.environment import describe_environment

    environment = describe_environment()  # before results are written, which would be changes of its own commit

    def earlier(experiment: Experiment) -> EarlierResults:
        files = ResultFiles(results, experiment.name, scale)
        return read_earlier(experiment, files) if join_earlier else EarlierResults()

    rows_there = {experiment.name: earlier(experiment).rows for experiment in experiments}
    runs = (runs / scale).absolute()
    results.mkdir(parents=True, exist_ok=True)
    if jobs is None:
        jobs = 1 if scale == "thesis" else num_cores()
    counts = {
        experiment.name: 1 if experiment.one_seed else seeds or experiment.seeds.get(scale, 1)
        for experiment in experiments
    }
    failed: dict[int, dict[str, str]] = {}
    for count in sorted(set(counts.values())) if not partial else ():
        asking = [experiment for experiment in experiments if counts[experiment.name] == count]
        trainings = [run for experiment in asking for run in experiment.runs(scale)]
        wanted = {
            (run.name, seed)
            for experiment in asking
            for run in experiment.runs(scale)
            for seed in range(1, 1 + count)
            if (run.name, seed) not in rows_there[experiment.name]
        }
        failed[count] = train_all(trainings, range(1, 1 + count), runs, jobs, say, wanted)
    verdicts: dict[str, list[Verdict]] = {}
    failures: dict[str, str] = {}
    for experiment in experiments:
        of_count = failed.get(counts[experiment.name], {})
        broken = [of_count[run.name] for run in experiment.runs(scale) if run.name in of_count]
        try:
            if broken:
                option = "--partial --join" if join_earlier else "--partial"
                rest = f" `{option}` measures the other trainings." if experiment.in_part else ""
                raise InputError(f"{broken[0]}{rest}")
            work = Work(scale, range(1, 1 + counts[experiment.name]), runs, say)
            verdicts[experiment.name] = _measure(experiment, work, results, environment, earlier)
        except (InputError, OSError) as error:
            failures[experiment.name] = str(error)
            say(f"{experiment.name}: {error}")
    return verdicts, failures


def _measure(
    experiment: Experiment,
    work: Work,
    results: Path,
    environment: dict[str, Any],
    read_earlier_results: Callable[[Experiment], EarlierResults],
) -> list[Verdict]:
    files = ResultFiles(results, experiment.name, work.scale)
    began = time.monotonic()
    table = experiment.measure(work)
    seeds = len(work.seeds)
    facts = environment
    if experiment.in_part:
        earlier = read_earlier_results(experiment)  # only now: another machine's may have come while this one trained
        own, table = table, join(experiment, work.scale, table, earlier)
        if not table:
            raise InputError(
                f"None of the trainings of {experiment.name} in {work.runs} is finished with these settings."
            )
        seeds = max(seeds, *(row["trial"] for row in table))
        facts = earlier.places(environment, own, table)
        facts |= _facts_of_a_part(experiment, work, seeds, len(own), len(table))
        if len(table) > len(own):
            facts["training_commits"] = earlier.facts.get("training_commits", [])
    facts = _facts(experiment, work.scale, seeds, time.monotonic() - began) | facts
    if commits := _training_commits(experiment, work):
        facts["training_commits"] = sorted({*commits, *facts.get("training_commits", ())})
    write_table(files.data, table)
    write_record(files, [], facts)  # what vouches for other rows does not outlive them, whatever fails below
    table = read_table(files.data)  # as it will be drawn again
    verdicts = _draw_and_judge(experiment, table, files)
    write_record(files, verdicts, facts)
    work.say(f"{experiment.name}: {files.data}" + (f", {files.picture}" if experiment.plot else ""))
    return verdicts


def _training_commits(experiment: Experiment, work: Work) -> set[str]:
    """The commits that the finished trainings were made with, as far as their folders say."""
    folders = [run_folder_of(run, seed, work.runs) for run in experiment.runs(work.scale) for seed in work.seeds]
    files = [folder / "environment.json" for folder in folders if marker_in(folder).exists()]
    found = [json.loads(path.read_text(encoding="utf-8")).get("git_commit") for path in files if path.is_file()]
    return set(filter(None, found))


def _facts_of_a_part(experiment: Experiment, work: Work, seeds: int, measured: int, shown: int) -> dict[str, Any]:
    runs = experiment.runs(work.scale)
    facts: dict[str, Any] = {"settings": settings_of(runs)}
    if shown < len(runs) * seeds:
        facts["trainings"] = f"{shown:,} of {len(runs) * seeds:,}"
        work.say(f"{experiment.name}: {facts['trainings']} trainings are finished")
    if shown > measured:
        work.say(f"{experiment.name}: kept {shown - measured:,} of the results that were there")
    return facts


def redraw(experiment: Experiment, scale: Scale, results: Path) -> list[Verdict]:
    """Draw the picture again, and judge again, from the data that an earlier run left.

    Raises:
        MissingFileError: there is no such data.
        InputError: its record is damaged.
    """
    files = ResultFiles(results, experiment.name, scale)
    verdicts = _draw_and_judge(experiment, read_table(files.data), files)
    if (earlier := read_record(files)) is not None:
        write_record(files, verdicts, earlier[1])
    return verdicts


def _draw_and_judge(experiment: Experiment, table: Table, files: ResultFiles) -> list[Verdict]:
    if experiment.plot is not None:
        experiment.plot(table, files.picture, *_beside(experiment, files))
    return judge(experiment, table, files)


def judge(experiment: Experiment, table: Table, files: ResultFiles) -> list[Verdict]:
    """The verdicts on the data of an experiment.

    Args:
        experiment: which.
        table: its data.
        files: where the data of the experiments lie that it is compared with.
    """
    return experiment.verdicts(table, files.scale, *_beside(experiment, files))


def _beside(experiment: Experiment, files: ResultFiles) -> list[dict[str, Table]]:
    if not experiment.beside:
        return []
    others = {name: ResultFiles(files.folder, name, files.scale).data for name in experiment.beside}
    return [{name: read_table(path) if path.is_file() else [] for name, path in others.items()}]


def _facts(experiment: Experiment, scale: Scale, seeds: int, seconds: float) -> dict[str, Any]:
    return {
        "experiment": experiment.name,
        "scale": scale,
        "seeds": seeds,
        "command": reproduce_command(experiment, scale, seeds),
        "seconds_after_training": round(seconds, 1),
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
        differences += [
            f"{key} {value} ({other[key]})" for key, value in mine.items() if key in other and value != other[key]
        ]
        for difference in differences:
            told.setdefault(difference, []).append(run.name)
    return [f"{text}{_where(names, len(runs))}" for text, names in told.items()]


def _where(names: Sequence[str], of_all: int) -> str:
    """The runs that something is told of; "" where it is all."""
    if len(names) in (0, of_all):
        return ""
    if len(names) > _MOST_NAMES:
        return f": {names[0]} and {len(names) - 1} more"
    return f": {', '.join(names)}"


def _settings(run: TrainingRun) -> dict[str, Any]:
    """Every setting worth telling, by its dotted key."""
    config = run.config(seed=1)
    found = config.settings()
    if config.data.bucketing != "optimal":
        del found["data.num_buckets"]  # which only counts there
    return {
        key: value
        for key, value in found.items()
        if key in _TOLD_ALL_THE_SAME or not key.startswith(_NOT_WORTH_TELLING)
    }
