"""Trainings run once, in order, in parallel, with a log each. These tests do no real training."""

import os
import re
import signal
import threading
from contextlib import nullcontext
from dataclasses import replace
from types import SimpleNamespace

import pytest

from bytenet.config import load_config
from bytenet.errors import InputError
from bytenet.reproduction.jobs import scheduler
from bytenet.reproduction.jobs.scheduler import num_cores, times_of, train_all
from bytenet.reproduction.jobs.training_run import Start, TrainingRun, run_folder_of

from .runs import RUN


def test_each_training_has_its_own_settings_seed_folder_and_log(train, trainer, tmp_path):
    said = train(RUN, seeds=(1, 2))
    assert trainer.folders == [tmp_path / "one" / "seed-1", tmp_path / "one" / "seed-2"]
    for seed, (config, folder, environment) in enumerate(trainer.calls, start=1):
        assert config == load_config("digits", ["model.dim=4", f"training.seed={seed}"])
        assert folder == run_folder_of(RUN, seed, tmp_path)
        assert folder.with_suffix(".log").read_text() == "epoch 1\n"
        assert environment["TF_NUM_INTRAOP_THREADS"] == str(num_cores())
    assert said[0].startswith("2 trainings to do, 1 at a time")
    assert [line.rpartition(":")[0] for line in said[1:]] == ["[1/2] one, seed 1", "[2/2] one, seed 2"]


def test_all_runs_of_one_seed_come_first_and_duplicate_names_are_ignored(train, trainer):
    train(RUN, TrainingRun("two", "digits"), TrainingRun("one", "multi30k"), seeds=(1, 2))
    assert [f"{folder.parent.name} {folder.name}" for folder in trainer.folders] == [
        "one seed-1", "two seed-1", "one seed-2", "two seed-2",
    ]  # fmt: skip
    assert trainer.calls[0][0].model.dim == 4


def test_finished_training_is_not_repeated(train, trainer):
    train(RUN)
    assert train(RUN) == []
    train(RUN, TrainingRun("two", "digits"), seeds=(1, 2))
    assert len(trainer.calls) == 4


def test_stopped_training_is_started_again(train, trainer):
    train(RUN)
    folder = trainer.folders[0]
    (folder / "finished").unlink()
    (folder / "config.yaml").unlink()
    folder.rmdir()
    train(RUN)
    assert len(trainer.calls) == 2


def test_missing_text_fails_only_its_own_run(train, trainer):
    def prepare(folder):
        raise InputError("no such corpus")

    failed = train(TrainingRun("one", "digits", prepare=prepare), TrainingRun("two", "digits"))
    assert failed == {("one", 1): "no such corpus"}
    assert [folder.parent.name for folder in trainer.folders] == ["two"]


def test_failure_shows_its_last_line_and_other_runs_continue(train, trainer):
    trainer.failing = "two"
    runs = [TrainingRun(name, "digits") for name in ("one", "two", "three")]
    failed = train(*runs)
    assert re.search(
        r"train .*two/seed-1.* failed: Error: the disk is full\. \(the whole output is in", failed["two", 1]
    )
    assert [folder.parent.name for folder in trainer.folders] == ["one", "two", "three"]
    # Successful runs are kept, and the failed run is tried again.
    trainer.failing = None
    train(*runs)
    names = [folder.parent.name for folder in trainer.folders]
    assert (names.count("one"), names.count("two")) == (1, 2)


@pytest.mark.parametrize("suffix", [".lock", ".log"])
def test_lock_or_log_that_cannot_be_written_fails_only_its_own_run(train, trainer, suffix, tmp_path):
    (tmp_path / "one" / f"seed-1{suffix}").mkdir(parents=True)
    failed = train(RUN, TrainingRun("two", "digits"))
    assert list(failed) == [("one", 1)]
    assert f"Is a directory: '{tmp_path}/one/seed-1{suffix}'" in failed["one", 1]
    assert [folder.parent.name for folder in trainer.folders] == ["two"]


