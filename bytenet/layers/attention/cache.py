"""The keys and values of the steps that a decoder has written, for the hypotheses of a beam search."""

from keras import ops

from bytenet.layers.attention.dot_attention import score_offsets


class AttentionCache:
    """Keys and values of self-attention, with one slot for each step.

    A beam search does not copy them. Each step writes its keys and values into its slot, one row for each hypothesis of
    a source. `writers` names, for each hypothesis and slot, the hypothesis of the same source that wrote this step of
    its past. `select` rearranges only these small integers. A hypothesis computes the scores of all rows of its source
    in one product, and offsets hide those that are not its past.

    State: `keys` and `values`, for each layer float `(batch, heads, max_length, beam_size, width)`; and, with more than
    one hypothesis, `writers`, int32 `(batch, beam_size, max_length)`.

    Args:
        num_layers: number of layers with self-attention.
        heads: number of heads.
        head_dim, value_dim: widths of the keys and of the values of a head.
    """

    def __init__(self, num_layers: int, heads: int, head_dim: int, value_dim: int):
        self._num_layers = num_layers
        self._heads = heads
        self._widths = {"keys": head_dim, "values": value_dim}

    def empty(self, batch, max_length: int, beam_size: int, dtype) -> dict:
        """The state before the first step.

        Args:
            batch: number of sources, an int or an int32 scalar.
            max_length: number of slots, an int or an int32 scalar.
            beam_size: number of hypotheses of each source.
            dtype: of the keys and values.
        """
        shape = (batch, self._heads, max_length, beam_size)
        state = {
            name: [ops.zeros((*shape, width), dtype=dtype) for _ in range(self._num_layers)]
            for name, width in self._widths.items()
        }
        if beam_size > 1:
            state["writers"] = ops.zeros((batch, beam_size, max_length), dtype="int32")
        return state

    def begin(self, state: dict, position, dtype):
        """Begin the step at a position.

        Args:
            state: the result of `empty`, or of the last `write` of the step before.
            position: int32 scalar, from 0 to `max_length - 1`. It is not checked.
            dtype: of the offsets.

        Returns:
            The state, and the offsets of this step's scores: float `(batch, 1, beam_size, max_length * beam_size)`, or
            `(1, 1, 1, max_length)` for one hypothesis.
        """
        max_length, beam_size = ops.shape(state["keys"][0])[2:4]
        is_past = ops.arange(max_length, dtype="int32") <= position
        if "writers" not in state:
            return state, score_offsets(is_past, dtype)[None, None, None]
        hypotheses = ops.arange(beam_size, dtype="int32")
        writers_of_step = ops.broadcast_to(hypotheses[None, :, None], (*ops.shape(state["writers"])[:2], 1))
        writers = ops.slice_update(state["writers"], (0, 0, position), writers_of_step)
        is_own = (writers[..., None] == hypotheses) & is_past[:, None]  # (batch, beam_size, max_length, beam_size)
        offsets = ops.reshape(score_offsets(is_own, dtype), (-1, 1, beam_size, max_length * beam_size))
        return state | {"writers": writers}, offsets

    def write(self, state: dict, layer: int, position, keys, values):
        """Write the keys and values of one step of a layer.

        Args:
            state: the result of `begin`, or of `write` for the layer below.
            layer: number of the layer.
            position: as for `begin`.
            keys, values: float `(batch, heads, beam_size, width)`.

        Returns:
            The state; and all keys and all values of the layer, each float
            `(batch, heads, max_length * beam_size, width)`.
        """
        state, written_rows = dict(state), []
        for name, present in (("keys", keys), ("values", values)):
            written = ops.slice_update(state[name][layer], (0, 0, position, 0, 0), present[:, :, None])
            state[name] = [*state[name][:layer], written, *state[name][layer + 1 :]]
            batch, heads, max_length, beam_size, width = ops.shape(written)
            written_rows.append(ops.reshape(written, (batch, heads, max_length * beam_size, width)))
        return state, *written_rows

    def select(self, state: dict, rows) -> dict:
        """The state whose hypothesis i continues from hypothesis `rows[i]` of all sources; int32 `(rows,)`."""
        if "writers" not in state:
            return state
        shape = ops.shape(state["writers"])
        writers = ops.take(ops.reshape(state["writers"], (-1, shape[-1])), rows, axis=0)
        return state | {"writers": ops.reshape(writers, shape)}
