"""Trainings are done once, in order, with their log; no training really happens here."""

import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import pytest
from filelock import FileLock

from bytenet.config import load_config
from bytenet.errors import InputError
from bytenet.reproduction.jobs.scheduler import num_cores, times_of, train_all
from bytenet.reproduction.jobs.training_run import Start, TrainingRun, run_folder_of, unique_runs

RUN = TrainingRun("one", "digits", ("model.dim=4",))


@dataclass(frozen=True)
class Process:
    """A process that does its work when it is waited for."""

    work: Callable[[], int]

    def wait(self):
        return self.work()

    def terminate(self):
        """It ends by itself."""


class Trainer:
    """Takes the place of `bytenet train`: saves the configuration and notes what it was called with.

    Attributes:
        calls: configuration, run folder and environment of each.
        most_at_once: how many calls overlapped.
        failing: name of a run that fails.
    """

    def __init__(self):
        self.calls = []
        self.most_at_once = 0
        self.failing = None
        self._running = 0
        self._lock = threading.Lock()

    def __call__(self, command, stdout, stderr, env, process_group, pass_fds):
        assert command[:4] == [sys.executable, "-m", "bytenet", "train"]
        assert command[5::2] == ["--run"] or command[5:] == ["--run", command[6], "--resume"]
        assert stderr == subprocess.STDOUT
        # The process holds the training, should the one that asked for it die.
        assert [os.readlink(f"/proc/self/fd/{number}") for number in pass_fds] == [f"{command[6]}.lock"]
        return Process(partial(self._train, command[4], Path(command[6]), stdout, env))

    def _train(self, settings, folder, output, env):
        with self._lock:
            self._running += 1
            self.most_at_once = max(self.most_at_once, self._running)
            self.calls.append((load_config(settings), folder, env))
        time.sleep(0.02)
        output.write("epoch 1\n")
        with self._lock:
            self._running -= 1
        if folder.parent.name == self.failing:
            output.write("Error: the disk is full.\n\n")
            return 1
        folder.mkdir(parents=True)
        (folder / "config.yaml").write_text(self.calls[-1][0].to_yaml(), encoding="utf-8")
        return 0

    @property
    def folders(self):
        return [folder for _, folder, _ in self.calls]


@pytest.fixture
def trainer(monkeypatch):
    trainer = Trainer()
    monkeypatch.setattr("bytenet.reproduction.jobs.worker_processes.subprocess.Popen", trainer)
    return trainer


def train(tmp_path, *runs, seeds=(1,), jobs=1):
    said = []
    failed = train_all(runs, seeds, tmp_path, jobs, said.append)
    return failed or said


def test_every_training_has_its_settings_seed_folder_and_log(trainer, tmp_path):
    said = train(tmp_path, RUN, seeds=(1, 2))
    assert trainer.folders == [tmp_path / "one" / "seed-1", tmp_path / "one" / "seed-2"]
    for seed, (config, folder, environment) in enumerate(trainer.calls, start=1):
        assert config == load_config("digits", ["model.dim=4", f"training.seed={seed}"])
        assert folder == run_folder_of(RUN, seed, tmp_path)
        assert folder.with_suffix(".log").read_text() == "epoch 1\n"
        assert environment["TF_NUM_INTRAOP_THREADS"] == str(num_cores())
    assert said[0].startswith("2 trainings to do, 1 at a time")
    assert [line.rpartition(":")[0] for line in said[1:]] == ["[1/2] one, seed 1", "[2/2] one, seed 2"]


def test_seeds_come_before_runs_and_the_first_of_a_name_counts(trainer, tmp_path):
    train(tmp_path, RUN, TrainingRun("two", "digits"), TrainingRun("one", "multi30k"), seeds=(1, 2))
    assert [f"{folder.parent.name} {folder.name}" for folder in trainer.folders] == [
        "one seed-1", "two seed-1", "one seed-2", "two seed-2",
    ]  # fmt: skip
    assert trainer.calls[0][0].model.dim == 4


def test_what_is_finished_is_not_trained_again(trainer, tmp_path):
    train(tmp_path, RUN)
    assert train(tmp_path, RUN) == []
    train(tmp_path, RUN, TrainingRun("two", "digits"), seeds=(1, 2))
    assert len(trainer.calls) == 4


