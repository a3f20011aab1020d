"""GRUs over whole sequences, with cheaper gradients.

The gradient of an ordinary loop adds up the gradients of the weights step by step, and keeps what each step has
computed. Here, the loop of the gradient computes only what the next step needs. The gradients of the weights are then
one product over all steps. The gates and the hidden layer of the attention are computed again, so graphs do not keep
them. `RecurrentCell` and `AlignedCell` compute the same steps one by one.

The sequences must have at least one step. JAX can differentiate these functions in reverse mode only.
"""

from typing import NamedTuple

import keras
from keras import ops

from bytenet.layers.attention.dot_attention import softmax
from bytenet.layers.gradients import gradient_scope, upstream_of
from bytenet.layers.recurrent.gru import (
    GruKernel,
    back_through_gru,
    gradient_of_gru_kernel,
    gru_gates,
    next_gru_state,
    product_over_steps,
)
from bytenet.private_api import recurrent_loop


class AdditiveAttention(NamedTuple):
    """What the steps of a GRU need to attend to a source of S symbols.

    Attributes:
        state_map: of the alignment model, float `(units, attention_units)`.
        vector: of the alignment model, float `(attention_units,)`.
        keys: the mapped symbols, float `(batch, S, attention_units)`.
        offsets: of the scores, float `(batch, S)`. They have no gradient.
        values: their sum, weighted by the attention, is added to the sums of the gates. Float `(batch, S, 3 * units)`.
    """

    state_map: object
    vector: object
    keys: object
    offsets: object
    values: object


def gru_outputs(layer, projected, first_state, kernel, mask=None, go_backwards: bool = False):
    """The states of a GRU after each step.

    Args:
        layer: under whose name profiles show the gradient.
        projected: the inputs, see `RecurrentCell.project`, float32 `(batch, length, 3 * units)`.
        first_state: float32 `(batch, units)`.
        kernel: of the recurrent part, float32 `(units, 3 * units)`.
        mask: bool `(batch, length)`. Steps where it is false keep the state.
        go_backwards: begin with the last step.

    Returns:
        float32 `(batch, length, units)`, in the order of the inputs.
    """
    is_real = None if mask is None else ops.cast(mask, projected.dtype)[:, :, None]

    @ops.custom_gradient
    def run(projected, first_state, matrix):
        kernel = GruKernel.of(matrix)

        def step(inputs, states):
            sums, is_real = _columns(inputs, [projected.shape[-1], None])
            state = next_gru_state(sums, states[0], kernel)
            if mask is not None:
                state = is_real * state + (1 - is_real) * states[0]
            return state, [state]

        outputs, _ = recurrent_loop(step, _side_by_side(projected, is_real), [first_state], go_backwards)

        def gradient(*arguments, upstream=None):
            with gradient_scope(layer):
                d_outputs = upstream_of(arguments, upstream)
                before = _states_before(outputs, first_state, go_backwards)
                update, reset, candidate = gru_gates(projected, before, kernel)
                units, transposed = before.shape[-1], kernel.transposed()

                def step_back(inputs, states):
                    d_output, *gates, is_real = _columns(inputs, [units] * 5 + [None])
                    d_state = states[0] + d_output
                    if mask is None:
                        d_sums, d_before = back_through_gru(d_state, *gates, transposed)
                    else:
                        d_sums, d_before = back_through_gru(is_real * d_state, *gates, transposed)
                        d_before = d_before + (1 - is_real) * d_state
                    return d_sums, [d_before]

                inputs = _side_by_side(d_outputs, before, update, reset, candidate, is_real)
                d_projected, (d_first_state,) = recurrent_loop(
                    step_back, inputs, [ops.zeros_like(first_state)], not go_backwards
                )
                return d_projected, d_first_state, gradient_of_gru_kernel(d_projected, before, reset)

        return outputs, gradient

    return run(projected, first_state, _as_tensor(kernel))


