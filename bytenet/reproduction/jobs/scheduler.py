"""Trainings side by side, none done twice."""

import json
import os
import signal
import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from bytenet.errors import InputError
from bytenet.files import write_text_atomic
from bytenet.reproduction.jobs.locks import held
from bytenet.reproduction.jobs.training_run import Training, TrainingRun, marker_in, unique_runs
from bytenet.reproduction.jobs.worker_processes import Children, TrainingProcess
from bytenet.reproduction.jobs.worker_queue import TimeLeft, TrainingQueue

_TIMES = ".times.json"
_SHARE_OF_MEMORY = 0.75
"""Processes with compiled models begin anew when together they could hold more than this part of the machine's."""


def train_all(
    trainings: Iterable[TrainingRun],
    seeds: Sequence[int],
    runs: Path,
    jobs: int,
    say: Callable[[str], None],
    wanted: Collection[tuple[str, int]] | None = None,
) -> dict[str, str]:
    """Train what is not trained yet, `jobs` at a time, each with its share of the cores.

    What was stopped goes on from its last checkpoint. Each training prints into a file beside its folder. One that
    fails does not keep the others from being done, but for those that start from it.

    Args:
        trainings: which; of several with one name the first counts. What they start from is trained, too.
        seeds: of each.
        runs: the folder to keep them in.
        jobs: how many at a time; where it is more than one, they do not use GPUs.
        say: prints a line of progress.
        wanted: names and seeds of those to be done, with what they start from; None is all.

    Returns:
        By the name of the run, why a training of it failed: also that it was begun earlier with other settings, or
        finished with other text or from other models, or that its text is not to be had.

    Raises:
        KeyboardInterrupt: by Ctrl-C or SIGTERM; the trainings that go on have saved a checkpoint and ended.
    """
    asked = unique_runs(trainings)
    waiting, failed = _what_waits(asked, seeds, runs)
    if wanted is not None:
        waiting = _wanted(waiting, wanted)
    waiting = _with_same_settings(waiting, failed)
    if not waiting:
        return failed
    side_by_side = min(jobs, len(waiting))
    say(f"{len(waiting)} trainings to do, {side_by_side} at a time; each prints to {runs}/NAME/seed-N.log")
    # However few are left: the times of trainings are compared.
    threads = max(1, num_cores() // min(jobs, len(asked) * len(seeds)))
    environment = os.environ | dict.fromkeys(
        ("TF_NUM_INTRAOP_THREADS", "TF_NUM_INTEROP_THREADS", "OMP_NUM_THREADS"), str(threads)
    )
    if jobs > 1:
        environment["CUDA_VISIBLE_DEVICES"] = ""
    most_bytes = int(_SHARE_OF_MEMORY * os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / side_by_side)
    conditions = {"side_by_side": side_by_side, "threads": threads}
    queue, children, time_left = TrainingQueue(waiting), Children(), TimeLeft(waiting)
    processes = threading.local()
    all_processes: list[TrainingProcess] = []

    def begin() -> None:
        processes.mine = TrainingProcess(environment, children, most_bytes)
        all_processes.append(processes.mine)

    def train_next() -> tuple[Training, float | InputError] | None:
        training = queue.take(processes.mine.compiled)
        if training is None:
            return None
        try:
            with held(training, children, say) as lock:
                return training, _train(training, processes.mine, lock, conditions)
        except InputError as error:
            return training, error
        finally:
            queue.done(training)

    began = time.monotonic()
    try:
        with _interrupted_by_signals(), ThreadPoolExecutor(side_by_side, initializer=begin) as pool:
            futures = [pool.submit(train_next) for _ in waiting]
            try:
                for number, future in enumerate(as_completed(futures), start=1):
                    training, outcome = future.result()
                    left = time_left.after(training, time.monotonic() - began)
                    place = f"[{number}/{len(waiting)}] {training.run.name}, seed {training.seed}"
                    if isinstance(outcome, InputError):
                        failed[training.run.name] = str(outcome)
                        say(f"{place}: {outcome}")
                    else:
                        say(f"{place}: {outcome:.0f} s{_words(left)}")
            except BaseException:
                queue.close()
                pool.shutdown(wait=False, cancel_futures=True)
                children.end()
                raise
    finally:
        for process in all_processes:
            process.close()
    return failed


def times_of(folder: Path) -> dict[str, float]:
    """How long a training took and under what conditions.

    Args:
        folder: of the training.

    Returns:
        `seconds`, in which a process was busy with it since it was gone on with last; `side_by_side`, trainings at a
        time, and `threads`, of each. Nothing where the training was not done by `train_all`.
    """
    path = folder.with_suffix(_TIMES)
    return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}


