"""Which pairs came before, known from their hashes in a table of fixed size."""

import numpy as np

from bytenet.errors import InputError

_FULLEST = 0.75
_HASH_BYTES = 8


class SeenHashes:
    """A set of 64-bit hashes in a table whose memory is taken at once and never grows.

    Until the table is full, the answers are exact, except for different pairs with the same hash: among n pairs,
    n^2 / 2^65 of them are expected (0.00001 for 20 million). A full table remembers no further hashes. It still finds
    the duplicates of those that it has.

    Open addressing with linear probing, for many hashes at once.

    Args:
        megabytes: memory of the table. It remembers about 98,000 hashes a megabyte.

    Attributes:
        remembered: number of hashes in the table.
        forgotten: number of new hashes that came when the table was full.

    Raises:
        InputError: `megabytes` is below 1, or more than there is.
    """

    def __init__(self, megabytes: int):
        if megabytes < 1:
            raise InputError(f"The table of duplicates has {megabytes} MB; expected at least 1.")
        slots = (megabytes << 20) // _HASH_BYTES
        try:
            self._table = np.zeros(slots, np.uint64)
        except (MemoryError, ValueError) as error:
            raise InputError(
                f"There is no memory for a table of duplicates of {megabytes:,} MB. Make it smaller (--duplicates-mb)."
            ) from error
        self._capacity = int(slots * _FULLEST)
        self.remembered = 0
        self.forgotten = 0

    @property
    def nbytes(self) -> int:
        """Memory of the table."""
        return self._table.nbytes

    def add(self, hashes: np.ndarray) -> np.ndarray:
        """Add hashes.

        Args:
            hashes: int64 `(n,)`.

        Returns:
            bool `(n,)`: whether each came before, in an earlier call or earlier in this one.
        """
        keys = hashes.astype(np.uint64)
        keys[keys == 0] = 1  # 0 is an empty slot
        unique, first = np.unique(keys, return_index=True)
        order = np.argsort(first)  # the earliest are remembered if there is not room for all
        is_new = np.zeros(len(keys), bool)
        is_new[first] = self._insert(unique, order)
        return ~is_new

    def _insert(self, keys: np.ndarray, order: np.ndarray) -> np.ndarray:
        """Add different keys, those of `order` first. Returns whether each is new."""
        size = np.uint64(len(self._table))
        # A multiplication spreads keys that differ little.
        slots = (keys * np.uint64(0x9E3779B97F4A7C15) >> np.uint64(20)) % size
        is_new = np.zeros(len(keys), bool)
        pending = order
        while len(pending):
            present_keys = self._table[slots[pending]]
            empty = present_keys == 0
            free = pending[empty]
            room = self._capacity - self.remembered
            self.forgotten += max(0, len(free) - room)
            is_new[free] = True
            # Of several keys for one slot, the one written last stays. The others try the next slot.
            placed = free[:room]
            self._table[slots[placed]] = keys[placed]
            stays = self._table[slots[placed]] == keys[placed]
            self.remembered += int(stays.sum())
            collided = pending[~empty & (present_keys != keys[pending])]
            pending = np.concatenate([collided, placed[~stays]])
            slots[pending] = (slots[pending] + np.uint64(1)) % size
        return is_new