def attending_gru_outputs(layer, projected, first_state, kernel, attention: AdditiveAttention):
    """The states of a GRU that attends to a source before each step, see `AlignedCell`.

    Each source belongs to one row, so this is not for a beam search.

    Args:
        layer: under whose name profiles show the gradient.
        projected: the inputs, see `RecurrentCell.project`, float32 `(batch, T, 3 * units)`.
        first_state: float32 `(batch, units)`.
        kernel: of the recurrent part, float32 `(units, 3 * units)`.
        attention: the weights and the memory of the attention to the source.

    Returns:
        The states and the weights of the source's symbols side by side, float32 `(batch, T, units + S)`.
    """

    @ops.custom_gradient
    def run(projected, first_state, matrix, state_map, vector, keys, offsets, values):
        kernel = GruKernel.of(matrix)

        def hidden_layer(queries):
            return ops.tanh(queries[:, None] + keys)  # (batch, S, attention_units)

        def step(sums, states):
            with keras.name_scope("alignment"):  # for profiles
                hidden = hidden_layer(ops.matmul(states[0], state_map))
                weights = softmax(ops.sum(hidden * vector, axis=-1) + offsets)
                context = ops.matmul(weights[:, None], values)[:, 0]
            state = next_gru_state(sums + context, states[0], kernel)
            return ops.concatenate([state, weights], axis=-1), [state]

        outputs, _ = recurrent_loop(step, projected, [first_state])

        def gradient(*arguments, upstream=None):
            with gradient_scope(layer):
                d_outputs = upstream_of(arguments, upstream)
                units, attention_units = state_map.shape
                after, all_weights = _columns(outputs, [units, None])
                d_states, d_all_weights = _columns(d_outputs, [units, None])
                before = _states_before(after, first_state)
                with keras.name_scope("alignment"):
                    queries = ops.matmul(before, state_map)
                    context = ops.matmul(all_weights, values)
                update, reset, candidate = gru_gates(projected + context, before, kernel)
                transposed, transposed_map = kernel.transposed(), ops.transpose(state_map)

                def step_back(inputs, states):
                    d_state, d_keys, d_vector = states
                    query, d_output, *gates, both_weights = _columns(inputs, [attention_units] + [units] * 5 + [None])
                    d_weights, weights = ops.split(both_weights, 2, axis=-1)
                    d_sums, d_before = back_through_gru(d_state + d_output, *gates, transposed)
                    with keras.name_scope("alignment"):
                        d_weights = d_weights + ops.matmul(values, d_sums[:, :, None])[:, :, 0]
                        d_scores = weights * (d_weights - ops.sum(weights * d_weights, axis=-1, keepdims=True))
                        hidden = hidden_layer(query)
                        d_hidden = d_scores[:, :, None] * (vector * (1 - ops.square(hidden)))
                        d_query = ops.sum(d_hidden, axis=1)
                        d_before = d_before + ops.matmul(d_query, transposed_map)
                        d_vector = d_vector + ops.sum(d_scores[:, :, None] * hidden, axis=1)
                    return ops.concatenate([d_sums, d_query], axis=-1), [d_before, d_keys + d_hidden, d_vector]

                inputs = _side_by_side(queries, d_states, before, update, reset, candidate, d_all_weights, all_weights)
                zeros = [ops.zeros_like(first_state), ops.zeros_like(keys), ops.zeros_like(keys[:, 0])]
                d_steps, (d_first_state, d_keys, d_vector) = recurrent_loop(step_back, inputs, zeros, go_backwards=True)
                d_sums, d_queries = _columns(d_steps, [3 * units, None])
                with keras.name_scope("alignment"):
                    d_state_map = product_over_steps(before, d_queries)
                    d_vector = ops.sum(d_vector, axis=0)
                    d_values = ops.matmul(ops.transpose(all_weights, (0, 2, 1)), d_sums)
                d_kernel = gradient_of_gru_kernel(d_sums, before, reset)
                return (
                    d_sums, d_first_state, d_kernel, d_state_map, d_vector, d_keys, ops.zeros_like(offsets), d_values,
                )  # fmt: skip

        return outputs, gradient

    return run(projected, first_state, *(_as_tensor(weight) for weight in (kernel, *attention)))


def _as_tensor(weight):
    """The value of a variable.

    `convert_to_tensor` leaves a variable of TensorFlow as it is, and TensorFlow's custom gradients do not take it.
    """
    return ops.convert_to_tensor(weight)[...]


def _states_before(states, first_state, go_backwards: bool = False):
    """The state before each step, in the order of the inputs: float `(batch, steps, units)`."""
    first = first_state[:, None]
    ordered = [states[:, 1:], first] if go_backwards else [first, states[:, :-1]]
    return ops.concatenate(ordered, axis=1)


def _side_by_side(*values):
    """One tensor of all that are not None. A loop of Keras reads one tensor."""
    present = [value for value in values if value is not None]
    return present[0] if len(present) == 1 else ops.concatenate(present, axis=-1)


def _columns(values, widths: list[int | None]):
    """Undo `_side_by_side`. The last width may be None: it takes the remaining columns, possibly none."""
    parts, end = [], 0
    for width in widths:
        if width is None:
            parts.append(values[..., end:])
        else:
            # The slice has an unknown width if the number of all columns is unknown.
            parts.append(ops.reshape(values[..., end : end + width], (*ops.shape(values)[:-1], width)))
            end += width
    return parts
