"""The smoothed values of random batches, over runs that are resumed with other measurements."""

from types import SimpleNamespace

import pytest

from bytenet.csv_log import read_csv_log
from bytenet.run_folder import RunFolder
from bytenet.training.callbacks.continuous_evaluation import ContinuousEvaluation
from bytenet.training.state import TrainingState


@pytest.fixture
def measure(smallest_config, tmp_path):
    """A function that makes the callback of a run that is resumed at a step, and measures the next one."""
    config = smallest_config("evaluation.continuous_every_steps=1", "evaluation.smoothing=0.5")
    validator = SimpleNamespace(
        random_batch=lambda sampler, step: dict.fromkeys(ContinuousEvaluation.NAMES, float(step))
    )

    def measure(step, *prefixes):
        state = TrainingState(step=step)
        callback = ContinuousEvaluation(RunFolder(tmp_path), validator, dict.fromkeys(prefixes), state, config)
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
