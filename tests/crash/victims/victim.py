"""What a kill campaign needs to know of a command."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar

from tests.crash.contents import contents, unwhole
from tests.crash.killing import Ending, Kill, run

OUTPUT = "output"
"""What a victim writes, in the folder that it is given."""


class Victim(ABC):
    """A command that writes files, and may be killed.

    Args:
        folder: an empty folder for its inputs.

    Attributes:
        name: in the report.
        watched: folders in which a change begins a part of the work in which kills are tried, relative to the folder
            of a case. None means the start of the command.
        most_kills: of one case; then it is left to end.
        workers: processes of which one is killed.
        environment: variables of the command.
    """

    name: ClassVar[str]
    watched: ClassVar[Sequence[str | None]] = (".",)
    most_kills: ClassVar[int] = 8
    workers: ClassVar[int] = 1
    environment: ClassVar[Mapping[str, str]] = {}

    def __init__(self, folder: Path):
        self.folder = folder

    @abstractmethod
    def command(self, case: Path) -> list[str]:
        """The command that writes into the folder `case`. The same command goes on after a kill."""

    def run(self, case: Path, kill: Kill | None = None) -> Ending:
        """Run the command to its end, or kill it. An exit code other than 0 and that of the kill is a failure."""
        return run(self.command(case), self.environment, self.watched_in(case), kill)

    def watched_in(self, case: Path) -> list[Path | None]:
        """The watched folders of a case."""
        return [None if name is None else case / name for name in self.watched]

    def figures(self) -> dict[str, float]:
        """Further numbers for the report, by name."""
        return {}

    def is_done(self, case: Path) -> bool:
        """Whether the result is complete, and the command would refuse to write it again."""
        return False

    def unwhole(self, case: Path) -> list[str]:
        """What counts as whole after a kill and is not."""
        return unwhole(case)

    def contents(self, case: Path) -> dict[str, str]:
        """What is compared with the unbroken result. Leftovers are part of it."""
        return contents(case)
