"""Profiles of real training and decoding: traces are captured, read, broken down by parts of the model, and drawn.

`capture` runs TensorFlow's profiler and writes a trace file. `trace` reads the file. `breakdown` sums up its time by
the groups of `grouping`. `breakdown_report` and `plots` write the result.
"""