def test_what_was_stopped_is_trained_again(trainer, tmp_path):
    train(tmp_path, RUN)
    folder = trainer.folders[0]
    (folder / "finished").unlink()
    (folder / "config.yaml").unlink()
    folder.rmdir()
    train(tmp_path, RUN)
    assert len(trainer.calls) == 2


def test_other_settings_are_refused_and_named(trainer, tmp_path):
    train(tmp_path, RUN)
    failed = train(tmp_path, TrainingRun("one", "digits", ("model.dim=6",)), TrainingRun("two", "digits"))
    assert list(failed) == ["one"]
    assert re.search(r"one/seed-1 was trained with other settings: model\.dim was 4 and is 6\.", failed["one"])
    assert [folder.parent.name for folder in trainer.folders] == ["one", "two"]


def test_what_was_stopped_does_not_go_on_with_other_settings(trainer, tmp_path):
    train(tmp_path, RUN)
    (trainer.folders[0] / "finished").unlink()
    failed = train(tmp_path, replace(RUN, settings=(*RUN.settings, "training.learning_rate=0.5")))
    assert re.search(
        r"one/seed-1 was trained with other settings: training\.learning_rate was .* and is 0\.5", failed["one"]
    )
    assert len(trainer.calls) == 1


def test_other_text_is_refused(trainer, tmp_path):
    def prepare(folder):
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "train.txt").write_text(text, encoding="utf-8")
        return ["data.corpus=files", *(f"data.train_{side}={folder / 'train.txt'}" for side in ("source", "target"))]

    run = TrainingRun("one", "digits", prepare=prepare)
    text = "a\n"
    train(tmp_path, run)
    text = "b\n"
    assert "its text was different" in train(tmp_path, run)["one"]


def test_text_that_is_not_to_be_had_fails_its_run_alone(trainer, tmp_path):
    def prepare(folder):
        raise InputError("no such corpus")

    failed = train(tmp_path, TrainingRun("one", "digits", prepare=prepare), TrainingRun("two", "digits"))
    assert failed == {"one": "no such corpus"}
    assert [folder.parent.name for folder in trainer.folders] == ["two"]


def test_a_failure_tells_its_last_line_and_keeps_no_other_from_training(trainer, tmp_path):
    trainer.failing = "two"
    runs = [TrainingRun(name, "digits") for name in ("one", "two", "three")]
    failed = train(tmp_path, *runs)
    assert re.search(r"train .*two/seed-1.* failed: Error: the disk is full\. \(the whole output is in", failed["two"])
    assert [folder.parent.name for folder in trainer.folders] == ["one", "two", "three"]
    # What went well is kept, what failed is tried again.
    trainer.failing = None
    train(tmp_path, *runs)
    names = [folder.parent.name for folder in trainer.folders]
    assert (names.count("one"), names.count("two")) == (1, 2)


