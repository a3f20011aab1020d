"""The equations of a GRU, see `RecurrentCell`, and their gradients."""

from collections.abc import Callable
from typing import NamedTuple

import keras
from keras import ops


class GruKernel(NamedTuple):
    """The recurrent matrix, divided in two. A loop divides it once, because dividing it in each step costs time.

    Attributes:
        gates: of the update gate and the reset gate, float `(units, 2 * units)`.
        candidate: float `(units, units)`.
    """

    gates: object
    candidate: object

    @classmethod
    def of(cls, matrix):
        """Divide the matrix, float `(units, 3 * units)`."""
        units = matrix.shape[0]
        return cls(matrix[:, : 2 * units], matrix[:, 2 * units :])

    def transposed(self):
        """Both matrices with rows and columns exchanged, for `back_through_gru`."""
        return GruKernel(ops.transpose(self.gates), ops.transpose(self.candidate))


def _unchanged(sums, first_gate: int):
    return sums


def gru_gates(sums, before, kernel: GruKernel, normalized: Callable = _unchanged):
    """The update gate, the reset gate and the candidate, float `(..., units)` each.

    Args:
        sums: the inputs of the gates, in the order update, reset, candidate: see `RecurrentCell.project`. Float
            `(..., 3 * units)`.
        before: the state before the step, float `(..., units)`.
        kernel: of the recurrent part.
        normalized: changes the sums of some gates. Called with them, and with the number of their first gate.
    """
    with keras.name_scope("recurrent_cell"):  # for profiles
        units = before.shape[-1]
        of_gates = sums[..., : 2 * units] + ops.matmul(before, kernel.gates)
        gates = ops.sigmoid(normalized(of_gates, 0))
        update, reset = gates[..., :units], gates[..., units:]
        of_candidate = sums[..., 2 * units :] + ops.matmul(reset * before, kernel.candidate)
        return update, reset, ops.tanh(normalized(of_candidate, 2))


def next_gru_state(sums, before, kernel: GruKernel, normalized: Callable = _unchanged):
    """The state after a step, float `(batch, units)`. For the arguments see `gru_gates`."""
    update, _, candidate = gru_gates(sums, before, kernel, normalized)
    with keras.name_scope("recurrent_cell"):  # for profiles
        return before + update * (candidate - before)


def back_through_gru(d_state, before, update, reset, candidate, transposed: GruKernel):
    """The gradients of the sums and of the state before a step, from the gradient of the state after it.

    Args:
        d_state: the gradient, float `(batch, units)`.
        before: the state before the step, float `(batch, units)`.
        update, reset, candidate: of the step, see `gru_gates`.
        transposed: the transposed matrices of the recurrent part.

    Returns:
        Float `(batch, 3 * units)` and `(batch, units)`.
    """
    with keras.name_scope("recurrent_cell"):  # for profiles
        d_candidate = d_state * update * (1 - ops.square(candidate))
        d_reset_state = ops.matmul(d_candidate, transposed.candidate)
        d_update = d_state * (candidate - before) * update * (1 - update)
        d_reset = d_reset_state * before * reset * (1 - reset)
        d_gates = ops.concatenate([d_update, d_reset], axis=-1)
        d_before = d_state * (1 - update) + d_reset_state * reset
        d_before = d_before + ops.matmul(d_gates, transposed.gates)
        return ops.concatenate([d_gates, d_candidate], axis=-1), d_before


def gradient_of_gru_kernel(d_sums, before, reset):
    """The gradient of the recurrent part's matrix: float `(units, 3 * units)`."""
    with keras.name_scope("recurrent_cell"):  # for profiles
        units = before.shape[-1]
        of_gates = product_over_steps(before, d_sums[..., : 2 * units])
        of_candidate = product_over_steps(reset * before, d_sums[..., 2 * units :])
        return ops.concatenate([of_gates, of_candidate], axis=-1)


def product_over_steps(inputs, gradients):
    """The gradient of a matrix: float `(batch, steps, m)` and `(batch, steps, n)` → `(m, n)`."""
    rows, row_gradients = (ops.reshape(values, (-1, values.shape[-1])) for values in (inputs, gradients))
    return ops.matmul(ops.transpose(rows), row_gradients)
