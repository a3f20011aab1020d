"""Batches of few shapes, and the graphs that are traced or compiled once for each shape."""
