"""Joins the results of trainings that were made on several machines or in several sessions."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from bytenet.config import PATH_KEYS
from bytenet.config.building import build_config
from bytenet.config.settings_text import Setting
from bytenet.errors import ConfigError, InputError, shown
from bytenet.reproduction.engine.experiment import Experiment, Row, Scale, Table
from bytenet.reproduction.engine.results import ResultFiles, read_record, read_table
from bytenet.reproduction.jobs.training_run import TrainingRun, unique_runs, without_paths

_SHOWN_LOSSES = 3


@dataclass(frozen=True)
class EarlierResults:
    """The saved results of an experiment that can be measured in part.

    Attributes:
        rows: one for each training, by the name and the seed of the training.
        facts: the facts of the record.
    """

    rows: Mapping[tuple[str, int], Row] = field(default_factory=dict)
    facts: Mapping[str, Any] = field(default_factory=dict)


def read_earlier(experiment: Experiment, files: ResultFiles) -> EarlierResults:
    """Read the saved results of an experiment.

    Returns:
        The results; empty if there are none.

    Raises:
        InputError: some rows belong to other trainings than the experiment's, or were measured with other values; the
            record is missing; or a file is damaged.
    """
    if not files.data.is_file():
        return EarlierResults()
    record = read_record(files)
    table = read_table(files.data)
    trials = [row["trial"] for row in table]
    for trial in trials:
        if not isinstance(trial, int):
            raise InputError(f"{files.data} has {shown(trial)} in its column 'trial', not a seed. Bring it back.")
    if record is None:
        raise InputError(f"{files.record} is missing. It has the settings that {files.data} was made with.")
    _, facts = record
    recorded = facts.get("measured_with", {})  # earlier versions did not record it
    differing = [
        f"{name} was {recorded[name]!r} and is {value!r}"
        for name, value in experiment.measured_with(files.scale).items()
        if recorded.get(name, value) != value
    ]
    if differing:
        raise InputError(f"{files.data} was measured in another way: {'; '.join(differing)}. Give another --out.")
    changed = _changes(experiment.runs(files.scale), facts.get("settings"))
    run_name = _run_namer(experiment, files.scale)
    rows: dict[tuple[str, int], Row] = {}
    foreign: dict[str, None] = {}
    for row, trial in zip(table, trials, strict=True):
        name = run_name(row)
        if name is None:
            foreign[" ".join(map(str, row.values()))] = None
        elif name in changed:
            foreign[f"{name} ({changed[name]})"] = None
        else:
            rows[name, trial] = row
    if foreign:
        raise InputError(
            f"{files.data} has rows of other trainings than {experiment.name} has now: {'; '.join(foreign)}. Remove "
            "these rows, and they are made again; or give another --out."
        )
    return EarlierResults(rows, facts)


def refuse_loss(
    experiment: Experiment, files: ResultFiles, trainings: Collection[tuple[str, int]], num_seeds: int
) -> None:
    """Refuse new results that would replace the saved results of more trainings. Those of the scale "smoke" may go.

    Args:
        experiment: the experiment.
        files: its results.
        trainings: names and seeds of the trainings that the new results have.
        num_seeds: number of trainings of each run in the new results of an experiment without labels.

    Raises:
        InputError: trainings would be lost.
    """
    if files.scale == "smoke" or not files.data.is_file() or not experiment.runs(files.scale):
        return
    try:
        table = read_table(files.data)
        record = read_record(files)
    except InputError:  # damaged: the new results replace it
        return
    if experiment.in_part:
        run_name = _run_namer(experiment, files.scale)
        names = [(run_name(row), row.get("trial")) for row in table]
        lost = [
            f"{name}, seed {seed}" if name else " ".join(map(str, row.values()))
            for row, (name, seed) in zip(table, names, strict=True)
            if (name, seed) not in trainings
        ]
        if lost:
            shown = "; ".join(lost[:_SHOWN_LOSSES]) + (" and others" if len(lost) > _SHOWN_LOSSES else "")
            # --join refuses rows of no run that this version knows.
            can_join = all(name for name, _ in names)
            advice = "Give --join, which keeps the rows of other trainings" if can_join else "Remove these rows"
            raise InputError(
                f"{files.data} has {len(lost):,} row{'s' if len(lost) > 1 else ''} that the new results would not "
                f"have: {shown}. {advice}, or give another --out."
            )
    elif record is not None and record[1].get("seeds", 0) > num_seeds:
        raise InputError(
            f"{files.data} has {record[1]['seeds']} trainings of each model, and the new results would have "
            f"{num_seeds}. Give --seeds {record[1]['seeds']}, or another --out."
        )


def join(
    experiment: Experiment, scale: Scale, measured: Mapping[tuple[str, int], Row], earlier: EarlierResults
) -> Table:
    """Join new rows with the earlier rows of other trainings.

    Args:
        experiment: the experiment.
        scale: its scale.
        measured: the new rows, by the name and the seed of the training.
        earlier: the earlier results.

    Returns:
        One row for each training, in the order of the experiment's runs, then by seed.

    Raises:
        InputError: new and earlier rows have different columns.
    """
    positions = {run.name: position for position, run in enumerate(experiment.runs(scale))}
    rows = {**earlier.rows, **measured}
    columns = {tuple(row) for row in rows.values()}
    if len(columns) > 1:
        raise InputError(
            f"The earlier results of {experiment.name} have other columns than the new ones: "
            f"{' and '.join(', '.join(names) for names in sorted(columns))}. Give another --out."
        )
    return [rows[name, trial] for name, trial in sorted(rows, key=lambda key: (positions[key[0]], key[1]))]


def rows_by_training(experiment: Experiment, scale: Scale, table: Table) -> dict[tuple[str, int], Row]:
    """The rows that `measure` made, by the name and the seed of the training.

    Args:
        experiment: the experiment. It can be measured in part.
        scale: its scale.
        table: the rows.

    Raises:
        ValueError: a row has other labels than the experiment's.
    """
    run_name = _run_namer(experiment, scale)
    rows: dict[tuple[str, int], Row] = {}
    for row in table:
        name = run_name(row)
        if name is None:
            raise ValueError(f"{experiment.name} measured a row that belongs to none of its runs: {row}")
        rows[name, row["trial"]] = row
    return rows


def settings_of(runs: Sequence[TrainingRun]) -> dict[str, Any]:
    """The settings of runs, and of the runs that they start from, for seed 1, ready for JSON.

    Returns:
        `common`: the settings that all runs share, by dotted key. `runs`: the other settings of each run, by its name.
        Paths are left out.
    """
    by_run = {run.name: run.settings_without_paths(seed=1) for run in unique_runs(runs)}
    first = next(iter(by_run.values()))
    common = {
        key: value
        for key, value in first.items()
        if all(key in settings and settings[key] == value for settings in by_run.values())
    }
    remaining = {
        name: {key: value for key, value in settings.items() if key not in common} for name, settings in by_run.items()
    }
    return {"common": common, "runs": remaining}


def _changes(runs: Sequence[TrainingRun], recorded: dict[str, Any] | None) -> dict[str, str]:
    """Why runs differ from the recorded ones, by name."""
    if recorded is None:
        return {run.name: "its settings were not recorded" for run in runs}
    changed: dict[str, str] = {}
    for run in unique_runs(runs):  # each stands behind the runs that it starts from
        if run.name not in recorded["runs"]:
            changed[run.name] = "it was not recorded"
            continue
        now = run.settings_without_paths(seed=1)
        try:
            before = _present_settings(recorded["common"] | recorded["runs"][run.name])
        except ConfigError as error:
            changed[run.name] = str(error)
            continue
        reasons = [
            f"{key} was {before.get(key)!r} and is {now.get(key)!r}"
            for key in before.keys() | now.keys()
            if before.get(key) != now.get(key)
        ]
        reasons += [f"it starts from {start.run.name}" for start in run.starts if start.run.name in changed]
        if reasons:
            changed[run.name] = ", ".join(sorted(reasons))
    return changed


def _present_settings(recorded: Mapping[str, Any]) -> dict[str, Any]:
    """Recorded settings as `settings_without_paths` gives them now, although an earlier version recorded them.

    Old names are replaced. A setting that was not recorded has the default of its family and variant.

    Raises:
        ConfigError: there is no such setting now, or its value is not allowed.
    """
    config = build_config(Setting(key, value, "the record") for key, value in recorded.items())
    starts = {key: value for key, value in recorded.items() if key in PATH_KEYS}  # named by their runs
    return without_paths(config) | starts


def _run_namer(experiment: Experiment, scale: Scale) -> Callable[[Row], str | None]:
    """A function that gives the name of the run of a row, or None if no run fits."""
    if experiment.labels is None:
        raise ValueError(f"{experiment.name} has no labels, so its rows do not belong to single trainings.")
    labels = experiment.labels(scale)
    names = {tuple(label.values()): run.name for label, run in zip(labels, experiment.runs(scale), strict=True)}
    return lambda row: names.get(tuple(row.get(column) for column in labels[0]))
