"""Weights of a small model and their gradients, for optimisers."""

import keras
import numpy as np

SHAPES = [(3, 2, 4), (4,), (), (1, 5)]


def make_weights():
    random = np.random.default_rng(0)
    return [keras.Variable(random.normal(size=shape).astype("float32")) for shape in SHAPES]


def gradients_of_steps(num_steps, scale=1.0):
    random = np.random.default_rng(1)
    return [[scale * random.normal(size=shape).astype("float32") for shape in SHAPES] for _ in range(num_steps)]
