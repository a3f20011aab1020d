"""The part of the source that each step of a decoder may attend to."""

from dataclasses import dataclass

from keras import ops

from bytenet.layers.attention.dot_attention import score_offsets


@dataclass(frozen=True)
class SourceWindow:
    """A window of the source around the position of the decoder, or the whole source.

    The centre of the window for step t of the target is the source symbol `slope · t`, rounded, but at most the last
    real one. The window has `radius` symbols on each side of its centre, and ends where the source ends. So each step
    sees at least one symbol, and a step of a search takes the same time for every length of the source.

    Lengths count the end symbol. A source of padding alone only fills a batch. Its first symbol counts as real. So each
    step of such a row sees the same in a search and in training.

    Attributes:
        radius: symbols on each side of the centre; None for the whole source.
        slope: source symbols for each target symbol, rounded to hundredths.
    """

    radius: int | None = None
    slope: float = 1.0

    def offsets(self, target_length, source_length, real_lengths, dtype):
        """The offsets of the scores of all steps.

        Args:
            target_length, source_length: padded lengths T and S.
            real_lengths: int32 `(batch,)`, of the sources.
            dtype: of the result.

        Returns:
            float `(batch, 1, T, S)`: 0 where a step may attend to a symbol, else `UNATTENDED`. T is 1 for the whole
            source, because all steps have the same offsets.
        """
        symbols = ops.arange(source_length, dtype="int32")
        real_lengths = ops.maximum(real_lengths, 1)
        is_seen = symbols < real_lengths[:, None, None]  # (batch, 1, S)
        if self.radius is not None:
            centres = self._centres(ops.arange(target_length, dtype="int32"), real_lengths)
            is_seen = is_seen & (ops.abs(symbols - centres[..., None]) <= self.radius)  # (batch, T, S)
        return score_offsets(is_seen, dtype)[:, None]

    def cut(self, position, keys, values, real_lengths):
        """The window of one step.

        Args:
            position: int32 scalar, the step of the target.
            keys, values: float `(batch, heads, S, channels)`.
            real_lengths: int32 `(batch,)`, of the sources.

        Returns:
            Keys and values, each float `(batch, heads, W, channels)`; and offsets, float `(batch, 1, 1, W)`. W is
            `2 * radius + 1`, or S for the whole source.
        """
        batch, heads, source_length, channels = ops.shape(keys)
        if self.radius is None:
            return keys, values, self.offsets(1, source_length, real_lengths, keys.dtype)
        real_lengths = ops.maximum(real_lengths, 1)
        around = ops.arange(-self.radius, self.radius + 1, dtype="int32")
        symbols = self._centres(ops.reshape(position, (1,)), real_lengths) + around  # (batch, W)
        is_seen = (symbols >= 0) & (symbols < real_lengths[:, None])
        # One gather of rows from `(batch * heads * S, channels)`.
        firsts = ops.reshape(ops.arange(batch * heads, dtype="int32"), (batch, heads, 1)) * source_length
        rows = firsts + ops.clip(symbols, 0, source_length - 1)[:, None]  # (batch, heads, W)
        keys, values = (ops.take(ops.reshape(tensor, (-1, channels)), rows, axis=0) for tensor in (keys, values))
        return keys, values, score_offsets(is_seen, keys.dtype)[:, None, None]

    def _centres(self, positions, real_lengths):
        """The centres of the windows: int32 `(T,)` and `(batch,)`, at least 1 → `(batch, T)`."""
        # In whole hundredths, so that a step and a call round in the same way.
        centres = (positions * round(self.slope * 100) + 50) // 100
        return ops.minimum(centres, real_lengths[:, None] - 1)
