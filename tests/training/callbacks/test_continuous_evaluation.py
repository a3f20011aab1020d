"""When random batches are measured, and their smoothed values in runs that are resumed with other measurements."""

from types import SimpleNamespace

import pytest

from bytenet.csv_log import read_csv_log
from bytenet.run_folder import RunFolder
from bytenet.training.callbacks import continuous_evaluation
from bytenet.training.callbacks.continuous_evaluation import ContinuousEvaluation
from bytenet.training.state import TrainingState

# The value of every measurement is the step.
VALIDATOR = SimpleNamespace(random_batch=lambda sampler, step: dict.fromkeys(ContinuousEvaluation.NAMES, float(step)))


@pytest.fixture
def measure(smallest_config, tmp_path):
    """A function that makes the callback of a run that is resumed at a step, and measures the next one."""
    config = smallest_config("evaluation.continuous_every_steps=1", "evaluation.smoothing=0.5")

    def measure(step, *prefixes):
        state = TrainingState(step=step)
        callback = ContinuousEvaluation(RunFolder(tmp_path), VALIDATOR, dict.fromkeys(prefixes), state, config)
        state.step += 1
        callback.on_train_batch_end(0)

    return measure


def test_new_measurements_are_smoothed_from_their_first_value_on(measure, tmp_path):
    measure(0, "")
    measure(1, "", "train_")
    measure(2, "", "train_")
    values = read_csv_log(tmp_path / "continuous.csv")
    assert values["bleu"] == [1, 2, 3]
    assert values["bleu_smoothed"] == pytest.approx([1, 5 / 3, 17 / 7], rel=1e-4)
    assert values["train_bleu"][1:] == [2, 3]
    assert values["train_bleu_smoothed"][1:] == pytest.approx([2, 8 / 3], rel=1e-4)


def test_batches_are_measured_when_the_seconds_of_the_configuration_have_passed(smallest_config, tmp_path, monkeypatch):
    clock = SimpleNamespace(now=1000.0)
    monkeypatch.setattr(continuous_evaluation, "time", SimpleNamespace(monotonic=lambda: clock.now))
    config = smallest_config("evaluation.continuous_every_seconds=60", "evaluation.continuous_every_steps=null")
    state = TrainingState()
    callback = ContinuousEvaluation(RunFolder(tmp_path), VALIDATOR, {"": None}, state, config)
    callback.on_train_begin()
    for seconds in (59, 60, 119, 121):
        clock.now = 1000.0 + seconds
        state.step += 1
        callback.on_train_batch_end(0)
    assert read_csv_log(tmp_path / "continuous.csv")["step"] == [2, 4]
