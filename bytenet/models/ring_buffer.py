"""The recent past of all decoder blocks, and which beam it belongs to."""

import numpy as np
from keras import ops


class RingBuffer:
    """Inputs of every block's convolution at the last steps, as many as the farthest tap looks back.

    All blocks share one ring over time: the inputs at time t lie in slot t mod R. So one slice update writes the
    present of all blocks and one gather reads the past of all, whatever t is, and a step costs the same at the start
    and at the end of a sentence. (A ring of its own length for each block would take less room but needs a scatter,
    which XLA makes a loop over rows on a CPU.)

    Beams do not move what is stored. A hypothesis that goes on from another row notes, for each slot, the row that
    the past was written by; `select` renumbers these notes, small integers, instead of copying the past itself.

    State: `past`, float `(batch, R, blocks, channels)`, and `written_by`, int32 `(batch, R)`.

    Args:
        dilations: dilation rate of each block.
        kernel_size: taps of each block's convolution.
    """

    def __init__(self, dilations: list[int], kernel_size: int):
        # Steps back of each tap but the present one, oldest first: (blocks, kernel_size - 1)
        self._steps_back = np.outer(dilations, np.arange(kernel_size - 1, 0, -1)).astype("int32")
        self.slots = int(self._steps_back.max(initial=1))

    def empty(self, batch_size, channels: int, dtype) -> dict:
        """The state before the first step: zeros, as a convolution sees before its input begins."""
        return {
            "past": ops.zeros((batch_size, self.slots, len(self._steps_back), channels), dtype=dtype),
            "written_by": ops.repeat(ops.arange(batch_size, dtype="int32")[:, None], self.slots, axis=1),
        }

    def read(self, state: dict, position):
        """What each block's earlier taps see at time `position`.

        Returns:
            float `(blocks, batch, (kernel_size - 1) * channels)`, oldest tap first.
        """
        past, written_by = state["past"], state["written_by"]
        blocks, taps = self._steps_back.shape
        channels = past.shape[-1]
        slots = (position - self._steps_back) % self.slots  # (blocks, taps)
        rows = ops.transpose(ops.take(written_by, slots, axis=1), (1, 0, 2))  # (blocks, batch, taps)
        places = (rows * self.slots + slots[:, None]) * blocks + np.arange(blocks, dtype="int32")[:, None, None]
        found = ops.take(ops.reshape(past, (-1, channels)), places, axis=0)  # (blocks, batch, taps, channels)
        return ops.reshape(found, (blocks, ops.shape(past)[0], taps * channels))

    def write(self, state: dict, position, hiddens: list) -> dict:
        """The state with each block's input at time `position`, float `(batch, channels)` each, put in."""
        slot = position % self.slots
        present = ops.stack(hiddens, axis=1)[:, None]  # (batch, 1, blocks, channels)
        rows = ops.arange(ops.shape(present)[0], dtype="int32")[:, None]
        return {
            "past": ops.slice_update(state["past"], (0, slot, 0, 0), present),
            "written_by": ops.slice_update(state["written_by"], (0, slot), rows),
        }

    def select(self, state: dict, rows) -> dict:
        """The state of hypotheses that each go on from one of `rows`, int32 `(batch,)`."""
        return state | {"written_by": ops.take(state["written_by"], rows, axis=0)}
