"""Parts of gradients that are written by hand."""

from contextlib import ExitStack, contextmanager

import keras


@contextmanager
def gradient_scope(layer: keras.layers.Layer):
    """Name operations as TensorFlow names the gradients that it derives, so that profiles find their layer."""
    with ExitStack() as scopes:
        for name in ("gradient_tape", *layer.path.split("/")):
            scopes.enter_context(keras.name_scope(name))
        yield


def upstream_of(arguments: tuple, upstream):
    """The gradient of the outputs, from the arguments of a gradient function of `keras.ops.custom_gradient`.

    PyTorch calls it with the inputs, and with the gradient as `upstream`. The others give the gradient alone.
    """
    return arguments[0] if upstream is None else upstream
