"""The sentences that wait for their translation, and the choice of the next batch."""

from collections import deque
from collections.abc import Sequence
from concurrent.futures import Future
from typing import NamedTuple

from bytenet.serving.engines.engine import Candidate, Engine

_SHORTEST_BITS = 5
_LEAST_FILLED = 0.75


class Job:
    """The sentences of one request.

    Args:
        engine: translates them.
        sentences: at least one.
        num_candidates: number of translations of each sentence, as for `Engine.translate`.

    Attributes:
        future: gets the candidates of all sentences. Whoever waits for it may cancel it at any time.
    """

    def __init__(self, engine: Engine, sentences: Sequence[str], num_candidates: int):
        self.engine = engine
        self.sentences = sentences
        self.num_candidates = num_candidates
        self.future: Future[list[list[Candidate]]] = Future()
        self._candidates: list[list[Candidate] | None] = [None] * len(sentences)
        self._num_left = len(sentences)
        # The first sentence of each group is the one that has waited longest.
        self._waiting: dict[int, deque[int]] = {}
        for index, sentence in enumerate(sentences):
            self._waiting.setdefault(_length_group(sentence), deque()).append(index)

    @property
    def is_waiting(self) -> bool:
        """Whether sentences are in no batch yet."""
        return bool(self._waiting)

    @property
    def first_group(self) -> int:
        """The group of lengths of the first waiting sentence."""
        return min(self._waiting, key=lambda group: self._waiting[group][0])

    def num_waiting(self, group: int) -> int:
        """The number of waiting sentences of a group of lengths."""
        return len(self._waiting.get(group, ()))

    def take(self, group: int, most: int) -> list[int]:
        """Take up to `most` waiting sentences of a group of lengths; returns their indices."""
        waiting = self._waiting.get(group, deque())
        taken = [waiting.popleft() for _ in range(min(most, len(waiting)))]
        if not waiting:
            self._waiting.pop(group, None)
        return taken

    def finish(self, index: int, candidates: list[Candidate]) -> bool:
        """Note the translations of a sentence. Returns whether all sentences are translated."""
        self._candidates[index] = candidates
        self._num_left -= 1
        return self._num_left == 0

    @property
    def candidates(self) -> list[list[Candidate]]:
        """The translations of all sentences, once they are finished."""
        return [candidates for candidates in self._candidates if candidates is not None]


class Batch(NamedTuple):
    """Sentences that are translated at once: all of one engine, of similar length, with the same number of candidates.

    Attributes:
        members: job and index of each sentence.
    """

    members: list[tuple[Job, int]]

    @property
    def engine(self) -> Engine:
        return self.members[0][0].engine

    @property
    def num_candidates(self) -> int:
        return self.members[0][0].num_candidates

    @property
    def sentences(self) -> list[str]:
        return [job.sentences[index] for job, index in self.members]


class WaitingJobs:
    """The jobs with sentences that are in no batch yet. Jobs take turns, so that a long text does not hold up others.

    It is not safe for threads: `TranslatingThreads` locks it.
    """

    def __init__(self) -> None:
        self._jobs: deque[Job] = deque()

    def __bool__(self) -> bool:
        return bool(self._jobs)

    def add(self, job: Job) -> None:
        """Let a job wait."""
        self._jobs.append(job)

    def remove(self, job: Job) -> None:
        """Forget the waiting sentences of a job."""
        if job in self._jobs:
            self._jobs.remove(job)

    def take_batch(self) -> Batch:
        """Take the next batch. There must be a job.

        The first job gives its first waiting sentence and all that are of similar length; the others fill the batch
        with theirs. The next batch begins with another job.
        """
        leader = self._jobs[0]
        group, kind = leader.first_group, (leader.engine, leader.num_candidates)
        matching_jobs = [job for job in self._jobs if (job.engine, job.num_candidates) == kind]
        size = _best_size(sum(job.num_waiting(group) for job in matching_jobs), leader.engine.batch_sizes)
        members: list[tuple[Job, int]] = []
        for job in matching_jobs:
            members += [(job, index) for index in job.take(group, size - len(members))]
        self._jobs.rotate(-1)
        self._jobs = deque(job for job in self._jobs if job.is_waiting)
        return Batch(members)


def _best_size(waiting: int, sizes: Sequence[int]) -> int:
    """The number of sentences for a batch. A batch is padded to one of `sizes`, so it should be nearly full."""
    return next(size for size in reversed(sizes) if waiting >= _LEAST_FILLED * size or size == sizes[0])


def _length_group(sentence: str) -> int:
    """A number that sentences of similar length share: up to 31 characters, 63, 127, ...

    With the end symbol, these are the lengths to which translators pad. So no sentence makes a batch of shorter ones
    slower.
    """
    return max(len(sentence).bit_length(), _SHORTEST_BITS)
