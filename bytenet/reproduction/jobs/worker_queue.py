"""Which training comes next: trial by trial, what others start from first, what shares a compiled model together."""

import threading
from collections.abc import Collection, Sequence

from bytenet.reproduction.jobs.training_run import Training


class TrainingQueue:
    """Trainings that wait for one of several threads to do them.

    First come those that have a process each, then those that are trained together: so processes that stay, with their
    compiled models, do not lie idle beside others. Within each, one seed comes after the other, in the order given, but
    a thread goes on with the models that it has compiled as long as the seed has trainings for them.

    Args:
        trainings: in order. What one starts from is among them, or finished.
    """

    def __init__(self, trainings: Sequence[Training]):
        self._waiting = list(trainings)
        self._places = {training.folder: place for place, training in enumerate(trainings)}
        self._open = set(self._places)
        self._compiled: set[str] = set()
        self._closed = False
        self._changed = threading.Condition()

    def take(self, compiled: Collection[str]) -> Training | None:
        """The next training; waits until there is one that can begin.

        Args:
            compiled: for which `together` the one who asks has models.

        Returns:
            The training, which then counts as under way; None when nothing is left or the queue was closed.
        """
        with self._changed:
            while self._waiting and not self._closed:
                ready = [training for training in self._waiting if not training.after & self._open]
                if ready:
                    chosen = min(ready, key=lambda training: self._order(training, compiled))
                    self._waiting.remove(chosen)
                    self._compiled.add(chosen.run.together)
                    return chosen
                self._changed.wait()
            return None

    def _order(self, training: Training, compiled: Collection[str]) -> tuple[bool, int, int, int]:
        together = training.run.together
        compiles = bool(together) and together not in compiled
        takes_away = compiles and together in self._compiled  # from another thread, which is quicker with it
        return bool(together), training.seed, compiles + takes_away, self._places[training.folder]

    def done(self, training: Training) -> None:
        """Say that a training that was taken has ended, well or not."""
        with self._changed:
            self._open.discard(training.folder)
            self._changed.notify_all()

    def close(self) -> None:
        """Give out nothing more."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()


class TimeLeft:
    """Estimates how long a list of trainings still takes, from the work done so far.

    Args:
        trainings: all that are to be done.
    """

    def __init__(self, trainings: Sequence[Training]):
        costs = [training.run.cost for training in trainings]
        self._total = None if None in costs else sum(costs)
        self._done = 0.0

    def after(self, training: Training, seconds: float) -> float | None:
        """Seconds that are left when a training is done.

        Args:
            training: the one that has ended.
            seconds: since the first began.

        Returns:
            The estimate, in which what is under way counts as not begun; None where a cost is not known.
        """
        if self._total is None:
            return None
        self._done += training.run.cost
        return seconds * (self._total - self._done) / self._done
