"""Layers with random weights, and random inputs."""

import numpy as np


def with_random_weights(layer, scale=1.0):
    """Set all weights to random values, even those that start as zeros or ones, and return the layer."""
    random = np.random.default_rng(0)
    for weight in layer.weights:
        values = random.normal(scale=scale, size=weight.shape)
        weight.assign(np.abs(values) + 0.5 if weight.name == "moving_variance" else values)
    return layer


def random_values(*shape, seed=1):
    """Float32 values of a normal distribution. With seed 0 they would be those of the weights."""
    return np.random.default_rng(seed).normal(size=shape).astype("float32")
