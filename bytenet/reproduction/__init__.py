"""The experiments of the thesis: what regenerates each figure and table, and how it is judged.

Every figure and table is an `Experiment` of the registry. Its trainings are runs as `bytenet train` makes them, shared
between the figures that show the same run; what they measured becomes a CSV file, from which the picture and the
verdict follow without training again.
"""

from bytenet.reproduction.engine.experiment import Basis, Experiment, Needs, Scale, Table, Work
from bytenet.reproduction.engine.verdict import Verdict
from bytenet.reproduction.jobs.training_run import TrainingRun

__all__ = ["Basis", "Experiment", "Needs", "Scale", "Table", "TrainingRun", "Verdict", "Work"]
