"""What the NumPy networks share: the weights of a model, and the softmax."""

import numpy as np
from keras.ops import convert_to_numpy


def weights_by_path(model):
    """The weights in double precision, by their paths without the name of the model."""
    return {weight.path.split("/", 1)[1]: convert_to_numpy(weight).astype("float64") for weight in model.weights}


def softmax(scores):
    shares = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return shares / shares.sum(axis=-1, keepdims=True)
