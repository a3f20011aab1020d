"""What a semi-supervised training step costs, compared with a step on pairs only, and what its parts cost."""

from bytenet.profiling.benchmarks.semi_supervised.costs import PARTS, PartCost, SemiSupervisedCost
from bytenet.profiling.benchmarks.semi_supervised.measure import measure_semi_supervised

__all__ = ["PARTS", "PartCost", "SemiSupervisedCost", "measure_semi_supervised"]
