"""What a kill campaign needs to know of a command."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar

from tests.crash.contents import contents, unwhole

OUTPUT = "output"
"""What a victim writes, in the folder that it is given."""


class Victim(ABC):
    """A command that writes files, and may be killed.

    Args:
        folder: an empty folder for its inputs.

    Attributes:
        name: in the report.
        watched: folders in which a change begins a part of the work in which kills are tried, relative to the folder
            of a case.
        most_kills: of one case; then it is left to end.
        environment: variables of the command.
    """

    name: ClassVar[str]
    watched: ClassVar[Sequence[str]] = (".",)
    most_kills: ClassVar[int] = 8
    environment: ClassVar[Mapping[str, str]] = {}

    def __init__(self, folder: Path):
        self.folder = folder

    @abstractmethod
    def command(self, case: Path) -> list[str]:
        """The command that writes into the folder `case`. The same command goes on after a kill."""

    def is_done(self, case: Path) -> bool:
        """Whether the result is complete, and the command would refuse to write it again."""
        return False

    def unwhole(self, case: Path) -> list[str]:
        """What counts as whole after a kill and is not."""
        return unwhole(case)

    def contents(self, case: Path) -> dict[str, str]:
        """What is compared with the unbroken result. Leftovers are part of it."""
        return contents(case)
