"""The threads that translate."""

import logging
import threading
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from typing import Any, TypeVar

from bytenet.errors import InputError, ModelError
from bytenet.serving.engines.engine import Candidate, Engine
from bytenet.serving.work.waiting import Batch, Job, WaitingJobs

Result = TypeVar("Result")
_log = logging.getLogger(__name__)


class QueueFullError(Exception):
    """Too many requests wait already, so another one would wait too long."""


class TranslatingThreads:
    """Translates the sentences of all requests in batches, without waiting for a batch to become full.

    What arrives while all threads translate makes the next batch. Between two batches, all short calls that wait are
    made, such as parts of drafts.

    Args:
        max_requests: largest number of jobs and calls that are not finished.
        on_batch: called with each batch before it is translated.
        num_threads: number of batches that are translated at the same time.
    """

    def __init__(self, max_requests: int, on_batch: Callable[[Batch], None] = lambda batch: None, num_threads: int = 1):
        self._max_requests = max_requests
        self._on_batch = on_batch
        self._unfinished: set[Future] = set()
        self._jobs = WaitingJobs()
        self._calls: deque[tuple[Future, Callable[[], Any]]] = deque()
        self._changed = threading.Condition(threading.RLock())
        self._is_closing = False
        self._threads = [
            threading.Thread(target=self._run, name=f"translating-{number}", daemon=True)
            for number in range(num_threads)
        ]
        for thread in self._threads:
            thread.start()

    @property
    def num_unfinished(self) -> int:
        """Number of jobs and calls that wait or run."""
        return len(self._unfinished)

    @property
    def is_running(self) -> bool:
        """Whether all threads still translate."""
        return all(thread.is_alive() for thread in self._threads)

    def translate(
        self, engine: Engine, sentences: Sequence[str], num_candidates: int = 1
    ) -> Future[list[list[Candidate]]]:
        """Translate sentences as soon as it is their turn.

        Args:
            engine, sentences, num_candidates: as for `Engine.translate`, with any number of sentences.

        Returns:
            The future candidates of each sentence. Cancel it to free the place of the sentences that still wait.
            Errors of the engine are errors of the future.

        Raises:
            QueueFullError: too much waits already.
            RuntimeError: the threads are closed.
        """
        job = Job(engine, sentences, num_candidates)
        with self._changed:
            self._admit(job.future)
            if sentences:
                self._jobs.add(job)
                self._changed.notify()
            else:
                job.future.set_result([])
        job.future.add_done_callback(lambda _: self._forget(job))
        return job.future

    def call(self, function: Callable[[], Result]) -> Future[Result]:
        """Call a function on one of the threads. It must be short, because sentences wait meanwhile.

        Raises:
            QueueFullError: too much waits already.
            RuntimeError: the threads are closed.
        """
        future: Future[Result] = Future()
        with self._changed:
            self._admit(future)
            self._calls.append((future, function))
            self._changed.notify()
        return future

    def close(self) -> None:
        """Finish what waits, and end the threads. Nothing can be translated or called after it."""
        with self._changed:
            self._is_closing = True
            self._changed.notify_all()
        for thread in self._threads:
            thread.join()

    def _admit(self, future: Future) -> None:
        if self._is_closing:
            raise RuntimeError("The translating threads are closed.")
        if len(self._unfinished) >= self._max_requests:
            raise QueueFullError
        self._unfinished.add(future)
        future.add_done_callback(self._leave)

    def _leave(self, future: Future) -> None:
        with self._changed:
            self._unfinished.discard(future)

    def _forget(self, job: Job) -> None:
        with self._changed:
            self._jobs.remove(job)

    def _run(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._jobs or self._calls or self._is_closing)
                if not (self._jobs or self._calls):
                    return
                calls = list(self._calls)
                self._calls.clear()
                batch = self._jobs.take_batch() if self._jobs else None
                if self._jobs:
                    self._changed.notify()  # a job wakes one thread, but its sentences may be several batches
            for future, function in calls:
                _settle(future, function)
            if batch is not None:
                self._on_batch(batch)
                self._translate(batch)

    def _translate(self, batch: Batch) -> None:
        try:
            translated = batch.engine.translate(batch.sentences, batch.num_candidates)
            finished = list(zip(batch.members, translated, strict=True))
        except Exception as error:
            if len(batch.members) == 1:
                if _is_own_fault(error):
                    _log.exception("A sentence could not be translated.")
                _set_exception(batch.members[0][0].future, error)
                return
            # One bad sentence must not spoil those of other requests in the batch. The rest of its own is not needed.
            for job, index in batch.members:
                if not job.future.done():
                    self._translate(Batch([(job, index)]))
            return
        with self._changed:  # another thread may translate other sentences of a job
            ended = [job for (job, index), candidates in finished if job.finish(index, candidates)]
        for job in ended:
            _set_result(job.future, job.candidates)


def _settle(future: Future, function: Callable[[], Any]) -> None:
    """Call a function for its future, unless nobody waits for it any more."""
    if future.cancelled():
        return
    try:
        _set_result(future, function())
    except Exception as error:
        if _is_own_fault(error):
            _log.exception("A call on a translating thread failed.")
        _set_exception(future, error)


def _set_result(future: Future, result: Any) -> None:
    with suppress(InvalidStateError):  # cancelled, or failed before by another sentence
        future.set_result(result)


def _set_exception(future: Future, error: Exception) -> None:
    with suppress(InvalidStateError):
        future.set_exception(error)


def _is_own_fault(error: Exception) -> bool:
    """True if the server itself failed (this is logged); false if the text of the request was wrong."""
    return not isinstance(error, InputError) or isinstance(error, ModelError)
