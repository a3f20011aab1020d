"""The order of the trainings, and an estimate of the remaining time."""

import threading
from collections.abc import Collection, Sequence

from bytenet.reproduction.jobs.training import Training


class TrainingQueue:
    """Trainings that wait for one of several threads.

    Trainings with a process each come first, then those that share a worker. So no worker with its compiled models
    idles beside other processes. Within each group, the seeds follow each other, in the given order. But a thread
    prefers trainings of this seed that it has compiled models for.

    Args:
        trainings: in order. A training that another one starts from must be in the queue, too, or finished.
    """

    def __init__(self, trainings: Sequence[Training]):
        self._waiting = list(trainings)
        self._positions = {training.folder: position for position, training in enumerate(trainings)}
        self._open = set(self._positions)
        self._compiled: set[str] = set()
        self._closed = False
        self._changed = threading.Condition()

    def take(self, compiled: Collection[str]) -> Training | None:
        """Wait until a training can begin, and take it.

        Args:
            compiled: the values of `TrainingRun.together` that the calling thread has compiled models for.

        Returns:
            The next training, or None if nothing is left or the queue is closed.
        """
        with self._changed:
            while self._waiting and not self._closed:
                ready = [training for training in self._waiting if not training.after & self._open]
                if ready:
                    chosen = min(ready, key=lambda training: self._priority(training, compiled))
                    self._waiting.remove(chosen)
                    self._compiled.add(chosen.run.together)
                    return chosen
                self._changed.wait()
            return None

    def _priority(self, training: Training, compiled: Collection[str]) -> tuple[bool, int, int, int]:
        together = training.run.together
        compiles = bool(together) and together not in compiled
        compiled_elsewhere = compiles and together in self._compiled  # the other thread trains it faster
        return bool(together), training.seed, compiles + compiled_elsewhere, self._positions[training.folder]

    def done(self, training: Training) -> None:
        """Tell the queue that a training has ended, with or without success."""
        with self._changed:
            self._open.discard(training.folder)
            self._changed.notify_all()

    def close(self) -> None:
        """Give out no more trainings."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()


class TimeLeft:
    """Estimates the remaining time of a list of trainings from their costs.

    Args:
        trainings: all trainings that have to be done.
    """

    def __init__(self, trainings: Sequence[Training]):
        self._total = 0.0
        self._is_known = True
        for training in trainings:
            if training.run.cost is None:
                self._is_known = False
            else:
                self._total += training.run.cost
        self._done = 0.0

    def after(self, training: Training, seconds: float) -> float | None:
        """The seconds that are left when a training has ended.

        Args:
            training: the training that has ended.
            seconds: since the first training began.

        Returns:
            The estimate. It counts unfinished trainings as not begun. None if the cost of any training is unknown.
        """
        if not self._is_known or training.run.cost is None:
            return None
        self._done += training.run.cost
        return seconds * (self._total - self._done) / self._done
