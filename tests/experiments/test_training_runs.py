"""Trainings are done once, in order, with their log; no training really happens here."""

import re
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

from bytenet.config import load_config
from bytenet.errors import InputError
from bytenet.experiments.training_runs import TrainingRun, num_cores, run_folder_of, train_all

RUN = TrainingRun("one", "digits", ("model.dim=4",))


@dataclass(frozen=True)
class Ended:
    """A process that has ended."""

    code: int

    def wait(self):
        return self.code


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

    def __call__(self, command, stdout, stderr, env):
        assert command[:4] == [sys.executable, "-m", "bytenet", "train"]
        assert command[5::2] == ["--run"] or command[5:] == ["--run", command[6], "--resume"]
        assert stderr == subprocess.STDOUT
        settings, folder = command[4], Path(command[6])
        with self._lock:
            self._running += 1
            self.most_at_once = max(self.most_at_once, self._running)
            self.calls.append((load_config(settings), folder, env))
        time.sleep(0.02)
        stdout.write("epoch 1\n")
        with self._lock:
            self._running -= 1
        if folder.parent.name == self.failing:
            stdout.write("Error: the disk is full.\n\n")
            return Ended(1)
        folder.mkdir(parents=True)
        (folder / "config.yaml").write_text(self.calls[-1][0].to_yaml(), encoding="utf-8")
        return Ended(0)

    @property
    def folders(self):
        return [folder for _, folder, _ in self.calls]


@pytest.fixture
def trainer(monkeypatch):
    trainer = Trainer()
    monkeypatch.setattr("bytenet.experiments.training_runs.subprocess.Popen", trainer)
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


def test_other_text_is_refused(trainer, tmp_path):
    def prepare(folder):
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "train.txt").write_text(text, encoding="utf-8")
        return ["data.corpus=files", *(f"data.train_{side}={folder / 'train.txt'}" for side in ("source", "target"))]

    run = TrainingRun("one", "digits", prepare=prepare)
    text = "a\n"
    train(tmp_path, run)
    text = "b\n"
    assert "the text is another" in train(tmp_path, run)["one"]


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
    assert re.search(r"train .*two/seed-1.* failed: Error: the disk is full\. \(all of it is in", failed["two"])
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
