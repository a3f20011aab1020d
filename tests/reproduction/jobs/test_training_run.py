"""Runs with other settings, text or start models are refused. These tests do no real training."""

import re
import shutil
from dataclasses import replace

import pytest

from bytenet.reproduction.engine.experiment import Work
from bytenet.reproduction.jobs.training_run import Start, TrainingRun, unique_runs

from .runs import RUN


def test_changed_settings_are_refused_and_named(train, trainer):
    train(RUN)
    failed = train(TrainingRun("one", "digits", ("model.dim=6",)), TrainingRun("two", "digits"))
    assert list(failed) == [("one", 1)]
    assert re.search(r"one/seed-1 was trained with other settings: model\.dim was 4 and is 6\.", failed["one", 1])
    assert [folder.parent.name for folder in trainer.folders] == ["one", "two"]


def test_stopped_run_does_not_resume_with_changed_settings(train, trainer):
    train(RUN)
    (trainer.folders[0] / "finished").unlink()
    failed = train(replace(RUN, settings=(*RUN.settings, "training.learning_rate=0.5")))
    assert re.search(
        r"one/seed-1 was trained with other settings: training\.learning_rate was .* and is 0\.5", failed["one", 1]
    )
    assert len(trainer.calls) == 1


@pytest.fixture
def on_text():
    """A function that makes the same run with the text that it is given."""

    def make(text):
        def prepare(folder):
            folder.mkdir(parents=True, exist_ok=True)
            path = folder / "train.txt"
            path.write_text(text, encoding="utf-8")
            return ["data.corpus=files", f"data.train_source={path}", f"data.train_target={path}"]

        return TrainingRun("one", "digits", prepare=prepare)

    return make


def test_changed_training_text_is_refused(train, on_text):
    train(on_text("a\n"))
    assert "was trained with another text." in train(on_text("b\n"))["one", 1]


def test_training_on_prepared_files_is_measured_unless_they_have_changed(train, trainer, on_text, tmp_path):
    train(on_text("a\n"), seeds=(1, 2))
    for folder in trainer.folders:
        (folder / "vocabulary.json").touch()
    told = []
    work = Work("cpu", (1, 2, 3), tmp_path, told.append)
    assert [seed for seed, _ in work.finished(on_text("a\n"))] == [1, 2]
    assert told == []
    assert [seed for seed, _ in work.measuring(on_text("a\n"))] == [1, 2]
    assert told == ["measuring one, seed 1", "measuring one, seed 2"]
    told.clear()
    assert work.finished(on_text("b\n")) == []
    assert ["was trained with another text." in line for line in told] == [True, True]


FIRST = TrainingRun("first", "digits")
FURTHER = TrainingRun(
    "further", "digits",
    starts=(
        Start("semi_supervised.start_forward", FIRST), Start("semi_supervised.start_backward", FIRST, "backward"),
    ),
)  # fmt: skip


def test_start_run_is_trained_first_with_the_same_seed(train, trainer, tmp_path):
    train(FURTHER, seeds=(1, 2), jobs=2)
    names = [f"{folder.parent.name} {folder.name}" for folder in trainer.folders]
    for seed in (1, 2):
        assert names.index(f"first seed-{seed}") < names.index(f"further seed-{seed}")
        config = trainer.calls[names.index(f"further seed-{seed}")][0]
        first = tmp_path / "first" / f"seed-{seed}"
        assert config.semi_supervised.start_forward == str(first)
        assert config.semi_supervised.start_backward == str(first / "backward")
    assert len(names) == 4


def test_run_fails_with_its_start_run_and_other_runs_continue(train, trainer, tmp_path):
    trainer.failing = "first"
    failed = train(FURTHER, TrainingRun("other", "digits"))
    assert list(failed) == [("first", 1), ("further", 1)]
    assert "the disk is full" in failed["first", 1]
    assert failed["further", 1] == f"it starts from {tmp_path / 'first' / 'seed-1'}, which failed"
    assert [folder.parent.name for folder in trainer.folders] == ["first", "other"]


def test_start_run_with_changed_settings_fails_both_runs(train):
    train(TrainingRun("first", "digits", ("model.dim=4",)))
    failed = train(FURTHER)
    assert list(failed) == [("first", 1), ("further", 1)]
    assert "further starts from first: " in failed["further", 1]
    assert "model.dim was 4" in failed["further", 1]


def test_run_is_refused_if_its_start_run_was_retrained_differently(train, tmp_path):
    train(FURTHER)
    marker = tmp_path / "further" / "seed-1" / "finished"
    other = replace(FIRST, settings=("training.learning_rate=0.5",))
    further = replace(FURTHER, starts=tuple(start._replace(run=other) for start in FURTHER.starts))
    shutil.rmtree(tmp_path / "first")
    assert "started from a training with other settings." in train(further)["further", 1]
    marker.write_text(marker.read_text().partition("\n")[0])  # the format of earlier versions
    marker.parent.with_suffix(".digest").unlink()
    assert ("further", 1) not in train(further)


def test_stopped_run_does_not_resume_if_its_start_run_was_retrained_differently(train, trainer, tmp_path):
    train(FURTHER)
    (tmp_path / "further" / "seed-1" / "finished").unlink()
    other = replace(FIRST, settings=("training.learning_rate=0.5",))
    further = replace(FURTHER, starts=tuple(start._replace(run=other) for start in FURTHER.starts))
    shutil.rmtree(tmp_path / "first")
    calls = len(trainer.calls)
    assert "started from a training with other settings." in train(further)["further", 1]
    assert [folder.parent.name for _, folder, _ in trainer.calls[calls:]] == ["first"]


def test_start_run_may_have_another_family(train, tmp_path):
    def further(*settings):
        first = replace(FIRST, settings=("model.family=recurrent", *settings))
        return replace(FURTHER, starts=tuple(start._replace(run=first) for start in FURTHER.starts))

    assert isinstance(train(further()), list)
    shutil.rmtree(tmp_path / "first")
    failed = train(further("model.input_feeding=false"))
    assert "started from a training with other settings." in failed["further", 1]


def test_run_that_began_with_another_start_run_is_refused(train, tmp_path):
    train(FURTHER)
    (tmp_path / "elsewhere").mkdir()
    for run in (FIRST, FURTHER):
        (tmp_path / run.name).rename(tmp_path / "elsewhere" / run.name)
    assert train(FURTHER, folder=tmp_path / "elsewhere") == []  # only the folder has changed
    other = replace(FIRST, name="other")
    failed = train(
        replace(FURTHER, starts=tuple(start._replace(run=other) for start in FURTHER.starts)),
        folder=tmp_path / "elsewhere",
    )
    assert re.search(r"start_forward was '.*/first/seed-1' and is '.*/other/seed-1'", failed["further", 1])


def test_each_run_is_listed_once_and_after_its_start_run():
    last = TrainingRun("last", "digits", starts=(Start("semi_supervised.start_forward", FURTHER),))
    assert [run.name for run in unique_runs([last, FIRST, last])] == ["first", "further", "last"]
