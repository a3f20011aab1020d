"""The LiteRT model of a `.bytenet` file that also has weights for TensorFlow. The file has shared weights once.

Both models have the same numbers, often with another order of the axes. So `model.tflite` is stored without the parts
that are copies of `weights.safetensors`, and `copies.json` says where they belong.
"""

import itertools
import json
import math
from collections.abc import Iterator
from dataclasses import astuple, dataclass, replace
from typing import Any

import numpy as np

from bytenet.errors import InputError
from bytenet.lite.archive import COPIES, LITE_MODEL, WEIGHTS, Archive

_ALIGNMENT = 4  # bytes; the weights of a LiteRT model begin at its multiples
_BEGINNING = 16  # bytes that are looked up
_FEWEST_BYTES = 256  # of a copy; a smaller one is not worth its line
_MOST_COPIES = 8  # times the size of all weights, so that a small file cannot become a large model


@dataclass(frozen=True)
class _Copy:
    """A part of the LiteRT model that is a weight, or one tap of a convolution's weight.

    Attributes:
        place: its first byte in the LiteRT model.
        start: its first byte in the file of weights.
        item_bytes: size of a number, in bytes.
        shape: its shape in the file of weights.
        axes: those axes in the order that the LiteRT model has.
    """

    place: int
    start: int
    item_bytes: int
    shape: tuple[int, ...]
    axes: tuple[int, ...]

    @classmethod
    def from_json(cls, values: Any) -> "_Copy":
        """Check the types of the values.

        Raises:
            ValueError, TypeError: they are not those of a copy.
        """
        place, start, item_bytes, shape, axes = values
        if not all(type(value) is int and value >= 0 for value in (place, start, item_bytes, *shape, *axes)):
            raise ValueError("a place or a size is no number")
        return cls(place, start, item_bytes, tuple(shape), tuple(axes))

    @property
    def size(self) -> int:
        """In bytes."""
        return self.item_bytes * math.prod(self.shape)

    def content(self, weights: bytes) -> bytes:
        """The bytes of the LiteRT model.

        Raises:
            ValueError, TypeError: the file of weights has no such part.
        """
        values = np.frombuffer(weights, f"u{self.item_bytes}", math.prod(self.shape), self.start)
        return values.reshape(self.shape).transpose(self.axes).tobytes()


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
        if sum(copy.size for copy in copies) > _MOST_COPIES * len(weights):
            raise ValueError("the copies are too large")
        return _with_copies(stored, copies, weights)
    except (ValueError, TypeError, KeyError, OverflowError) as error:
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


def _with_copies(stored: bytes, copies: list[_Copy], weights: bytes) -> bytes:
    parts, taken, length = [], 0, 0
    for copy in copies:
        gap = copy.place - length
        if not 0 <= gap <= len(stored) - taken:
            raise ValueError(f"there is no place {copy.place:,}")
        parts += [stored[taken : taken + gap], copy.content(weights)]
        taken, length = taken + gap, copy.place + copy.size
    return b"".join([*parts, stored[taken:]])


def _without_copies(model: bytes, copies: list[_Copy]) -> bytes:
    ends = [0, *(copy.place + copy.size for copy in copies)]
    places = [*(copy.place for copy in copies), len(model)]
    return b"".join(model[end:place] for end, place in zip(ends, places, strict=True))


def _find_copies(model: bytes, weights: bytes) -> list[_Copy]:
    """The parts of a LiteRT model that are copies, in their order."""
    candidates: dict[bytes, list[tuple[_Copy, bytes]]] = {}
    for copy, content in sorted(_candidates(weights), key=lambda candidate: -candidate[0].size):
        candidates.setdefault(content[:_BEGINNING], []).append((copy, content))
    candidates.pop(bytes(_BEGINNING), None)  # zeros are in many places
    copies: list[_Copy] = []
    place = 0
    while place < len(model):
        for copy, content in candidates.get(model[place : place + _BEGINNING], []):
            if model.startswith(content, place):
                copies.append(replace(copy, place=place))
                place += copy.size
                break
        else:
            place += _ALIGNMENT
    return copies


def _candidates(weights: bytes) -> Iterator[tuple[_Copy, bytes]]:
    """What may be in a LiteRT model: each weight and each tap of a convolution, in every order of the axes."""
    header_end = 8 + int.from_bytes(weights[:8], "little")
    for name, entry in json.loads(weights[8:header_end]).items():
        if name == "__metadata__":
            continue
        start, end = (header_end + offset for offset in entry["data_offsets"])
        shape = tuple(entry["shape"])
        parts = [(start, shape)]
        if len(shape) == 3 and shape[0] > 1:
            tap_bytes = (end - start) // shape[0]
            parts += [(start + tap * tap_bytes, shape[1:]) for tap in range(shape[0])]
        for first, part_shape in parts:
            item_bytes = (end - start) // max(1, math.prod(shape))
            for axes in itertools.permutations(range(len(part_shape))):
                copy = _Copy(0, first, item_bytes, part_shape, axes)
                if copy.size >= _FEWEST_BYTES:
                    yield copy, copy.content(weights)
