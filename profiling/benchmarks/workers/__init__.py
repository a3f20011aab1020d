"""Benchmark of training by several workers."""
