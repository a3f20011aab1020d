"""Results of trainings made in several places or sessions, put together."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from bytenet.config import Config
from bytenet.errors import InputError
from bytenet.reproduction.engine.experiment import Experiment, Row, Scale, Table
from bytenet.reproduction.engine.results import ResultFiles, read_record, read_table
from bytenet.reproduction.jobs.training_run import TrainingRun, unique_runs


@dataclass(frozen=True)
class EarlierResults:
    """What earlier calls left of an experiment that shows a part of its trainings.

    Attributes:
        rows: by name and seed of the training that they are of.
        facts: of the record.
    """

    rows: Mapping[tuple[str, int], Row] = field(default_factory=dict)
    facts: Mapping[str, Any] = field(default_factory=dict)

    def places(self, environment: Mapping[str, Any], own: Table, joined: Table) -> dict[str, Any]:
        """Where results were made: the environment of this call, and `joined_with`, those of others, oldest first.

        Args:
            environment: `versions`, `git_commit` and `machine`.
            own: rows that were measured in it.
            joined: all rows.
        """
        if len(joined) == len(own):
            return dict(environment)
        if not own:
            environment = {key: self.facts[key] for key in environment}
        before = [*self.facts.get("joined_with", ()), _place(self.facts)]
        others = [place for number, place in enumerate(before) if place not in before[:number]]
        others = [place for place in others if place != _place(environment)]
        return environment | ({"joined_with": others} if others else {})


def _place(facts: Mapping[str, Any]) -> dict[str, Any]:
    return {key: facts[key] for key in ("git_commit", "machine")}


def read_earlier(experiment: Experiment, files: ResultFiles) -> EarlierResults:
    """The results that are there; empty where there are none.

    Raises:
        InputError: some are of other trainings than the experiment's, or nothing tells of which; or the files are not
            as they were written.
    """
    if not files.data.is_file():
        return EarlierResults()
    record = read_record(files)
    try:
        table = read_table(files.data)
        trials = [int(row["trial"]) for row in table]
    except (ValueError, TypeError, KeyError) as error:
        raise InputError(f"{files.data} is not as `bytenet reproduce` wrote it.") from error
    if record is None:
        raise InputError(f"{files.record} is missing, which tells with what settings {files.data} was made.")
    _, facts = record
    changed = _changes(experiment.runs(files.scale), facts.get("settings"))
    name_of = _names(experiment, files.scale)
    rows: dict[tuple[str, int], Row] = {}
    others: dict[str, None] = {}
    for row, trial in zip(table, trials, strict=True):
        name = name_of(row)
        if name is None:
            others[" ".join(map(str, row.values()))] = None
        elif name in changed:
            others[f"{name} ({changed[name]})"] = None
        else:
            rows[name, trial] = row
    if others:
        raise InputError(
            f"{files.data} has rows of other trainings than {experiment.name} has now: {'; '.join(others)}. Take them "
            "out of the file, and they are made again; or give another --out."
        )
    return EarlierResults(rows, facts)


def join(experiment: Experiment, scale: Scale, table: Table, earlier: EarlierResults) -> Table:
    """The rows of now and, of other trainings, the earlier ones; in the order of the experiment's runs.

    Raises:
        InputError: they do not have the same columns.
    """
    name_of = _names(experiment, scale)
    places = {run.name: place for place, run in enumerate(experiment.runs(scale))}
    rows = {**earlier.rows, **{(name_of(row), row["trial"]): row for row in table}}
    columns = {tuple(row) for row in rows.values()}
    if len(columns) > 1:
        raise InputError(
            f"The results of {experiment.name} that are there have other columns than this version's: "
            f"{' and '.join(', '.join(one) for one in sorted(columns))}. Give another --out."
        )
    return [rows[name, trial] for name, trial in sorted(rows, key=lambda key: (places[key[0]], key[1]))]


def settings_of(runs: Sequence[TrainingRun]) -> dict[str, Any]:
    """With what the runs, and those that they start from, are trained with seed 1, ready for JSON.

    Returns:
        `common`, the settings in which they do not differ, by dotted key; and `runs`, by name, the others. Where files
        lie is left out.
    """
    each = {run.name: run.settings_without_paths(seed=1) for run in unique_runs(runs)}
    first = next(iter(each.values()))
    common = {
        key: value for key, value in first.items() if all(key in one and one[key] == value for one in each.values())
    }
    own = {
        name: {key: value for key, value in settings.items() if key not in common} for name, settings in each.items()
    }
    return {"common": common, "runs": own}


def _changes(runs: Sequence[TrainingRun], recorded: dict[str, Any] | None) -> dict[str, str]:
    """By name, why a run is not the one that was recorded; settings that are new since then count as their default."""
    if recorded is None:
        return {run.name: "its settings were not recorded" for run in runs}
    defaults, changed = json.loads(json.dumps(Config().settings())), {}
    for run in unique_runs(runs):  # what one starts from stands before it
        if run.name not in recorded["runs"]:
            changed[run.name] = "it was not recorded"
            continue
        before, now = recorded["common"] | recorded["runs"][run.name], run.settings_without_paths(seed=1)
        told = [
            f"{key} was {before.get(key, defaults.get(key))!r} and is {now.get(key)!r}"
            for key in before.keys() | now.keys()
            if before.get(key, defaults.get(key)) != now.get(key)
        ]
        told += [f"it starts from {start.run.name}" for start in run.starts if start.run.name in changed]
        if told:
            changed[run.name] = ", ".join(sorted(told))
    return changed


def _names(experiment: Experiment, scale: Scale) -> Callable[[Row], str | None]:
    """What gives the name of the run that a row is of, None where it is of none."""
    labels = experiment.labels(scale)
    names = {tuple(label.values()): run.name for label, run in zip(labels, experiment.runs(scale), strict=True)}
    return lambda row: names.get(tuple(row.get(column) for column in labels[0]))
