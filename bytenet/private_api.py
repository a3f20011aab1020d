"""What this project uses of Keras and TensorFlow that is not public, each with the reason and the tested versions.

Checked with Keras 3.15 and TensorFlow 2.21. A test of each name shows whether another version still has it.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import keras

if TYPE_CHECKING:
    import tensorflow as tf


def all_layers(model: keras.Model) -> Iterator[keras.layers.Layer]:
    """Every layer within a model, those within layers too. Public Keras lists only the layers of the model itself."""
    return model._flatten_layers()


def build_loss_and_metrics(model: keras.Model, targets: keras.KerasTensor, predictions: keras.KerasTensor) -> None:
    """Make the variables of a compiled model's loss and metrics before its first step.

    A checkpoint can only be restored into variables that exist. Keras makes them in the first step; under a
    `MirroredStrategy` it makes them before, but fails with integer inputs.
    """
    model._compile_metrics.build(targets, predictions)
    model._compile_loss.build(targets, predictions)


def function_graph(graph: "tf.Graph", name: str) -> Any | None:
    """The graph of a function that operations of `graph` call, or None. Public TensorFlow gives its bare definition."""
    function = graph._get_function(name)
    return None if function is None else function.graph
