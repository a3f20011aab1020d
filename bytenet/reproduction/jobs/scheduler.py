"""Trains the runs of experiments, several at a time, and each of them once."""

import itertools
import json
import os
import signal
import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from pathlib import Path

from bytenet.errors import InputError
from bytenet.files import write_text_atomic
from bytenet.reproduction.jobs.locks import training_lock
from bytenet.reproduction.jobs.training import Training, marker_in, trainings_of
from bytenet.reproduction.jobs.training_run import TrainingRun, unique_runs
from bytenet.reproduction.jobs.worker_processes import ChildProcesses, TrainingProcess
from bytenet.reproduction.jobs.worker_queue import TimeLeft, TrainingQueue
from bytenet.training.stop_signals import on_stop_signals

_TIMES_SUFFIX = ".times.json"
_MEMORY_SHARE = 0.75
"""The part of the machine's memory that all workers together may hold."""


def train_all(
    runs: Iterable[TrainingRun],
    seeds: Sequence[int],
    folder: Path,
    jobs: int,
    say: Callable[[str], None],
    selected: Collection[tuple[str, int]] | None = None,
) -> dict[tuple[str, int], str]:
    """Train all runs that are not finished, several at a time.

    A stopped training resumes from its last checkpoint. Each training prints to a log file beside its run folder. A
    failure does not stop other trainings, except those that start from the failed one.

    Args:
        runs: the runs. Of several with the same name the first counts. The runs that they start from are trained, too.
        seeds: the seeds of each run.
        folder: folder for the run folders.
        jobs: number of trainings at a time. They share the cores. With more than one, they do not use GPUs.
        say: prints a line of progress.
        selected: names and seeds of the trainings to do, besides those that they start from. None: all.

    Returns:
        The reason of each failure, by the name and the seed of the training. A training also fails if its folder has
        one with other settings, other text or other start models, or if its text cannot be found.

    Raises:
        KeyboardInterrupt: for Ctrl-C or SIGTERM. All running trainings have saved a checkpoint and ended.
    """
    all_runs = unique_runs(runs)
    needed = _needed(all_runs, seeds, selected)
    waiting, failed = _unfinished(all_runs, needed, folder)
    if selected is not None:
        waiting = _with_starts(waiting, selected)
    waiting = _with_same_settings(waiting, failed)
    if not waiting:
        return failed
    side_by_side = min(jobs, len(waiting))
    say(f"{len(waiting)} trainings to do, {side_by_side} at a time; each prints to {folder}/NAME/seed-N.log")
    # Threads follow from the number of all trainings, also finished ones, so that training times stay comparable.
    threads = max(1, num_cores() // min(jobs, len(all_runs) * len(seeds)))
    trainers = _Trainers(waiting, side_by_side, threads, _environment(threads, use_gpus=jobs == 1), say)
    time_left, began, numbers = TimeLeft(waiting), time.monotonic(), itertools.count(1)

    def report(training: Training, outcome: float | InputError) -> None:
        seconds_left = time_left.after(training, time.monotonic() - began)
        label = f"[{next(numbers)}/{len(waiting)}] {training.run.name}, seed {training.seed}"
        if isinstance(outcome, InputError):
            failed[training.run.name, training.seed] = str(outcome)
            say(f"{label}: {outcome}")
        else:
            say(f"{label}: {outcome:.0f} s{_time_left_text(seconds_left)}")

    trainers.train(report)
    return failed


def _environment(threads: int, use_gpus: bool) -> dict[str, str]:
    """The environment variables of a training."""
    names = ("TF_NUM_INTRAOP_THREADS", "TF_NUM_INTEROP_THREADS", "OMP_NUM_THREADS")
    environment = os.environ | dict.fromkeys(names, str(threads))
    return environment if use_gpus else environment | {"CUDA_VISIBLE_DEVICES": ""}


class _Trainers:
    """Threads that take trainings from a queue, each with a process that trains them.

    Args:
        waiting: the trainings.
        side_by_side: number of threads.
        threads: of each training, to be saved with its time.
        environment: environment variables of the processes.
        say: prints a line while a training waits for another process.
    """

    def __init__(
        self,
        waiting: Sequence[Training],
        side_by_side: int,
        threads: int,
        environment: Mapping[str, str],
        say: Callable[[str], None],
    ):
        self._num_trainings, self._side_by_side = len(waiting), side_by_side
        self._conditions = {"side_by_side": side_by_side, "threads": threads}
        self._environment, self._say = environment, say
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        self._max_bytes = int(_MEMORY_SHARE * memory / side_by_side)
        self._queue, self._children = TrainingQueue(waiting), ChildProcesses()
        self._of_thread = threading.local()
        self._processes: list[TrainingProcess] = []

    def train(self, report: Callable[[Training, float | InputError], None]) -> None:
        """Train all, and report the seconds or the failure of each as soon as it ends.

        Raises:
            KeyboardInterrupt: for Ctrl-C or SIGTERM. All running trainings have saved a checkpoint and ended.
        """
        try:
            with (
                _interrupted_by_signals(),
                ThreadPoolExecutor(self._side_by_side, initializer=self._start_thread) as pool,
            ):
                futures = [pool.submit(self._train_next) for _ in range(self._num_trainings)]
                try:
                    for future in as_completed(futures):
                        if (result := future.result()) is not None:  # otherwise the queue is closed
                            report(*result)
                except BaseException:
                    self._queue.close()
                    pool.shutdown(wait=False, cancel_futures=True)
                    self._children.end()
                    raise
        finally:
            for process in self._processes:
                process.close()

    def _start_thread(self) -> None:
        self._of_thread.process = TrainingProcess(self._environment, self._children, self._max_bytes)
        self._processes.append(self._of_thread.process)

    def _train_next(self) -> tuple[Training, float | InputError] | None:
        process: TrainingProcess = self._of_thread.process
        training = self._queue.take(process.compiled)
        if training is None:
            return None
        try:
            with training_lock(training, self._children, self._say) as lock:
                return training, _train(training, process, lock, self._conditions)
        except (InputError, OSError) as error:  # such as a log that may not be written
            return training, InputError(str(error))
        finally:
            self._queue.done(training)


def times_of(folder: Path) -> dict[str, float]:
    """How long a training took, and under what conditions.

    Args:
        folder: its run folder.

    Returns:
        `seconds` that a process was busy with it since it was last resumed; `side_by_side`, the trainings at a time;
        `threads` of each training. Empty if `train_all` did not train it.
    """
    path = folder.with_suffix(_TIMES_SUFFIX)
    return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}


