"""A stand-in for an experiment that is measured in part: two runs that differ in their size."""

import json

from bytenet.reproduction.engine.experiment import Basis, Experiment, Needs
from bytenet.reproduction.engine.results import ResultFiles, read_table
from bytenet.reproduction.engine.verdict import Verdict
from bytenet.reproduction.jobs.training_run import TrainingRun

from ..jobs.runs import RUN

TWO = TrainingRun("two", "digits", ("model.dim=6",))
RUNS = {"small": RUN, "large": TWO}


def measure(work):
    """One row for each finished training, with the place noted in its folder."""
    return [
        {"size": label, "trial": seed, "place": (folder.path / "place").read_text()}
        for label, run in RUNS.items()
        for seed, folder in work.finished(run)
    ]


EXPERIMENT = Experiment(
    name="sizes", title="Sizes", thesis="Nothing.", needs=Needs(), basis=Basis("computed"), is_thesis=False,
    seeds={"cpu": 2}, measure=measure,
    runs=lambda scale: list(RUNS.values()), labels=lambda scale: [{"size": label} for label in RUNS],
    verdicts=lambda table, scale: [Verdict(quantity="rows", printed="", measured=len(table))],
)  # fmt: skip


def rows(tmp_path):
    return [tuple(row.values()) for row in read_table(tmp_path / "results" / "sizes-cpu.csv")]


def record(tmp_path):
    return json.loads(ResultFiles(tmp_path / "results", "sizes", "cpu").record.read_text())
