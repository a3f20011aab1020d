"""`bytenet train` as several workers, of which one is killed."""

import re
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from itertools import product
from pathlib import Path

from bytenet.training.distribution.cluster import Cluster
from bytenet.training.distribution.launcher import worker_environments
from tests.crash.killing import Ending, Kill, run
from tests.crash.victims.training import Training
from tests.crash.victims.victim import OUTPUT

SECONDS_TO_END = 60.0
"""A worker that has not ended by then, after another one was killed, waits for it."""


class TwoWorkers(Training):
    """A run of two workers. One of them is killed, and the others must end by themselves and name it.

    A message may name a survivor, too, which had ended earlier. `messages_with_others` counts these messages.

    If a worker is killed before it has met the others, they wait for it. It is started again, and all must end well.

    Attributes:
        outcomes: what the other workers did after a kill, and how often, by the kind of the killed one.
        messages: of survivors that ended by themselves.
        messages_with_others: those that name another worker beside the killed one.
        most_seconds: between a kill and the end of the last of the other workers.
    """

    name = "training, two workers"
    watched = (None, ".", f"{OUTPUT}/checkpoints")
    workers = 2

    def __init__(self, folder: Path):
        super().__init__(folder)
        kinds = product(("chief", "other worker"), ("others ended", "others waited", "others had finished"))
        self.outcomes = Counter({f"{killed} killed and {outcome}": 0 for killed, outcome in kinds})
        self.messages = self.messages_with_others = 0
        self.most_seconds = 0.0

    def figures(self) -> dict[str, float]:
        return {
            **self.outcomes,
            "messages": self.messages,
            "messages that also name a survivor": self.messages_with_others,
            "s at most to end": self.most_seconds,
        }

    def run(self, case: Path, kill: Kill | None = None) -> Ending:
        environments = [*worker_environments(self.workers, self.environment)]
        number = kill.worker if kill else 0
        own = environments.pop(number)
        with ThreadPoolExecutor(len(environments)) as threads:
            others = [threads.submit(run, self.command(case), environment, []) for environment in environments]
            ending = run(self.command(case), own, self.watched_in(case), kill)
            killed_at = time.monotonic()
            if not ending.killed:
                return _first_failure([ending, *(other.result() for other in others)])
            if wait(others, SECONDS_TO_END).not_done:
                again = run(self.command(case), own, [])
                self._count(number, "waited")
                end = _first_failure([again, *(other.result() for other in others)])
                return end if end.code else ending
        ends = [other.result() for other in others]
        if not any(end.code for end in ends):
            self._count(number, "had finished")
            return ending
        killed = Cluster.from_environment(own).name(number)
        for end in ends:
            named = re.search("because (.*) ended or cannot be reached", end.message)
            if not named or killed not in named[1] or "--resume" not in end.message:
                return Ending(
                    end.code or 1, f"{killed} was killed, and another one says: {end.message}", ending.seconds
                )
            self.messages += 1
            self.messages_with_others += named[1] != killed
        self._count(number, "ended")
        self.most_seconds = max(self.most_seconds, time.monotonic() - killed_at)
        return ending

    def _count(self, number: int, outcome: str) -> None:
        self.outcomes[f"{'other worker' if number else 'chief'} killed and others {outcome}"] += 1


class ThreeWorkers(TwoWorkers):
    """A run of three workers, of which one is killed."""

    name = "training, three workers"
    workers = 3


def _first_failure(endings: Sequence[Ending]) -> Ending:
    """The first of some endings that is a failure; else the first."""
    return next((ending for ending in endings if ending.code), endings[0])
