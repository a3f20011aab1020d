"""`bytenet train` as two workers, of which one is killed."""

import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from bytenet.training.distribution.cluster import Cluster
from bytenet.training.distribution.launcher import worker_environments
from tests.crash.killing import Ending, Kill, run
from tests.crash.victims.training import Training
from tests.crash.victims.victim import OUTPUT

SECONDS_TO_END = 60.0
"""A worker that has not ended by then, after the other one was killed, waits for it."""


class TwoWorkers(Training):
    """A run of two workers. One of them is killed, and the other one must end by itself and name it.

    If a worker is killed before it has met the other one, that one waits for it. It is started again, and both must end
    well.

    Attributes:
        outcomes: what the other worker did after a kill, and how often.
        most_seconds: between a kill and the end of the other worker.
    """

    name = "training, two workers"
    watched = (None, ".", f"{OUTPUT}/checkpoints")
    workers = 2

    def __init__(self, folder: Path):
        super().__init__(folder)
        self.outcomes = Counter({"ended": 0, "waited": 0, "had finished": 0})
        self.most_seconds = 0.0

    def figures(self) -> dict[str, float]:
        return {**self.outcomes, "s at most to end": self.most_seconds}

    def run(self, case: Path, kill: Kill | None = None) -> Ending:
        environments = [*worker_environments(2, self.environment)]
        number = kill.worker if kill else 0
        own, of_other = environments[number], environments[1 - number]
        with ThreadPoolExecutor(1) as thread:
            other = thread.submit(run, self.command(case), of_other, [])
            ending = run(self.command(case), own, self.watched_in(case), kill)
            killed_at = time.monotonic()
            if not ending.killed:
                return _first_failure(ending, other.result())
            try:
                end = other.result(SECONDS_TO_END)
            except TimeoutError:
                again = run(self.command(case), own, [])
                self.outcomes["waited"] += 1
                end = _first_failure(again, other.result())
                return end if end.code else ending
        if end.code == 0:
            self.outcomes["had finished"] += 1
            return ending
        killed = Cluster.from_environment(own).name(number)
        if any(part not in end.message for part in (f"because {killed} ended", "--resume")):
            return Ending(end.code, f"{killed} was killed, and the other one says: {end.message}", ending.seconds)
        self.outcomes["ended"] += 1
        self.most_seconds = max(self.most_seconds, time.monotonic() - killed_at)
        return ending


def _first_failure(one: Ending, other: Ending) -> Ending:
    """The first of two endings that is a failure; else the first."""
    return other if other.code and not one.code else one
