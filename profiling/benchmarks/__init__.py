"""Measurements of speed and memory: the work of `bytenet benchmark`."""
