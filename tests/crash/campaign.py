"""Many kills of one command, and their results.

`python -m tests.crash.campaign NAME FOLDER KILLS SEED` runs them and writes a report into the folder.
"""

import json
import sys
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path
from random import Random

from tests.crash.contents import differing, leftovers
from tests.crash.killing import Ending, Kill
from tests.crash.victims import Victim, victim_class

REPORT_NAME = "report.json"
"""Of the report in the folder of the campaign."""

# Of the kills; the others kill the processes that the command started, too.
_SHARE_ALONE = 0.5


@dataclass
class Report:
    """The results of the kills of a victim.

    Attributes:
        name: of the victim.
        kills: their number.
        cases: number of results that were made with kills, and compared with the unbroken one.
        leftovers: number of unfinished files that kills left. The next start removes or continues them.
        unwhole: files that counted as whole after a kill and were not.
        differing: files that differ from those of the uninterrupted run, or are too many or too few, by case.
        failed: commands that failed after a kill, with their messages.
        figures: further numbers of the victim.
        seconds: of all.
    """

    name: str
    kills: int = 0
    cases: int = 0
    leftovers: int = 0
    unwhole: list[str] = field(default_factory=list)
    differing: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    figures: dict[str, float] = field(default_factory=dict)
    seconds: float = 0.0


class Campaign:
    """Kills a victim at random moments, starts it again, and compares its result with that of an uninterrupted run.

    Args:
        victim: is killed.
        folder: for its results.
        seed: of the moments. How far the victim is at a moment depends on the machine, but its result may not.
    """

    def __init__(self, victim: Victim, folder: Path, seed: int):
        self.report = Report(victim.name)
        self._victim = victim
        self._folder = folder
        self._random = Random(seed)

    def run(self, kills: int) -> Report:
        """Kill the victim so many times."""
        began = time.monotonic()
        unbroken = self._case("unbroken")
        whole = self._victim.run(unbroken)
        if whole.code:
            self._fail(whole)
            return self.report
        expected = self._victim.contents(unbroken)
        while self.report.kills < kills and not self.report.failed:
            case = self._case(f"case-{self.report.cases}")
            self._kill_until_it_ends(case, min(kills - self.report.kills, self._victim.most_kills), whole.seconds)
            self.report.cases += 1
            found = self._victim.contents(case)
            self.report.differing += [f"{case.name}: {name}" for name in differing(found, expected)]
        self.report.figures = self._victim.figures()
        self.report.seconds = time.monotonic() - began
        return self.report

    def _case(self, name: str) -> Path:
        folder = self._folder / name
        folder.mkdir(parents=True)
        return folder

    def _kill_until_it_ends(self, case: Path, most_kills: int, seconds: list[float]) -> None:
        for _ in range(most_kills):
            place = self._random.randrange(len(seconds))
            moment, children = self._random.random() * seconds[place], self._random.random() >= _SHARE_ALONE
            worker = self._random.randrange(self._victim.workers)
            ending = self._victim.run(case, Kill(place, moment, children, worker))
            if not ending.killed:
                break
            self.report.kills += 1
            self.report.leftovers += len(leftovers(case))
            self.report.unwhole += [f"{case.name}: {problem}" for problem in self._victim.unwhole(case)]
            if self._victim.is_done(case):
                return
        else:
            ending = self._victim.run(case)
        if ending.code:
            self._fail(ending)

    def _fail(self, ending: Ending) -> None:
        self.report.failed.append(f"exit code {ending.code}: {ending.message}")


def main() -> None:
    """Run the victim that the arguments name."""
    name, folder, kills, seed = sys.argv[1:]
    inputs = Path(folder, "inputs")
    inputs.mkdir(parents=True)
    report = Campaign(victim_class(name)(inputs), Path(folder, "cases"), int(seed)).run(int(kills))
    Path(folder, REPORT_NAME).write_text(json.dumps(asdict(report)), encoding="utf-8")


if __name__ == "__main__":
    main()
