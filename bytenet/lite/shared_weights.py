"""The LiteRT model of a `.bytenet` file that also has weights for TensorFlow. The file has shared weights once.

Both models have the same numbers, often with another order of the axes. So `model.tflite` is stored without the parts
that are copies of `weights.safetensors`, and `copies.json` says where they belong.
"""

import io
import itertools
import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import astuple, dataclass, replace
from typing import Any

import numpy as np

from bytenet.errors import InputError
from bytenet.lite.archive import COPIES, LITE_MODEL, MOST_BYTES, WEIGHTS, Archive

_ALIGNMENT = 4  # bytes; the weights of a LiteRT model begin at its multiples
_BEGINNING = 16  # bytes that are looked up
_FEWEST_BYTES = 256  # of a copy; for a smaller one, its entry in the list would take as much
_MOST_AXES = 4
_MOST_TAPS = 64
_MOST_EXPANSION = 3  # bytes of all copies for each byte of the weights. The pretrained models have 1.3.


@dataclass(frozen=True)
class _Copy:
    """A part of the LiteRT model that is a weight, or one tap of a convolution's weight.

    Attributes:
        model_offset: its first byte in the LiteRT model.
        weights_offset: its first byte in the file of weights.
        item_bytes: size of a number, in bytes.
        shape: its shape in the file of weights, without axes of size 1.
        axes: those axes in the order that the LiteRT model has.
    """

    model_offset: int
    weights_offset: int
    item_bytes: int
    shape: tuple[int, ...]
    axes: tuple[int, ...]

    @classmethod
    def from_json(cls, values: Any) -> "_Copy":
        """Check the values of a copy.

        Raises:
            ValueError, TypeError: they are something else, or too large.
        """
        model_offset, weights_offset, item_bytes, shape, axes = values
        numbers = model_offset, weights_offset, item_bytes, *shape, *axes
        if not all(type(number) is int and 0 <= number <= MOST_BYTES for number in numbers):
            raise ValueError(f"an offset or a size is not a whole number from 0 to {MOST_BYTES:,}")
        if item_bytes not in (1, 2, 4, 8) or len(shape) > _MOST_AXES:
            raise ValueError("a copy is not an array of numbers")
        copy = cls(model_offset, weights_offset, item_bytes, tuple(shape), tuple(axes))
        if copy.size < _FEWEST_BYTES:
            raise ValueError("a copy is too small")
        return copy

    @property
    def size(self) -> int:
        """In bytes."""
        return self.item_bytes * math.prod(self.shape)

    def values(self, weights: bytes) -> np.ndarray:
        """The numbers in the order of the LiteRT model, as unsigned integers.

        Raises:
            ValueError, TypeError: the file of weights has no such part.
        """
        numbers = np.frombuffer(weights, f"u{self.item_bytes}", math.prod(self.shape), self.weights_offset)
        return numbers.reshape(self.shape).transpose(self.axes)


def read_lite_model(archive: Archive) -> bytes:
    """The whole LiteRT model of a file.

    Raises:
        InputError: the file has none, or is damaged.
    """
    stored = archive.read(LITE_MODEL)
    if COPIES not in archive:
        return stored
    weights, listed = archive.read(WEIGHTS), archive.read_json(COPIES)
    try:
        copies = [_Copy.from_json(values) for values in listed["copies"]]
        copied = sum(copy.size for copy in copies)
        if copied > _MOST_EXPANSION * len(weights) or copied + len(stored) > MOST_BYTES:
            raise ValueError("the copies are too large")
        return _with_copies(stored, copies, weights)
    except (ValueError, TypeError, KeyError) as error:
        raise InputError(
            f"{COPIES} of {archive.path} does not fit {LITE_MODEL} and {WEIGHTS}: {error}. Export the model again."
        ) from error


def entries_with_shared_weights(model: bytes, weights: bytes) -> dict[str, bytes]:
    """The entries of a file for a LiteRT model and for the weights of the same model, in the form of safetensors."""
    copies = _find_copies(model, weights)
    if not copies:
        return {LITE_MODEL: model, WEIGHTS: weights}
    stored = _without_copies(model, copies)
    if _with_copies(stored, copies, weights) != model:
        raise AssertionError("the copies do not give the model back")
    listed = {"copies": [astuple(copy) for copy in copies]}
    return {LITE_MODEL: stored, COPIES: json.dumps(listed).encode(), WEIGHTS: weights}


def _with_copies(stored: bytes, copies: Sequence[_Copy], weights: bytes) -> bytes:
    model, position = io.BytesIO(), 0
    for copy in copies:
        gap = copy.model_offset - model.tell()
        if not 0 <= gap <= len(stored) - position:
            raise ValueError(f"there is no place {copy.model_offset:,}")
        model.write(stored[position : position + gap])
        model.write(copy.values(weights).tobytes())
        position += gap
    model.write(stored[position:])
    return model.getvalue()


def _without_copies(model: bytes, copies: Sequence[_Copy]) -> bytes:
    ends = [0, *(copy.model_offset + copy.size for copy in copies)]
    beginnings = [*(copy.model_offset for copy in copies), len(model)]
    return b"".join(model[end:beginning] for end, beginning in zip(ends, beginnings, strict=True))


def _find_copies(model: bytes, weights: bytes) -> list[_Copy]:
    """The parts of a LiteRT model that are copies, in their order."""
    candidates: dict[bytes, list[_Copy]] = {}
    for copy in sorted(_candidates(weights), key=lambda copy: -copy.size):
        numbers = copy.values(weights).flat[: _BEGINNING // copy.item_bytes]
        candidates.setdefault(numbers.tobytes(), []).append(copy)
    candidates.pop(bytes(_BEGINNING), None)  # zeros are in many places
    copies: list[_Copy] = []
    offset = 0
    while offset < len(model):
        for copy in candidates.get(model[offset : offset + _BEGINNING], []):
            if model.startswith(copy.values(weights).tobytes(), offset):
                copies.append(replace(copy, model_offset=offset))
                offset += -(-copy.size // _ALIGNMENT) * _ALIGNMENT
                break
        else:
            offset += _ALIGNMENT
    return copies


def _candidates(weights: bytes) -> Iterator[_Copy]:
    """What may be in a LiteRT model: each weight and each tap of a convolution, in every order of the axes."""
    header_end = 8 + int.from_bytes(weights[:8], "little")
    for name, entry in json.loads(weights[8:header_end]).items():
        if name == "__metadata__":
            continue
        start, end = (header_end + offset for offset in entry["data_offsets"])
        shape = tuple(entry["shape"])
        item_bytes = (end - start) // max(1, math.prod(shape))
        parts = [(start, shape)]
        if len(shape) == 3 and 1 < shape[0] <= _MOST_TAPS:
            parts += [(offset, shape[1:]) for offset in range(start, end, (end - start) // shape[0])]
        for offset, part_shape in parts:
            axes_sizes = tuple(size for size in part_shape if size != 1)
            if item_bytes * math.prod(axes_sizes) >= _FEWEST_BYTES and len(axes_sizes) <= _MOST_AXES:
                for axes in itertools.permutations(range(len(axes_sizes))):
                    yield _Copy(0, offset, item_bytes, axes_sizes, axes)
