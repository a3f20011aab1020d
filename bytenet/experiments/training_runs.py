"""Trainings of experiments: each a process of its own, several side by side, none done twice."""

import os
import shlex
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
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
    """

    name: str
    preset: str
    settings: tuple[str, ...] = ()
    prepare: Callable[[Path], list[str]] | None = None

    def config(self, seed: int, files: Path | None = None) -> Config:
        """The configuration with a seed.

        Args:
            seed: of weights and order.
            files: a folder for `prepare`; None leaves out what it would add.
        """
        prepared = self.prepare(files) if self.prepare and files is not None else []
        return load_config(self.preset, [*self.settings, *prepared, f"training.seed={seed}"])


def run_folder_of(run: TrainingRun, seed: int, runs: Path) -> Path:
    """Where a training of a run is kept."""
    return runs / run.name / f"seed-{seed}"


def train_all(
    trainings: Iterable[TrainingRun], seeds: Sequence[int], runs: Path, jobs: int, say: Callable[[str], None]
) -> None:
    """Train what is not trained yet, `jobs` at a time, each with its share of the cores.

    What was stopped goes on from its last checkpoint. Each training prints into a file beside its folder.

    Args:
        trainings: which; of several with one name the first counts.
        seeds: of each.
        runs: the folder to keep them in.
        jobs: how many at a time.
        say: prints a line of progress.

    Raises:
        InputError: a training failed, or was finished earlier with other settings.
    """
    unique: dict[str, TrainingRun] = {}
    for run in trainings:
        unique.setdefault(run.name, run)
    waiting = [(run, seed) for seed in seeds for run in unique.values() if not _is_finished(run, seed, runs)]
    if not waiting:
        return
    say(f"{len(waiting)} trainings to do, {jobs} at a time; each prints to {runs}/NAME/seed-N.log")
    threads = max(1, (os.cpu_count() or 1) // jobs)
    done = 0

    def one(work: tuple[TrainingRun, int]) -> None:
        nonlocal done
        run, seed = work
        began = time.monotonic()
        _train(run, seed, runs, threads)
        done += 1
        say(f"[{done}/{len(waiting)}] {run.name}, seed {seed}: {time.monotonic() - began:.0f} s")

    with ThreadPoolExecutor(jobs) as pool:
        futures = [pool.submit(one, work) for work in waiting]
        try:
            for future in futures:
                future.result()
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise


def _is_finished(run: TrainingRun, seed: int, runs: Path) -> bool:
    folder = run_folder_of(run, seed, runs)
    if not (folder / _FINISHED).exists():
        return False
    saved = load_config(folder / "config.yaml")
    asked = run.config(seed, runs / run.name)
    if changed := [change for change in saved.differences(asked) if change[0] not in PATH_KEYS]:
        told = "; ".join(f"{key} was {old!r} and is {new!r}" for key, old, new in changed)
        raise InputError(
            f"{folder} was trained with other settings: {told}. Remove it to train again, or give another --runs."
        )
    return True


def _train(run: TrainingRun, seed: int, runs: Path, threads: int) -> None:
    folder = run_folder_of(run, seed, runs)
    folder.parent.mkdir(parents=True, exist_ok=True)
    config = run.config(seed, folder.parent)
    settings = folder.with_suffix(".yaml")
    write_text_atomic(settings, config.to_yaml())
    command = [sys.executable, "-m", "bytenet", "train", str(settings), "--run", str(folder), "--resume"]
    log = folder.with_suffix(".log")
    environment = os.environ | {"TF_NUM_INTRAOP_THREADS": str(threads), "OMP_NUM_THREADS": str(threads)}
    with open(log, "a", encoding="utf-8") as output:
        code = subprocess.run(command, stdout=output, stderr=subprocess.STDOUT, env=environment, check=False).returncode
    if code:
        last = log.read_text(encoding="utf-8", errors="replace").rstrip().rpartition("\n")[2]
        raise InputError(f"`{shlex.join(command)}` failed: {last} (all of it is in {log})")
    write_text_atomic(folder / _FINISHED, "")