def num_cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0))


def _what_waits(
    trainings: Sequence[TrainingRun], seeds: Sequence[int], runs: Path
) -> tuple[list[Training], dict[str, str]]:
    """What is to be trained, and, by name, why other runs cannot be."""
    waiting: list[Training] = []
    failed: dict[str, str] = {}
    for run in trainings:
        try:
            for start in run.starts:
                if start.run.name in failed:
                    raise InputError(f"{run.name} starts from {start.run.name}: {failed[start.run.name]}")
            prepared = run.prepare(runs / run.name) if run.prepare else []
            of_run = [Training.make(run, seed, runs, prepared) for seed in seeds]
            waiting += [training for training in of_run if not training.is_finished()]
        except InputError as error:
            failed[run.name] = str(error)
    return waiting, failed


def _wanted(waiting: Sequence[Training], wanted: Collection[tuple[str, int]]) -> list[Training]:
    """What is wanted, and what it starts from, in order."""
    kept: list[Training] = []
    started_from: set[Path] = set()
    for training in reversed(waiting):  # nothing stands before what it starts from
        if (training.run.name, training.seed) in wanted or training.folder in started_from:
            kept.append(training)
            started_from |= training.after
    return kept[::-1]


def _with_same_settings(waiting: Sequence[Training], failed: dict[str, str]) -> list[Training]:
    """Those that were not begun with other settings; of others it is put into `failed`, by name, that they were."""
    kept = []
    for training in waiting:
        try:
            training.check_settings()
            kept.append(training)
        except InputError as error:
            failed[training.run.name] = str(error)
    return kept


def _train(training: Training, process: TrainingProcess, lock: TextIO, conditions: dict[str, int]) -> float:
    """Train, unless another process has done so by now.

    Args:
        training: which; it is held.
        process: to train it with.
        lock: the file that holds it.
        conditions: kept with the time that it took.

    Returns:
        Seconds that it took.

    Raises:
        InputError: it failed, or what it starts from did.
    """
    began = time.monotonic()
    missing = [str(folder) for folder in sorted(training.after) if not marker_in(folder).exists()]
    if missing:
        raise InputError(f"it starts from {' and '.join(missing)}, which failed")
    if not training.is_finished():
        began_itself = time.monotonic()
        process.train(training, lock)
        times = conditions | {"seconds": round(time.monotonic() - began_itself, 3)}
        write_text_atomic(training.folder.with_suffix(_TIMES), json.dumps(times) + "\n")
        write_text_atomic(training.marker, training.digest)
    return time.monotonic() - began


def _words(seconds_left: float | None) -> str:
    if not seconds_left:
        return ""
    minutes = max(1, round(seconds_left / 60))
    return f", about {minutes // 60} h {minutes % 60} min left" if minutes >= 60 else f", about {minutes} min left"


@contextmanager
def _interrupted_by_signals() -> Iterator[None]:
    """Inside, SIGTERM and a closed terminal do what Ctrl-C does, so that trainings are ended with it."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    interrupt = signal.getsignal(signal.SIGINT)
    if not callable(interrupt):  # Ctrl-C is ignored by what a shell's script starts with `&`
        interrupt = signal.default_int_handler
    caught = [signal.SIGTERM]
    if signal.getsignal(signal.SIGHUP) != signal.SIG_IGN:  # or `nohup` wants it to outlive its terminal
        caught.append(signal.SIGHUP)
    before = {number: signal.signal(number, interrupt) for number in caught}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
