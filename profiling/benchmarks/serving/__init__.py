"""How many requests a translation server answers, how fast, and what it needs for them."""

from bytenet.profiling.benchmarks.serving.measurement import ServingCost, measure_serving

__all__ = ["ServingCost", "measure_serving"]
