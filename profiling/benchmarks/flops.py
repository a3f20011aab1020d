"""Counts the floating point operations of a model in its traced graph.

Convention:

- Products of matrices and convolutions count two operations a multiply-add. Normalisation, activations and other
  elementwise operations do not count.
- A convolution counts all its taps, also those on padding.
- All steps count, also those in padding and those beyond the source's end (the unfolding rule).
- A training step counts as three forward passes for each prediction of the batch: the gradient of a product is two
  products of the same size, one for each factor.
- Work that a program repeats to save memory, or adds to be faster, does not count. So the rate of operations shows how
  fast the work is done, not how much work is made of it.
"""

import math

import keras
import tensorflow as tf

from bytenet.private_api import function_graph

_CALLS = ("PartitionedCall", "StatefulPartitionedCall")
_LOOPS = ("While", "StatelessWhile")
_RESHAPES = ("Squeeze", "ExpandDims", "Reshape", "Identity")


def training_step_flops(model: keras.Model, batch_size: int, source_length: int, target_length: int) -> int:
    """Floating point operations of a training step, as this module counts them.

    Args:
        model: any `TranslationModel`.
        batch_size: number of sentences.
        source_length, target_length: padded lengths, with the end symbol.

    Returns:
        Three times `forward_flops` for each of the model's `training_passes`.
    """
    return 3 * model.training_passes * forward_flops(model, batch_size, source_length, target_length)


def forward_flops(model: keras.Model, batch_size: int, source_length: int, target_length: int) -> int:
    """Floating point operations of one forward pass over given targets, as this module counts them.

    Args:
        model, batch_size, source_length, target_length: as for `training_step_flops`.
    """
    inputs = {
        "source_ids": tf.TensorSpec((batch_size, source_length), tf.int32),
        "target_ids": tf.TensorSpec((batch_size, target_length), tf.int32),
    }
    return graph_flops(tf.function(lambda ids: model(ids, training=True)).get_concrete_function(inputs).graph)


def graph_flops(graph: tf.Graph) -> int:
    """Floating point operations of a graph and of the functions that it calls.

    Args:
        graph: graph of a concrete function that was traced for inputs of known shapes.

    Raises:
        ValueError: the shape of a product is not known, the number of rounds of a loop with products is not known, or
            a branch contains products.
    """
    return sum(_operation_flops(operation) for operation in graph.get_operations())


def _operation_flops(operation: tf.Operation) -> int:
    kind = operation.type
    if kind == "MatMul":
        first = operation.inputs[0].shape
        return 2 * _size(operation.outputs[0]) * first[0 if operation.get_attr("transpose_a") else 1]
    if kind.startswith("BatchMatMul"):
        first = operation.inputs[0].shape
        return 2 * _size(operation.outputs[0]) * first[-2 if operation.get_attr("adj_x") else -1]
    if kind == "Einsum":
        return _einsum_flops(operation)
    if kind in ("Conv2D", "Conv3D"):
        return 2 * _true_size(operation.outputs[0]) * _taps_and_channels(operation.inputs[1])
    if kind in ("Conv2DBackpropInput", "Conv3DBackpropInputV2"):
        return 2 * _true_size(operation.inputs[2]) * _taps_and_channels(operation.inputs[1])
    if kind in ("Conv2DBackpropFilter", "Conv3DBackpropFilterV2"):
        return 2 * _true_size(operation.inputs[2]) * _taps_and_channels(operation.outputs[0])
    return _inner_flops(operation)


def _inner_flops(operation: tf.Operation) -> int:
    """Operations of the functions that an operation calls, times the number of calls."""
    names = [value.func.name for value in operation.node_def.attr.values() if value.WhichOneof("value") == "func"]
    names += [function.name for value in operation.node_def.attr.values() for function in value.list.func]
    graphs = [function_graph(operation.graph, name) for name in names if name]
    flops = sum(graph_flops(graph) for graph in graphs if graph is not None)
    if flops == 0 or operation.type in _CALLS:
        return flops
    if operation.type in _LOOPS:
        # The second input is the `maximum_iterations` of tf.while_loop. Scans always have it.
        limit = operation.inputs[1]
        # Keras's recurrent layers pass the maximum of one length.
        rounds = tf.get_static_value(limit.op.inputs[0] if limit.op.type == "Max" else limit)
        if rounds is not None and rounds.ndim == 0 and rounds >= 0:
            return flops * int(rounds)
        raise ValueError(f"{operation.name}: this loop contains products, but its number of rounds is not known.")
    raise ValueError(f"{operation.name}: products inside a {operation.type} cannot be counted before it runs.")


def _einsum_flops(operation: tf.Operation) -> int:
    equation = operation.get_attr("equation").decode().replace("...", "")
    terms = equation.partition("->")[0].split(",")
    lengths: dict[str, int] = {}
    batch = 1  # product of the axes of an ellipsis
    for term, factor in zip(terms, operation.inputs, strict=True):
        shape = factor.shape.as_list()
        lengths |= dict(zip(reversed(term), reversed(shape), strict=False))
        batch = max(batch, math.prod(shape[: len(shape) - len(term)]))
    return (2 if len(terms) > 1 else 0) * batch * math.prod(lengths.values())


def _taps_and_channels(kernel: tf.Tensor) -> int:
    """Multiply-adds for one number of a convolution's output.

    Args:
        kernel: `(*taps, channels in, channels out)`.
    """
    return _size(kernel) // kernel.shape[-1]


def _size(tensor: tf.Tensor) -> int:
    size = tensor.shape.num_elements()
    if size is None:
        raise ValueError(
            f"{tensor.name}: its shape {tensor.shape} is not fully known, so its operations cannot be counted."
        )
    return size


def _true_size(tensor: tf.Tensor) -> int:
    """Size of a convolution's output, without the padding of its dilated form.

    On a CPU, TensorFlow computes a dilated convolution as a plain one over more and shorter sentences (SpaceToBatchND
    before, BatchToSpaceND after), and pads these to equal lengths.
    """
    before = tensor.op
    while before.type in _RESHAPES:
        before = before.inputs[0].op
    if before.type == "SpaceToBatchND":
        return _size(before.inputs[0])
    after = tensor.consumers()
    while len(after) == 1 and after[0].type in _RESHAPES:
        after = after[0].outputs[0].consumers()
    if len(after) >= 1 and after[0].type == "BatchToSpaceND":
        return _size(after[0].outputs[0])
    return _size(tensor)
