"""Attention by dot products, which several families share."""

from keras import ops

from bytenet.layers.fast import apply_dropout

# Added to the score of a step that gets no attention. Finite in float16, so that a row of padding alone stays finite.
UNATTENDED = -3e4


def score_offsets(is_seen, dtype):
    """The offsets of scores: bool of any shape → float of this shape, 0 where a step is seen, else `UNATTENDED`."""
    return ops.where(is_seen, ops.cast(0.0, dtype), ops.cast(UNATTENDED, dtype))


def padding_offsets(ids, dtype):
    """The offsets of the scores of a source: int32 `(batch, S)` → float `(batch, S)`, 0 at real steps."""
    return score_offsets(ids != 0, dtype)


def causal_offsets(length, dtype):
    """The offsets of the scores of all steps for all steps: float `(length, length)`, 0 where key ≤ query."""
    steps = ops.arange(length)
    return score_offsets(steps[None, :] <= steps[:, None], dtype)


def dot_attention(queries, keys, values, offsets, dropout=None, training=False):
    """Attend to values by the dot products of queries with their keys.

    Args:
        queries: float `(..., T, channels)`, already scaled.
        keys: float `(..., S, channels)`.
        values: float `(..., S, value channels)`.
        offsets: float, to add to the scores `(..., T, S)`: 0, or `UNATTENDED` for steps that get no attention.
        dropout: a layer for the weights, or None.
        training: whether the dropout is on.

    Returns:
        The context, float `(..., T, value channels)`, and the weights, float `(..., T, S)`, which sum to 1 over S. The
        softmax is computed in float32.
    """
    scores = ops.einsum("...tc,...sc->...ts", queries, keys) + offsets
    weights = ops.cast(softmax(ops.cast(scores, "float32")), values.dtype)
    return ops.matmul(apply_dropout(dropout, weights, training), values), weights


def softmax(scores):
    """The softmax over the last axis. Keras's own warns if this axis has one item."""
    exponentials = ops.exp(scores - ops.stop_gradient(ops.max(scores, axis=-1, keepdims=True)))
    return exponentials / ops.sum(exponentials, axis=-1, keepdims=True)
