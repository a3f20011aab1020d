"""`bytenet data shard`."""

import sys
from pathlib import Path
from random import Random

from bytenet.datasets.shards.folder import ShardFolder, index_path
from tests.crash.victims.victim import OUTPUT, Victim


class Shards(Victim):
    """A sharding with two processes that write. It begins anew after a kill.

    Args:
        folder: as for every victim.
        num_pairs: of the corpus.
    """

    name = "data shard"

    def __init__(self, folder: Path, num_pairs: int = 400_000):
        super().__init__(folder)
        self._input = folder / "pairs.tsv"
        random = Random(1)
        with open(self._input, "w", encoding="utf-8") as file:
            for number in range(num_pairs):
                words = random.choices(("ein", "Haus", "für", "die", "Größe"), k=random.randrange(1, 9))
                file.write(f"{' '.join(words)} {number}\t{' '.join(reversed(words))} {number}.\n")

    def command(self, case: Path) -> list[str]:
        out = str(case / OUTPUT)
        options = ("--shards", "6", "--processes", "2")
        return [sys.executable, "-m", "bytenet", "data", "shard", str(self._input), out, *options]

    def is_done(self, case: Path) -> bool:
        return index_path(case / OUTPUT).exists()

    def unwhole(self, case: Path) -> list[str]:
        """Only the index makes a folder of shards."""
        if not self.is_done(case):
            return []
        ShardFolder.open(case / OUTPUT).check()
        return super().unwhole(case)
