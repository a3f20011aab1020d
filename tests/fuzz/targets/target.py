"""What a fuzzer needs to know of a reader."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import ClassVar

from hypothesis.strategies import SearchStrategy

from tests.fuzz.mutations import mutate


class Target(ABC):
    """A reader of files, valid files for it, and what must be true of what it returns.

    Args:
        folder: an empty folder for the target's files.

    Attributes:
        name: in the report, and of the folder of its findings.
        suffix: of the files.
        tokens: words of the format, for mutations.
    """

    name: ClassVar[str]
    suffix: ClassVar[str] = ""
    tokens: ClassVar[Sequence[bytes]] = ()

    def __init__(self, folder: Path):
        self.folder = folder
        self.path = folder / f"case{self.suffix}"
        self.seeds = self.make_seeds()

    @abstractmethod
    def make_seeds(self) -> list[bytes]:
        """Valid files, which mutations damage."""

    @abstractmethod
    def read(self) -> None:
        """Read the file at `path`.

        Raises:
            InputError: the file is refused.
            AssertionError: what was read is wrong, or a refused file has changed something.
        """

    def mutated(self, random: Random) -> bytes:
        """A damaged file."""
        return mutate(random.choice(self.seeds), random, self.tokens)

    def generated(self) -> SearchStrategy[bytes] | None:
        """Files of the right form with values at random, or None."""
        return None
