"""The encoded pairs of a prepared run, and the batches made of them."""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import numpy as np

from bytenet.datasets.batches.encoded_pairs import encoded_pair_lengths
from bytenet.datasets.batches.plan import BatchPlan, fill_rows, length_groups
from bytenet.datasets.text.encoding import EncodedTexts
from bytenet.errors import InputError
from bytenet.saved.array_file import open_arrays

Batch = tuple[dict[str, np.ndarray], np.ndarray, np.ndarray]
"""Inputs, targets, and the weights of the rows."""

UnweightedBatch = tuple[dict[str, np.ndarray], np.ndarray]
"""Inputs and targets."""


@dataclass(frozen=True, eq=False)
class PreparedPairs:
    """Encoded pairs: all sources, and after them all targets.

    Attributes:
        texts: the sources and the targets.
    """

    texts: EncodedTexts

    @classmethod
    def load(cls, path: Path) -> Self:
        """Read what `save` wrote.

        Raises:
            InputError: the file is damaged.
        """
        try:
            with open_arrays(path) as arrays:
                return cls(EncodedTexts(arrays.read("ids"), arrays.read("starts")))
        except InputError as error:
            raise InputError(f"{path} is damaged ({error}). Copy it again, or prepare the run again.") from error

    def save(self, path: Path) -> None:
        """Write the ids to a new file."""
        with open(path, "xb") as file:
            np.savez(file, ids=self.texts.ids, starts=self.texts.starts)

    def __len__(self) -> int:
        return len(self.texts.lengths) // 2

    @property
    def lengths(self) -> np.ndarray:
        """int64 `(pairs,)`: the length of the longer side of each pair, end symbol counted."""
        return encoded_pair_lengths(self.texts)

    @property
    def target_characters(self) -> int:
        """Number of target symbols of all pairs, end symbols counted."""
        return int(self.texts.lengths[len(self) :].sum())

    def training_batches(self, plan: BatchPlan, seed: int, epoch: int, loss: str) -> Iterator[Batch]:
        """The batches of `bytenet.datasets.training_dataset` as arrays, from the beginning of an epoch on, endless."""
        while True:
            for planned in plan.epoch(seed, epoch):
                source_ids, target_ids = self._rows(planned.indices, planned.length)
                yield _inputs(source_ids, target_ids), target_ids, loss_weights(target_ids, loss)
            epoch += 1

    def evaluation_batches(self, padded_lengths: Sequence[int], batch_size: int) -> list[UnweightedBatch]:
        """All pairs once.

        Args:
            padded_lengths: of the training's batches. Longer pairs are padded to the longest of them.
            batch_size: rows of each batch. The last rows may be empty.
        """
        batches = []
        for length, members in length_groups(self.lengths, padded_lengths):
            for start in range(0, len(members), batch_size):
                indices = fill_rows(members[start : start + batch_size], batch_size)
                source_ids, target_ids = self._rows(indices, length)
                batches.append((_inputs(source_ids, target_ids), target_ids))
        return batches

    def fingerprint(self) -> str:
        """A digest of the pairs."""
        digest = hashlib.sha256(self.texts.ids.tobytes())
        digest.update(self.texts.starts.tobytes())
        return digest.hexdigest()

    def _rows(self, indices: np.ndarray, length: int) -> tuple[np.ndarray, np.ndarray]:
        """The sources and the targets of some pairs, int32 `(rows, length)`; -1 is an empty row."""
        source_ids, target_ids = (self._padded(indices, side * len(self), length) for side in range(2))
        return source_ids, target_ids

    def _padded(self, indices: np.ndarray, first: int, length: int) -> np.ndarray:
        ids, starts = self.texts.ids, self.texts.starts
        texts = np.maximum(indices, 0) + first
        places = starts[texts][:, None] + np.arange(length)
        inside = (places < starts[texts + 1][:, None]) & (indices >= 0)[:, None]
        return np.where(inside, ids[np.where(inside, places, 0)], 0).astype(np.int32)


def loss_weights(target_ids: np.ndarray, loss: str) -> np.ndarray:
    """`bytenet.datasets.loss_weights` of arrays, float32."""
    is_real = target_ids[:, 0] != 0  # every text has an end symbol
    count = is_real.sum() if loss == "sentence" else np.count_nonzero(target_ids)
    return (is_real * (len(target_ids) / count)).astype(np.float32)


def _inputs(source_ids: np.ndarray, target_ids: np.ndarray) -> dict[str, np.ndarray]:
    return {"source_ids": source_ids, "target_ids": target_ids}
