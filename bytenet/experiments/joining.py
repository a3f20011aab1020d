"""Results of trainings made in several places or sessions, put together."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from bytenet.errors import InputError
from bytenet.experiments.experiment import Experiment, Row, Scale, Table
from bytenet.experiments.results import ResultFiles, read_record, read_table


@dataclass(frozen=True)
class EarlierResults:
    """What earlier calls left of an experiment that shows a part of its trainings.

    Attributes:
        rows: by name and seed of the training that they are of.
        made_with: commit and machine of the calls that they come from, oldest first.
    """

    rows: Mapping[tuple[str, int], Row] = field(default_factory=dict)
    made_with: Sequence[dict[str, Any]] = ()


def read_earlier(experiment: Experiment, files: ResultFiles) -> EarlierResults:
    """The results that are there; empty where there are none.

    Raises:
        InputError: some are of trainings with other settings than the experiment's, or nothing tells of which.
    """
    if not files.data.is_file():
        return EarlierResults()
    _, facts = read_record(files) or ([], {})
    before, now = facts.get("digests", {}), digests(experiment, files.scale)
    name_of = _names(experiment, files.scale)
    rows = {}
    for row in read_table(files.data):
        name = name_of(row)
        if name is None or before.get(name) != now[name]:
            raise InputError(
                f"{files.data} has results of other trainings than {experiment.name} has now: {name or row}. "
                "Give another --out, or leave out --join to measure all of it anew."
            )
        rows[name, row["trial"]] = row
    made_with = [*facts.get("joined_with", ()), {key: facts[key] for key in ("git_commit", "machine")}]
    return EarlierResults(rows, made_with)


def join(experiment: Experiment, scale: Scale, table: Table, earlier: EarlierResults) -> Table:
    """The rows of now and, of other trainings, the earlier ones; in the order of the experiment's runs."""
    name_of = _names(experiment, scale)
    places = {run.name: place for place, run in enumerate(experiment.runs(scale))}
    rows = {**earlier.rows, **{(name_of(row), row["trial"]): row for row in table}}
    return [rows[name, trial] for name, trial in sorted(rows, key=lambda key: (places[key[0]], key[1]))]


def digests(experiment: Experiment, scale: Scale) -> dict[str, str]:
    """By the name of each run, what tells its settings from others."""
    return {run.name: run.digest() for run in experiment.runs(scale)}


def _names(experiment: Experiment, scale: Scale) -> Callable[[Row], str | None]:
    """What gives the name of the run that a row is of, None where it is of none."""
    labels = experiment.labels(scale)
    names = {tuple(label.values()): run.name for label, run in zip(labels, experiment.runs(scale), strict=True)}
    return lambda row: names.get(tuple(row.get(column) for column in labels[0]))
