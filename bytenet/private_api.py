"""The private functions of Keras and TensorFlow that this project uses, each with the reason.

They were checked with Keras 3.15 and TensorFlow 2.21. Each has a test that fails if another version lacks it.
"""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import keras
from keras.src import backend

if TYPE_CHECKING:
    import tensorflow as tf


def all_layers(model: keras.Model) -> Iterator[keras.layers.Layer]:
    """Every layer of a model, including layers inside layers. Public Keras lists only the outer layers."""
    return model._flatten_layers()


def build_loss_and_metrics(model: keras.Model, targets: keras.KerasTensor, predictions: keras.KerasTensor) -> None:
    """Make the variables of the loss and the metrics of a compiled model before its first step.

    A checkpoint can only be restored into variables that exist. Keras makes these in the first step. Under a
    `MirroredStrategy` it makes them earlier, but fails with integer inputs.
    """
    model._compile_metrics.build(targets, predictions)
    model._compile_loss.build(targets, predictions)


def averages_of(optimizer: keras.optimizers.Optimizer) -> list[keras.Variable]:
    """The moving averages of the weights, in the order of the weights. Public Keras only puts them into the model."""
    return optimizer._model_variables_moving_average


def build_nothing_in_fit(model: keras.Model) -> None:
    """Let `fit` leave a model as it is. Everything must be built already.

    Under a strategy, `fit` reads a batch and builds the model with its mean over the replicas, which fails for several
    workers.
    """
    model._maybe_symbolic_build = lambda **arguments: None


def function_graph(graph: "tf.Graph", name: str) -> Any | None:
    """The graph of a function that operations of `graph` call, or None. Public TensorFlow has only its definition."""
    function = graph._get_function(name)
    return None if function is None else function.graph


def recurrent_loop(
    step: Callable[[Any, tuple], tuple[Any, list]], inputs: Any, states: list, go_backwards: bool = False
) -> tuple[Any, list]:
    """Run a loop over the steps of a sequence. Public Keras has loops of layers only.

    Args:
        step: computes the output and the next states from one step of the inputs, float `(batch, channels)`, and the
            states.
        inputs: float `(batch, steps, channels)`.
        states: before the first step.
        go_backwards: begin with the last step.

    Returns:
        The outputs, float `(batch, steps, channels)`, in the order of the inputs; and the last states.
    """
    _, outputs, states = backend.rnn(step, inputs, states, go_backwards=go_backwards)
    return keras.ops.flip(outputs, axis=1) if go_backwards else outputs, list(states)