@pytest.mark.parametrize("jobs", [1, 3])
def test_requested_number_of_jobs_runs_in_parallel(train, trainer, jobs, tmp_path):
    trainer.barrier = threading.Barrier(jobs)
    train(RUN, seeds=range(1, 7), jobs=jobs)
    assert trainer.most_at_once == jobs
    threads = {environment["OMP_NUM_THREADS"] for _, _, environment in trainer.calls}
    assert threads == {str(max(1, num_cores() // jobs))}
    times = times_of(tmp_path / "one" / "seed-1")
    assert (times["side_by_side"], times["threads"]) == (jobs, max(1, num_cores() // jobs))
    assert times["seconds"] > 0


def test_single_training_gets_all_cores_even_with_several_jobs(train, trainer):
    said = train(RUN, jobs=3)
    assert said[0].startswith("1 trainings to do, 1 at a time")
    assert times_of(trainer.folders[0])["side_by_side"] == 1
    environment = trainer.calls[0][2]
    assert environment["OMP_NUM_THREADS"] == str(num_cores())
    assert environment["CUDA_VISIBLE_DEVICES"] == ""


def test_prepared_files_become_settings_of_the_run(train, trainer, tmp_path):
    def prepare(folder):
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "train.txt").write_text("a\n", encoding="utf-8")
        return ["data.corpus=files", *(f"data.train_{side}={folder / 'train.txt'}" for side in ("source", "target"))]

    run = TrainingRun("one", "digits", prepare=prepare)
    train(run)
    assert trainer.calls[0][0].data.train_source == str(tmp_path / "one" / "train.txt")
    assert run.config(seed=1).data.corpus == "digits"
    assert train(run) == []


def test_settings_may_depend_on_the_seed(train, trainer):
    run = TrainingRun("one", "digits", by_seed=lambda seed: (f"data.train_seed={10 * seed}", "training.seed=7"))
    train(run, seeds=(1, 2))
    assert [(config.data.train_seed, config.training.seed) for config, _, _ in trainer.calls] == [(10, 7), (20, 7)]


def test_remaining_time_is_estimated_from_cost(train, trainer, monkeypatch):
    # The first training has an eighth of the total cost and takes 2 hours, so all together take 16 hours.
    clock = SimpleNamespace(monotonic=lambda: 7200.0 if trainer.calls else 0.0)
    monkeypatch.setattr(scheduler, "time", clock)
    said = train(TrainingRun("one", "digits", cost=1.0), TrainingRun("two", "digits", cost=7.0))
    assert said[1].endswith("s, about 14 h 0 min left")
    assert said[2].endswith(" s")


def test_only_selected_runs_and_their_start_runs_are_trained(trainer, tmp_path):
    start = TrainingRun("start", "digits", ("training.epochs=1",))
    two = TrainingRun("two", "digits", starts=(Start("semi_supervised.start_forward", start),))
    runs, seeds = [RUN, two], (1, 2, 3)
    assert train_all(runs, seeds, tmp_path, 1, lambda line: None, selected=()) == {}
    assert trainer.folders == []
    train_all(runs, seeds, tmp_path, 1, lambda line: None, selected={("one", 2), ("two", 1)})
    assert {f"{folder.parent.name} {folder.name}" for folder in trainer.folders} == {
        "one seed-2", "start seed-1", "two seed-1",
    }  # fmt: skip


def test_trainings_that_are_not_selected_are_not_checked(train, trainer, tmp_path):
    def prepare(folder):
        raise InputError("no such corpus")

    train(TrainingRun("old", "digits"))
    start = TrainingRun("start", "digits", prepare=prepare)
    of_start = TrainingRun("of start", "digits", starts=(Start("semi_supervised.start_forward", start),))
    runs = [RUN, TrainingRun("old", "digits", ("model.dim=8",)), of_start]
    assert train_all(runs, (1,), tmp_path, 1, lambda line: None, selected={("one", 1)}) == {}
    failed = train_all(runs, (1,), tmp_path, 1, lambda line: None, selected={("old", 1), ("of start", 1)})
    assert list(failed) == [("old", 1), ("start", 1), ("of start", 1)]
    assert [folder.parent.name for folder in trainer.folders] == ["old", "one"]


def test_failed_seed_fails_only_the_trainings_that_start_from_it(train, trainer, tmp_path):
    start = TrainingRun("start", "digits", ("model.dim=8",))
    train(start, seeds=(2,))
    changed = replace(start, settings=("model.dim=4",))
    of_start = TrainingRun("of start", "digits", starts=(Start("semi_supervised.start_forward", changed),))
    failed = train(changed, of_start, seeds=(1, 2, 3))
    assert list(failed) == [("start", 2), ("of start", 2)]
    assert failed["of start", 2] == f"of start starts from start: {failed['start', 2]}"
    assert {f"{folder.parent.name} {folder.name}" for folder in trainer.folders[1:]} == {
        "start seed-1", "start seed-3", "of start seed-1", "of start seed-3",
    }  # fmt: skip


@pytest.fixture
def default_sigterm():
    """The default handler of SIGTERM. A notebook's test that runs into its time limit leaves one of asyncio."""
    before = signal.signal(signal.SIGTERM, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGTERM, before)


@pytest.mark.usefixtures("default_sigterm")
@pytest.mark.parametrize(
    ("ignored", "sent", "stops"),
    [(signal.SIGINT, signal.SIGTERM, True), (signal.SIGHUP, signal.SIGHUP, False)],
    ids=["SIGTERM, begun by a script with &", "terminal closed, begun with nohup"],
)
def test_background_process_stops_only_on_signals_that_are_not_ignored(trainer, ignored, sent, stops, tmp_path):
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
