"""Measurements of speed and memory on this machine, one module for each `bytenet benchmark WHAT`.

Shared by them: `measurement` repeats and takes turns, `synthetic` makes batches of random text, `flops` counts
operations, `peak` measures what the machine can do, and `stock_models` holds the baselines.
"""
