"""Checkpoints that are saved because time has passed, and what a stopped run says."""

from contextlib import nullcontext
from types import SimpleNamespace

import pytest

from bytenet.config import TrainingConfig
from bytenet.run_folder import RunFolder
from bytenet.training.callbacks.checkpoint_saver import CheckpointSaver
from bytenet.training.state import TrainingState


@pytest.fixture
def make_run(monkeypatch):
    """A function that makes a run of two epochs of four steps.

    It has its callback, its state, what the workers agree on, and the steps of its checkpoints.
    """

    def make(agreement, num_workers=1):
        config, state = SimpleNamespace(training=TrainingConfig(checkpoint_every_seconds=100.0)), TrainingState()
        saver = CheckpointSaver(RunFolder("runs/my"), [], state, config, 4, 8, agreement, num_workers)
        saver.set_model(SimpleNamespace(stop_training=False))
        saved = []
        monkeypatch.setattr(saver, "save", lambda: saved.append(state.step))
        return SimpleNamespace(saver=saver, state=state, agreement=agreement, saved=saved)

    return make


@pytest.fixture
def run(make_run):
    """A run that nothing asks to stop."""
    return make_run(SimpleNamespace(seconds_since_checkpoint=0.0, is_asked_to_stop=False))


@pytest.mark.parametrize(("seconds", "is_saved"), [(0.0, False), (99.9, False), (100.0, True), (1000.0, True)])
def test_a_step_is_saved_after_the_seconds_of_the_configuration(run, seconds, is_saved):
    run.state.step = run.state.batch = 3
    run.agreement.seconds_since_checkpoint = seconds
    run.saver.on_train_batch_end(2)
    assert run.saved == [3] * is_saved


@pytest.mark.parametrize(("seconds", "is_saved"), [(0.0, False), (9.9, False), (10.0, True), (1000.0, True)])
def test_an_epoch_is_saved_after_a_tenth_of_these_seconds(run, seconds, is_saved):
    run.state.step = run.state.batch = 4
    run.agreement.seconds_since_checkpoint = seconds
    run.saver.on_train_batch_end(3)
    assert run.saved == []  # the evaluation comes first
    run.state.epoch, run.state.batch = 1, 0
    run.saver.on_epoch_end(0)
    assert run.saved == [4] * is_saved


@pytest.mark.parametrize(("answers", "stops"), [([False, True], False), ([True, True], True)])
def test_a_run_that_stops_has_saved_its_last_step(make_run, answers, stops):
    """A signal comes while the callback decides: after its first look, or before."""
    looks = iter(answers)
    agreement = type("Agreement", (), {"is_asked_to_stop": property(lambda _: next(looks, True))})()
    agreement.seconds_since_checkpoint = 0.0
    run = make_run(agreement)
    run.state.step = run.state.batch = 3
    with pytest.raises(KeyboardInterrupt) if stops else nullcontext():
        run.saver.on_train_batch_end(2)
    assert run.saved == [3] * stops


def test_the_last_step_is_always_saved(run):
    run.state.step, run.state.epoch = 8, 2
    run.saver.on_epoch_end(1)
    assert run.saved == [8]


@pytest.mark.parametrize(
    ("num_workers", "advice"),
    [
        (1, "Resume with: bytenet train --resume --run runs/my"),
        (
            3,
            "To resume, start all 3 workers again with --resume. On one machine: bytenet launch --workers 3 -- train "
            "--resume --run runs/my",
        ),
    ],
)
def test_a_stopped_run_says_how_all_its_workers_resume(make_run, num_workers, advice):
    run = make_run(SimpleNamespace(seconds_since_checkpoint=0.0, is_asked_to_stop=True), num_workers)
    run.state.step = run.state.batch = 2
    with pytest.raises(KeyboardInterrupt) as stop:
        run.saver.on_train_batch_end(1)
    assert str(stop.value) == f"Stopped at step 2; everything is saved. {advice}"


def test_a_run_that_is_stopped_after_its_last_step_is_finished(make_run):
    run = make_run(SimpleNamespace(seconds_since_checkpoint=0.0, is_asked_to_stop=True))
    run.state.step, run.state.epoch = 8, 2
    with pytest.raises(KeyboardInterrupt, match="The run is finished and saved"):
        run.saver.on_epoch_end(1)
