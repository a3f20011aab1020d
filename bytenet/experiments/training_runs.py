"""Trainings of experiments: each a process of its own, several side by side, none done twice."""

import fcntl
import hashlib
import os
import shlex
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from bytenet.config import PATH_KEYS, Config, load_config
from bytenet.errors import InputError
from bytenet.files import write_text_atomic

_FINISHED = "finished"


@dataclass(frozen=True)
class TrainingRun:
    """A training that experiments show.

    Attributes:
        name: of its folder; runs of one name (and scale) are the same.
        preset: where its settings start.
        settings: what differs, `section.key=value` each.
        prepare: makes files that the settings name, in the folder it is given; returns the settings for them.
        text: what the training's text is, in words, where it is not the thesis's.
        thesis: what of the thesis it stands for; None is its run of the same name.
    """

    name: str
    preset: str
    settings: tuple[str, ...] = ()
    prepare: Callable[[Path], list[str]] | None = None
    text: str = ""
    thesis: "TrainingRun | None" = None

    def config(self, seed: int) -> Config:
        """The configuration with a seed, without what `prepare` adds."""
        return load_config(self.preset, [*self.settings, f"training.seed={seed}"])


def run_folder_of(run: TrainingRun, seed: int, runs: Path) -> Path:
    """Where a training of a run is kept."""
    return runs / run.name / f"seed-{seed}"


def train_all(
    trainings: Iterable[TrainingRun], seeds: Sequence[int], runs: Path, jobs: int, say: Callable[[str], None]
) -> dict[str, str]:
    """Train what is not trained yet, `jobs` at a time, each with its share of the cores.

    What was stopped goes on from its last checkpoint. Each training prints into a file beside its folder. One that
    fails does not keep the others from being done.

    Args:
        trainings: which; of several with one name the first counts.
        seeds: of each.
        runs: the folder to keep them in.
        jobs: how many at a time; where it is more than one, they do not use GPUs.
        say: prints a line of progress.

    Returns:
        By the name of the run, why a training of it failed: also that it was finished earlier with other settings or
        text, or that its text is not to be had.

    Raises:
        KeyboardInterrupt: by Ctrl-C or SIGTERM; the trainings that go on have saved a checkpoint and ended.
    """
    unique: dict[str, TrainingRun] = {}
    for run in trainings:
        unique.setdefault(run.name, run)
    failed: dict[str, str] = {}
    waiting: list[_Training] = []
    for run in unique.values():
        try:
            prepared = run.prepare(runs / run.name) if run.prepare else []
            of_run = [_Training.make(run, seed, runs, prepared) for seed in seeds]
            waiting += [training for training in of_run if not training.is_finished()]
        except InputError as error:
            failed[run.name] = str(error)
    if not waiting:
        return failed
    waiting.sort(key=lambda training: training.seed)
    say(f"{len(waiting)} trainings to do, {jobs} at a time; each prints to {runs}/NAME/seed-N.log")
    environment = os.environ | dict.fromkeys(
        ("TF_NUM_INTRAOP_THREADS", "OMP_NUM_THREADS"), str(max(1, num_cores() // jobs))
    )
    if jobs > 1:
        environment["CUDA_VISIBLE_DEVICES"] = ""
    children: set[subprocess.Popen] = set()
    with _interrupted_by_sigterm(), ThreadPoolExecutor(jobs) as pool:
        futures = {pool.submit(training.train, environment, children): training for training in waiting}
        try:
            for number, future in enumerate(as_completed(futures), start=1):
                training = futures[future]
                place = f"[{number}/{len(waiting)}] {training.name}, seed {training.seed}"
                try:
                    say(f"{place}: {future.result():.0f} s")
                except InputError as error:
                    failed[training.name] = str(error)
                    say(f"{place}: {error}")
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            for child in list(children):
                child.terminate()
            raise
    return failed


def num_cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0))


@dataclass(frozen=True)
class _Training:
    """A run with a seed: what is trained where.

    Attributes:
        name: of the run.
        seed: of it.
        folder: its run folder.
        config: what it is trained with.
        text: a digest of the files that were made for it; "" where none were.
    """

    name: str
    seed: int
    folder: Path
    config: Config
    text: str

    @classmethod
    def make(cls, run: TrainingRun, seed: int, runs: Path, prepared: list[str]) -> "_Training":
        config = load_config(run.preset, [*run.settings, *prepared, f"training.seed={seed}"])
        digest = hashlib.sha256()
        paths = [asdict(config.data)[key.partition(".")[2]] for key in PATH_KEYS] if prepared else []
        for path in filter(None, paths):
            digest.update(Path(path).read_bytes())
        return cls(run.name, seed, run_folder_of(run, seed, runs), config, digest.hexdigest() if prepared else "")

    def is_finished(self) -> bool:
        """Whether it was trained to its end.

        Raises:
            InputError: it was, but with other settings or other text.
        """
        marker = self.folder / _FINISHED
        if not marker.exists():
            return False
        changes = load_config(self.folder / "config.yaml").differences(self.config)
        told = [f"{key} was {old!r} and is {new!r}" for key, old, new in changes if key not in PATH_KEYS]
        if marker.read_text(encoding="utf-8") != self.text:
            told.append("the text is another")
        if told:
            raise InputError(
                f"{self.folder} was trained with other settings: {'; '.join(told)}. Remove it to train again, or give "
                "another --runs."
            )
        return True

    def train(self, environment: dict[str, str], children: set[subprocess.Popen]) -> float:
        """Train in a process of its own; one that another process trains already is waited for.

        Args:
            environment: of the process.
            children: where to note it while it runs.

        Returns:
            Seconds that it took.

        Raises:
            InputError: it failed.
        """
        began = time.monotonic()
        self.folder.parent.mkdir(parents=True, exist_ok=True)
        with open(self.folder.with_suffix(".lock"), "w", encoding="utf-8") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not self.is_finished():
                self._train(environment, children)
        return time.monotonic() - began

    def _train(self, environment: dict[str, str], children: set[subprocess.Popen]) -> None:
        settings, log = self.folder.with_suffix(".yaml"), self.folder.with_suffix(".log")
        write_text_atomic(settings, self.config.to_yaml())
        command = [sys.executable, "-m", "bytenet", "train", str(settings), "--run", str(self.folder), "--resume"]
        with open(log, "a", encoding="utf-8") as output:
            child = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT, env=environment)
            children.add(child)
            code = child.wait()
            children.discard(child)
        if code:
            last = log.read_text(encoding="utf-8", errors="replace").rstrip().rpartition("\n")[2]
            raise InputError(f"`{shlex.join(command)}` failed: {last} (all of it is in {log})")
        write_text_atomic(self.folder / _FINISHED, self.text)


@contextmanager
def _interrupted_by_sigterm() -> Iterator[None]:
    """Inside, SIGTERM does what Ctrl-C does, so that trainings are ended with it."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, signal.getsignal(signal.SIGINT))
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
