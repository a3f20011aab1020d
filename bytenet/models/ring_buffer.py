"""The recent inputs of all decoder blocks, and the beams they belong to."""

from collections.abc import Sequence

import numpy as np
from keras import ops

from bytenet.layers import DilatedConvolution


class RingBuffer:
    """The inputs of every block's convolution at the last R steps. The farthest tap looks R steps back.

    All blocks share one ring over time: the inputs at time t are in slot t mod R. One slice update writes the present
    inputs of all blocks, and one gather reads their past inputs. So a step takes the same time at the start and at the
    end of a sentence. (A ring of its own length for each block needs less memory, but also a scatter. On a CPU, XLA
    turns a scatter into a loop over rows.)

    A beam search does not copy the past inputs. `written_by` names, for each hypothesis and slot, the row that wrote
    the past inputs of the hypothesis. `select` rearranges only these small integers.

    State: `past`, float `(batch, R, blocks, channels)`, and `written_by`, int32 `(batch, R)`.

    Args:
        dilations: dilation rate of each block.
        kernel_size: number of taps of each block's convolution.
    """

    def __init__(self, dilations: list[int], kernel_size: int):
        # How many steps each past tap looks back, oldest first: (blocks, kernel_size - 1)
        self._steps_back = np.outer(dilations, np.arange(kernel_size - 1, 0, -1)).astype("int32")
        self.slots = int(self._steps_back.max(initial=1))

    def empty(self, batch_size, channels: int, dtype) -> dict:
        """The state before the first step: zeros, the padding of a causal convolution.

        Args:
            batch_size: number of rows, an int or an int32 scalar; with a beam, one for each hypothesis.
            channels: of the inputs of a convolution.
            dtype: of the inputs.
        """
        return {
            "past": ops.zeros((batch_size, self.slots, len(self._steps_back), channels), dtype=dtype),
            "written_by": ops.repeat(ops.arange(batch_size, dtype="int32")[:, None], self.slots, axis=1),
        }

    def read(self, state: dict, position):
        """Read the inputs of each block's past taps at time `position`.

        Returns:
            float `(blocks, batch, (kernel_size - 1) * channels)`, oldest tap first.
        """
        past, written_by = state["past"], state["written_by"]
        blocks, taps = self._steps_back.shape
        channels = past.shape[-1]
        slots = (position - self._steps_back) % self.slots  # (blocks, taps)
        rows = ops.transpose(ops.take(written_by, slots, axis=1), (1, 0, 2))  # (blocks, batch, taps)
        indices = (rows * self.slots + slots[:, None]) * blocks + np.arange(blocks, dtype="int32")[:, None, None]
        inputs = ops.take(ops.reshape(past, (-1, channels)), indices, axis=0)  # (blocks, batch, taps, channels)
        return ops.reshape(inputs, (blocks, ops.shape(past)[0], taps * channels))

    def write(self, state: dict, position, hiddens: list) -> dict:
        """The state after time `position`. `hiddens` are the inputs of the blocks, each float `(batch, channels)`."""
        slot = position % self.slots
        present = ops.stack(hiddens, axis=1)[:, None]  # (batch, 1, blocks, channels)
        rows = ops.arange(ops.shape(present)[0], dtype="int32")[:, None]
        return {
            "past": ops.slice_update(state["past"], (0, slot, 0, 0), present),
            "written_by": ops.slice_update(state["written_by"], (0, slot), rows),
        }

    def select(self, state: dict, rows) -> dict:
        """The state whose row i continues from row `rows[i]`; `rows` is int32, one for each row."""
        return state | {"written_by": ops.take(state["written_by"], rows, axis=0)}


class RingBuffers:
    """The recent inputs of causal convolutions of different shapes, without dilation.

    Convolutions whose kernels have the same shape share a `RingBuffer`, and one product serves their past taps. A
    convolution with a single tap has no past.

    State: a list with the state of each `RingBuffer`.

    Args:
        convolutions: the decoder's convolutions, built.
    """

    def __init__(self, convolutions: Sequence[DilatedConvolution]):
        self._convolutions = convolutions
        groups: dict[tuple[int, ...], list[int]] = {}
        for index, convolution in enumerate(convolutions):
            if convolution.kernel_size > 1:
                groups.setdefault(tuple(convolution.kernel.shape), []).append(index)
        self._groups = list(groups.values())
        self._channels = [shape[1] for shape in groups]
        self._rings = [RingBuffer([1] * len(group), shape[0]) for shape, group in groups.items()]

    def empty(self, rows, dtype) -> list[dict]:
        """The state before the first step.

        Args:
            rows: their number, an int or an int32 scalar; with a beam, one for each hypothesis.
            dtype: of the inputs.
        """
        return [ring.empty(rows, channels, dtype) for ring, channels in zip(self._rings, self._channels, strict=True)]

    def past_kernels(self) -> list:
        """The kernels of the past taps, cut and stacked once for all steps, for `from_past`."""
        return [ops.stack([self._convolutions[index].past_kernel() for index in group]) for group in self._groups]

    def from_past(self, state: list, position, past_kernels: list) -> list:
        """What the past taps add to the output of each convolution: float `(rows, filters)`, or None for one tap."""
        products: list = [None] * len(self._convolutions)
        for ring, ring_state, group, kernels in zip(self._rings, state, self._groups, past_kernels, strict=True):
            products_of_group = ops.matmul(ring.read(ring_state, position), kernels)  # (convolutions, rows, filters)
            for place, index in enumerate(group):
                products[index] = products_of_group[place]
        return products

    def write(self, state: list, position, inputs: list) -> list:
        """The state after time `position`. `inputs` are those of each convolution, float `(rows, channels)`."""
        return [
            ring.write(ring_state, position, [inputs[index] for index in group])
            for ring, ring_state, group in zip(self._rings, state, self._groups, strict=True)
        ]

    def select(self, state: list, rows) -> list:
        """The state whose row i continues from row `rows[i]`; `rows` is int32, one for each row."""
        return [ring.select(ring_state, rows) for ring, ring_state in zip(self._rings, state, strict=True)]