def num_cores() -> int:
    """Number of cores that this process may use."""
    return len(os.sched_getaffinity(0))


def _needed(
    runs: Sequence[TrainingRun], seeds: Sequence[int], selected: Collection[tuple[str, int]] | None
) -> dict[str, list[int]]:
    """The seeds of the selected trainings and of those that they start from, by the name of the run."""
    needed = {run.name: [seed for seed in seeds if selected is None or (run.name, seed) in selected] for run in runs}
    for run in reversed(runs):  # each stands behind those that it starts from
        for start in run.starts:
            needed[start.run.name] = sorted({*needed[start.run.name], *needed[run.name]})
    return needed


def _unfinished(
    runs: Sequence[TrainingRun], needed: Mapping[str, Sequence[int]], folder: Path
) -> tuple[list[Training], dict[tuple[str, int], str]]:
    """The needed trainings that are not finished, and, by name and seed, why some cannot be trained."""
    waiting: list[Training] = []
    failed: dict[tuple[str, int], str] = {}
    for run in runs:
        for start in run.starts:
            for seed in needed[run.name]:
                if reason := failed.get((start.run.name, seed)):
                    failed[run.name, seed] = f"{run.name} starts from {start.run.name}: {reason}"
        seeds = [seed for seed in needed[run.name] if (run.name, seed) not in failed]
        try:
            trainings = trainings_of(run, seeds, folder) if seeds else []
        except InputError as error:  # the text is missing
            failed |= {(run.name, seed): str(error) for seed in seeds}
            continue
        for training in trainings:
            try:
                if not training.is_finished():
                    waiting.append(training)
            except InputError as error:
                failed[run.name, training.seed] = str(error)
    return waiting, failed


def _with_starts(waiting: Sequence[Training], selected: Collection[tuple[str, int]]) -> list[Training]:
    """The selected trainings and those that they start from, in the order of `waiting`."""
    kept: list[Training] = []
    starts: set[Path] = set()
    for training in reversed(waiting):  # each training stands behind those that it starts from
        if (training.run.name, training.seed) in selected or training.folder in starts:
            kept.append(training)
            starts |= training.after
    return kept[::-1]


def _with_same_settings(waiting: Sequence[Training], failed: dict[tuple[str, int], str]) -> list[Training]:
    """The trainings that were not begun with other settings. The other ones are added to `failed`."""
    kept = []
    for training in waiting:
        try:
            training.check_settings()
            kept.append(training)
        except InputError as error:
            failed[training.run.name, training.seed] = str(error)
    return kept


def _train(training: Training, process: TrainingProcess, lock: int | None, conditions: dict[str, int]) -> float:
    """Train, unless another process has finished the training meanwhile.

    Args:
        training: the training. Its lock is held.
        process: trains it.
        lock: descriptor of the lock file, if there is one.
        conditions: saved together with the time.

    Returns:
        The seconds that it took.

    Raises:
        InputError: the training failed, or one that it starts from.
    """
    began = time.monotonic()
    missing = [str(folder) for folder in sorted(training.after) if not marker_in(folder).exists()]
    if missing:
        raise InputError(f"it starts from {' and '.join(missing)}, which failed")
    if not training.is_finished():
        write_text_atomic(training.begun_with, training.digest)
        process_began = time.monotonic()
        process.train(training, lock)
        times = conditions | {"seconds": round(time.monotonic() - process_began, 3)}
        write_text_atomic(training.folder.with_suffix(_TIMES_SUFFIX), json.dumps(times) + "\n")
        write_text_atomic(training.marker, training.digest)
    return time.monotonic() - began


def _time_left_text(seconds: float | None) -> str:
    if not seconds:
        return ""
    minutes = max(1, round(seconds / 60))
    return f", about {minutes // 60} h {minutes % 60} min left" if minutes >= 60 else f", about {minutes} min left"


@contextmanager
def _interrupted_by_signals() -> Iterator[None]:
    """Let SIGTERM and a closed terminal act like Ctrl-C, so that they end the trainings."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    interrupt = signal.getsignal(signal.SIGINT)
    if not callable(interrupt):  # a script that starts this process with `&` makes it ignore Ctrl-C
        interrupt = signal.default_int_handler
    caught = [signal.SIGTERM]
    if signal.getsignal(signal.SIGHUP) != signal.SIG_IGN:  # `nohup` makes it ignore SIGHUP
        caught.append(signal.SIGHUP)
    with on_stop_signals(interrupt, caught):
        yield
