"""The rows of a batch: one for each source, each target or each hypothesis of a beam."""

import keras


def rows_of_parents(parents):
    """The row of each parent among the hypotheses of all sources: int32 `(batch, b)` → `(batch * b,)`."""
    batch, beam_size = keras.ops.shape(parents)
    firsts = keras.ops.arange(batch, dtype="int32")[:, None] * beam_size
    return keras.ops.reshape(firsts + parents, (-1,))


def repeat_for_beams(values, previous_ids):
    """Repeat the rows of a tensor, so that each hypothesis has a row.

    Args:
        values: float `(batch, channels)`, a row for each source.
        previous_ids: int32 `(batch * beam_size,)`.

    Returns:
        float `(batch * beam_size, channels)`.
    """
    ops = keras.ops
    batch, hypotheses = ops.shape(values)[0], ops.shape(previous_ids)[0]
    if isinstance(batch, int) and batch == hypotheses:
        return values
    channels = values.shape[-1]
    repeated = ops.broadcast_to(values[:, None], (batch, hypotheses // batch, channels))
    return ops.reshape(repeated, (hypotheses, channels))


def previous_symbols(target_ids):
    """What the decoder reads: int32 `(batch, T)` targets → the symbol before each; 0 before the first one."""
    return keras.ops.pad(target_ids, [[0, 0], [1, 0]])[:, :-1]


def memory_of_targets(memory, source_ids, target_ids):
    """Repeat the rows of a memory, so that each target has a row.

    Args:
        memory: the memory of the sources, a nest of tensors whose first axis is the batch.
        source_ids: int32 `(batch, S)`.
        target_ids: int32 `(k * batch, T)`. If a number of rows is not known, k is 1.

    Raises:
        ValueError: the number of targets is known and no multiple of the number of sources.
    """
    sources, targets = source_ids.shape[0], target_ids.shape[0]
    if sources is None or targets is None or sources == targets:
        return memory
    if not sources or targets % sources:
        raise ValueError(f"{targets} targets for {sources} sources; expected the same number for each source.")
    return keras.tree.map_structure(lambda tensor: keras.ops.repeat(tensor, targets // sources, axis=0), memory)