@pytest.mark.parametrize("jobs", [1, 3])
def test_as_many_at_once_as_asked_for(trainer, jobs, tmp_path):
    train(tmp_path, RUN, seeds=range(1, 7), jobs=jobs)
    assert trainer.most_at_once == jobs
    threads = {environment["OMP_NUM_THREADS"] for _, _, environment in trainer.calls}
    assert threads == {str(max(1, num_cores() // jobs))}
    times = times_of(tmp_path / "one" / "seed-1")
    assert (times["side_by_side"], times["threads"]) == (jobs, max(1, num_cores() // jobs))
    assert times["seconds"] > 0


def test_one_training_has_all_cores_however_many_were_allowed_at_once(trainer, tmp_path):
    said = train(tmp_path, RUN, jobs=3)
    assert said[0].startswith("1 trainings to do, 1 at a time")
    assert times_of(trainer.folders[0])["side_by_side"] == 1
    environment = trainer.calls[0][2]
    assert environment["OMP_NUM_THREADS"] == str(num_cores())
    assert environment["CUDA_VISIBLE_DEVICES"] == ""


def test_prepared_files_are_settings(trainer, tmp_path):
    def prepare(folder):
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "train.txt").write_text("a\n", encoding="utf-8")
        return ["data.corpus=files", *(f"data.train_{side}={folder / 'train.txt'}" for side in ("source", "target"))]

    run = TrainingRun("one", "digits", prepare=prepare)
    train(tmp_path, run)
    assert trainer.calls[0][0].data.train_source == str(tmp_path / "one" / "train.txt")
    assert run.config(seed=1).data.corpus == "digits"
    assert train(tmp_path, run) == []


def test_the_seed_decides_what_the_run_says(trainer, tmp_path):
    run = TrainingRun("one", "digits", by_seed=lambda seed: (f"data.train_seed={10 * seed}", "training.seed=7"))
    train(tmp_path, run, seeds=(1, 2))
    assert [(config.data.train_seed, config.training.seed) for config, _, _ in trainer.calls] == [(10, 7), (20, 7)]


FIRST = TrainingRun("first", "digits")
FURTHER = TrainingRun(
    "further", "digits",
    starts=(
        Start("semi_supervised.start_forward", FIRST), Start("semi_supervised.start_backward", FIRST, "backward"),
    ),
)  # fmt: skip


def test_what_a_run_starts_from_is_trained_before_with_the_same_seed(trainer, tmp_path):
    train(tmp_path, FURTHER, seeds=(1, 2), jobs=2)
    names = [f"{folder.parent.name} {folder.name}" for folder in trainer.folders]
    for seed in (1, 2):
        assert names.index(f"first seed-{seed}") < names.index(f"further seed-{seed}")
        config = trainer.calls[names.index(f"further seed-{seed}")][0]
        first = tmp_path / "first" / f"seed-{seed}"
        assert config.semi_supervised.start_forward == str(first)
        assert config.semi_supervised.start_backward == str(first / "backward")
    assert len(names) == 4


def test_a_run_fails_with_what_it_starts_from_and_others_do_not(trainer, tmp_path):
    trainer.failing = "first"
    failed = train(tmp_path, FURTHER, TrainingRun("other", "digits"))
    assert list(failed) == ["first", "further"]
    assert "the disk is full" in failed["first"]
    assert failed["further"] == f"it starts from {tmp_path / 'first' / 'seed-1'}, which failed"
    assert [folder.parent.name for folder in trainer.folders] == ["first", "other"]


def test_a_start_that_was_trained_otherwise_is_refused_for_both(trainer, tmp_path):
    train(tmp_path, TrainingRun("first", "digits", ("model.dim=4",)))
    failed = train(tmp_path, FURTHER)
    assert list(failed) == ["first", "further"]
    assert "further starts from first: " in failed["further"]
    assert "model.dim was 4" in failed["further"]


def test_what_began_with_what_is_trained_again_since_is_refused(trainer, tmp_path):
    train(tmp_path, FURTHER)
    marker = tmp_path / "further" / "seed-1" / "finished"
    other = replace(FIRST, settings=("training.learning_rate=0.5",))
    further = replace(FURTHER, starts=tuple(start._replace(run=other) for start in FURTHER.starts))
    shutil.rmtree(tmp_path / "first")
    assert "the training that it starts from has other settings" in train(tmp_path, further)["further"]
    marker.write_text(marker.read_text().partition("\n")[0])  # as earlier versions left it
    assert "further" not in train(tmp_path, further)


def test_a_training_that_began_with_another_run_is_refused(trainer, tmp_path):
    train(tmp_path, FURTHER)
    (tmp_path / "elsewhere").mkdir()
    for run in (FIRST, FURTHER):
        (tmp_path / run.name).rename(tmp_path / "elsewhere" / run.name)
    assert train(tmp_path / "elsewhere", FURTHER) == []  # only the place is another
    other = replace(FIRST, name="other")
    failed = train(
        tmp_path / "elsewhere",
        replace(FURTHER, starts=tuple(start._replace(run=other) for start in FURTHER.starts)),
    )
    assert re.search(r"start_forward was '.*/first/seed-1' and is '.*/other/seed-1'", failed["further"])


def test_a_run_is_listed_once_and_after_what_it_starts_from():
    last = TrainingRun("last", "digits", starts=(Start("semi_supervised.start_forward", FURTHER),))
    assert [run.name for run in unique_runs([last, FIRST, last])] == ["first", "further", "last"]


def test_how_long_is_left_is_told_by_cost(trainer, monkeypatch, tmp_path):
    # Two hours of a day are gone when the first is done, that of an eighth of the cost.
    clock = iter([0.0] * 4 + [7200.0] * 100)
    monkeypatch.setattr("bytenet.reproduction.jobs.scheduler.time.monotonic", lambda: next(clock))
    said = train(tmp_path, TrainingRun("one", "digits", cost=1.0), TrainingRun("two", "digits", cost=7.0))
    assert said[1].endswith("s, about 14 h 0 min left")
    assert said[2].endswith(" s")


@pytest.mark.parametrize(
    ("ignored", "sent", "stops"),
    [(signal.SIGINT, signal.SIGTERM, True), (signal.SIGHUP, signal.SIGHUP, False)],
    ids=["SIGTERM, begun by a script with &", "terminal closed, begun with nohup"],
)
def test_in_the_background_what_is_meant_for_it_stops_it(trainer, ignored, sent, stops, tmp_path):
    runs = [RUN, TrainingRun("two", "digits", ("model.dim=8",))]

    def send(line):
        if line.startswith("[1/"):
            os.kill(os.getpid(), sent)

    before = signal.signal(ignored, signal.SIG_IGN)
    try:
        with pytest.raises(KeyboardInterrupt) if stops else nullcontext():
            train_all(runs, (1,), tmp_path, 1, send)
    finally:
        signal.signal(ignored, before)
    assert stops or len(trainer.calls) == 2
    assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL


def test_what_another_process_trains_is_waited_for_and_not_trained_twice(trainer, tmp_path):
    said = []

    folder = run_folder_of(RUN, 1, tmp_path)
    with held_by_another(folder) as other:

        def say(line):
            said.append(line)
            if "waiting" in line:
                (folder / "config.yaml").write_text(load_config("digits", [*RUN.settings, "training.seed=1"]).to_yaml())
                (folder / "finished").touch()
                other.release()

        assert train_all([RUN], (1,), tmp_path, 1, say) == {}
    assert said[1] == "one, seed 1: waiting for another process that trains it"
    assert trainer.calls == []


def test_an_interruption_does_not_wait_for_what_another_process_trains(trainer, tmp_path):
    def interrupt(line):
        if line.startswith("[1/"):
            raise KeyboardInterrupt

    with held_by_another(run_folder_of(RUN, 1, tmp_path)), pytest.raises(KeyboardInterrupt):
        train_all([RUN, TrainingRun("two", "digits")], (1,), tmp_path, 2, interrupt)
    assert [folder.parent.name for folder in trainer.folders] == ["two"]


@contextmanager
def held_by_another(folder):
    folder.mkdir(parents=True)
    with FileLock(folder.with_suffix(".lock"), thread_local=False) as lock:
        yield lock


def test_the_lock_of_a_killed_process_is_free_again(trainer, tmp_path):
    program = (
        "import sys, time; from filelock import FileLock; lock = FileLock(sys.argv[1]); lock.acquire();"
        "print('locked', flush=True); time.sleep(60)"
    )
    path = run_folder_of(RUN, 1, tmp_path).with_suffix(".lock")
    path.parent.mkdir(parents=True)
    # Not `subprocess.Popen`, which the trainer replaces.
    number = os.posix_spawn(
        sys.executable, [sys.executable, "-c", program, str(path)], os.environ,
        file_actions=[(os.POSIX_SPAWN_OPEN, 1, str(tmp_path / "output"), os.O_WRONLY | os.O_CREAT, 0o600)],
    )  # fmt: skip
    while not (tmp_path / "output").exists() or not (tmp_path / "output").read_text():
        time.sleep(0.01)

    def say(line):
        if "waiting" in line:
            os.kill(number, signal.SIGKILL)
            os.waitpid(number, 0)

    assert train_all([RUN], (1,), tmp_path, 1, say) == {}
    assert len(trainer.calls) == 1
    with pytest.raises(ChildProcessError):  # it was waited for, so it was killed
        os.waitpid(number, 0)


def test_what_is_wanted_is_trained_with_what_it_starts_from_and_nothing_else(trainer, tmp_path):
    start = TrainingRun("start", "digits", ("training.epochs=1",))
    two = TrainingRun("two", "digits", starts=(Start("semi_supervised.start_forward", start),))
    runs, seeds = [RUN, two], (1, 2, 3)
    assert train_all(runs, seeds, tmp_path, 1, lambda line: None, wanted=()) == {}
    assert trainer.folders == []
    train_all(runs, seeds, tmp_path, 1, lambda line: None, wanted={("one", 2), ("two", 1)})
    assert {f"{folder.parent.name} {folder.name}" for folder in trainer.folders} == {
        "one seed-2", "start seed-1", "two seed-1",
    }  # fmt: skip
