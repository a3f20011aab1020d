"""Learning rates at the corner points of their schedules."""

import keras
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bytenet.config import TrainingConfig
from bytenet.training.optimizers.schedules import WarmupDecay, make_schedule

DECAYS = ["constant", "cosine", "linear", "inverse_sqrt"]


def rates(schedule, *steps):
    """Learning rates of steps that are counted from 1. Keras counts them from 0."""
    return [float(schedule(step - 1)) for step in steps]


@pytest.mark.parametrize("decay", DECAYS)
def test_rate_rises_linearly_to_the_peak(decay):
    schedule = WarmupDecay(0.8, decay, warmup_steps=4, total_steps=100)
    np.testing.assert_allclose(rates(schedule, 1, 2, 3, 4), [0.2, 0.4, 0.6, 0.8], rtol=1e-6)


@pytest.mark.parametrize(
    ("decay", "steps", "expected"),
    [
        ("constant", (4, 5, 100, 1000), (0.8, 0.8, 0.8, 0.8)),
        # From 0.8 at step 4 to 0.2 at step 104, with a quarter and half of the way.
        ("linear", (4, 29, 54, 104, 1000), (0.8, 0.65, 0.5, 0.2, 0.2)),
        ("cosine", (4, 29, 54, 104, 1000), (0.8, 0.5 + 0.3 * 0.5**0.5, 0.5, 0.2, 0.2)),
        # A quarter of the peak (0.2) at step 64. Without the final rate, it would fall to 0.1 at step 256.
        ("inverse_sqrt", (4, 16, 64, 256), (0.8, 0.4, 0.2, 0.2)),
    ],
)
def test_rate_at_corner_points(decay, steps, expected):
    schedule = WarmupDecay(0.8, decay, warmup_steps=4, total_steps=104, final=0.2)
    np.testing.assert_allclose(rates(schedule, *steps), expected, rtol=1e-5)


@pytest.mark.parametrize("decay", DECAYS)
def test_rate_without_warm_up(decay):
    schedule = WarmupDecay(0.8, decay, warmup_steps=0, total_steps=100)
    first, fourth, last = rates(schedule, 1, 4, 100)
    assert 0.79 < first <= 0.8 + 1e-6
    expected_fourth = {"constant": 0.8, "inverse_sqrt": 0.4, "linear": 0.768}.get(decay)
    if expected_fourth:
        assert fourth == pytest.approx(expected_fourth)
    assert last == pytest.approx({"constant": 0.8, "inverse_sqrt": 0.08}.get(decay, 0), abs=1e-6)


@settings(max_examples=50)
@given(decay=st.sampled_from(DECAYS), warmup=st.integers(0, 50), total=st.integers(1, 60), step=st.integers(1, 200))
def test_rate_stays_between_zero_and_the_peak(decay, warmup, total, step):
    # This includes runs that end before their warm-up.
    schedule = WarmupDecay(0.8, decay, warmup, total, final=0.1)
    (rate,) = rates(schedule, step)
    assert 0 < rate <= 0.8 + 1e-6
    if step > max(warmup, total) and decay in ("linear", "cosine"):
        assert rate == pytest.approx(0.1)


def test_unknown_decay_is_refused():
    with pytest.raises(ValueError, match="Unknown decay 'steps'; known are constant, cosine, linear, inverse_sqrt"):
        WarmupDecay(0.8, "steps", 0, 10)(0)


def test_schedule_is_made_from_a_configuration():
    config = TrainingConfig(learning_rate=0.5, schedule="linear", warmup_steps=3, final_learning_rate=0.25)
    assert make_schedule(config, total_steps=7).get_config() == {
        "peak": 0.5, "decay": "linear", "warmup_steps": 3, "total_steps": 7, "final": 0.25,
    }  # fmt: skip


def test_round_trip():
    schedule = WarmupDecay(0.8, "cosine", 3, 10, 0.1)
    copy = keras.optimizers.schedules.deserialize(keras.optimizers.schedules.serialize(schedule))
    assert type(copy) is WarmupDecay
    assert copy.get_config() == schedule.get_config()
