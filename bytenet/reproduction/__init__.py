"""The experiments that reproduce the figures and tables of the thesis.

Each figure or table is an `Experiment` in the registry. Its trainings are ordinary runs of `bytenet train`, and figures
that show the same run share it. The measurements are saved as CSV. Picture and verdicts follow from this file, without
training again.
"""

from bytenet.reproduction.engine.experiment import Basis, Experiment, Needs, Scale, Table, Work
from bytenet.reproduction.engine.verdict import Verdict
from bytenet.reproduction.jobs.training_run import TrainingRun

__all__ = ["Basis", "Experiment", "Needs", "Scale", "Table", "TrainingRun", "Verdict", "Work"]
