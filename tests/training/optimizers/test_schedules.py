"""Learning rates at the corner points of their schedules."""

import keras
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bytenet.config import TrainingConfig
from bytenet.training.optimizers.schedules import PlateauDecay, StepDecay, WarmupDecay, make_schedule

DECAYS = ["constant", "cosine", "linear", "inverse_sqrt"]


def rates(schedule, *steps):
    """Learning rates of steps that are counted from 1. Keras counts them from 0."""
    return [float(schedule(step - 1)) for step in steps]


@pytest.mark.parametrize("decay", DECAYS)
def test_rate_rises_linearly_to_the_peak(decay):
    schedule = WarmupDecay(0.8, decay, warmup_steps=4, total_updates=100)
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
    schedule = WarmupDecay(0.8, decay, warmup_steps=4, total_updates=104, final=0.2)
    np.testing.assert_allclose(rates(schedule, *steps), expected, rtol=1e-5)


@pytest.mark.parametrize("decay", DECAYS)
def test_rate_without_warm_up(decay):
    schedule = WarmupDecay(0.8, decay, warmup_steps=0, total_updates=100)
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


@pytest.mark.parametrize(
    ("factor", "units", "warmup", "expected"),
    [
        (1, 512, 4000, {1: 1.746928e-7, 100: 1.746928e-5, 4000: 6.987712e-4, 10000: 4.419417e-4, 100000: 1.397542e-4}),
        (1, 128, 1000, {1000: 2.795085e-3}),
        (2, 512, 8000, {8000: 9.882118e-4}),  # as in tensor2tensor
    ],
)
def test_inverse_square_root_is_the_schedule_of_the_transformer(factor, units, warmup, expected):
    schedule = WarmupDecay(factor * (units * warmup) ** -0.5, "inverse_sqrt", warmup, total_updates=10**5)
    np.testing.assert_allclose(rates(schedule, *expected), [*expected.values()], rtol=1e-6)


def step_schedule(updates_per_epoch, warmup=0, **settings):
    config = TrainingConfig(schedule="step", warmup_steps=warmup, **settings)
    schedule = make_schedule(config, total_updates=1)
    assert type(schedule) is StepDecay
    schedule.begin_run(100 * updates_per_epoch, updates_per_epoch)
    return schedule


@pytest.mark.parametrize(
    ("updates_per_epoch", "settings", "expected"),
    [
        # Sutskever et al. 2014: halved from 5 epochs on every half epoch. Step 51 is the first one of the sixth epoch.
        (
            10, {"learning_rate": 0.7, "decay_every_epochs": 0.5},
            {1: 0.7, 50: 0.7, 51: 0.35, 55: 0.35, 56: 0.175, 60: 0.175, 61: 0.0875, 75: 0.7 / 2**5, 76: 0.7 / 2**6},
        ),
        # The same with an odd number of steps: half an epoch has 1.5 steps.
        (
            3, {"learning_rate": 0.7, "decay_every_epochs": 0.5},
            {15: 0.7, 16: 0.35, 17: 0.35, 18: 0.175, 19: 0.0875, 20: 0.0875, 21: 0.04375},
        ),
        # Luong et al. 2015: halved from 5 epochs on every epoch; with dropout, from 8 epochs on.
        (4, {"learning_rate": 1.0}, {1: 1.0, 20: 1.0, 21: 0.5, 24: 0.5, 25: 0.25, 28: 0.25, 29: 0.125}),
        (4, {"learning_rate": 1.0, "decay_start_epoch": 8.0}, {32: 1.0, 33: 0.5, 36: 0.5, 37: 0.25, 48: 0.0625}),
        (
            4, {"learning_rate": 1.0, "decay_start_epoch": 0.5, "decay_factor": 0.1, "final_learning_rate": 0.05},
            {2: 1.0, 3: 0.1, 6: 0.1, 7: 0.05, 400: 0.05},
        ),
        # An epoch whose parts cannot be written as binary fractions.
        (7, {"learning_rate": 1.0, "decay_every_epochs": 1 / 7}, {35: 1.0, 36: 0.5, 37: 0.25, 40: 1 / 32}),
        # A long run.
        (
            30001, {"learning_rate": 1.0, "decay_every_epochs": 0.5},
            {150005: 1.0, 150006: 0.5, 165006: 0.5, 165007: 0.25, 180006: 0.25, 180007: 0.125},
        ),
    ],
)  # fmt: skip
def test_step_schedule_cuts_the_rate_at_its_times(updates_per_epoch, settings, expected):
    schedule = step_schedule(updates_per_epoch, **settings)
    np.testing.assert_allclose(rates(schedule, *expected), [*expected.values()], rtol=1e-6)


def test_step_schedule_follows_its_warm_up():
    schedule = step_schedule(4, warmup=10, learning_rate=1.0, decay_start_epoch=2.0)
    np.testing.assert_allclose(rates(schedule, 1, 9, 10, 12, 13), [0.1, 0.9, 0.5, 0.5, 0.25], rtol=1e-6)


def test_plateau_schedule_follows_its_warm_up_and_has_the_rate_that_is_set():
    schedule = make_schedule(TrainingConfig(schedule="plateau", learning_rate=0.8, warmup_steps=4), total_updates=9)
    assert type(schedule) is PlateauDecay
    np.testing.assert_allclose(rates(schedule, 1, 3, 4, 100), [0.2, 0.6, 0.8, 0.8], rtol=1e-6)
    schedule.set_rate(0.08)
    np.testing.assert_allclose(rates(schedule, 4, 100), [0.08, 0.08], rtol=1e-6)
    schedule.begin_run(20, 10)  # of another run
    np.testing.assert_allclose(rates(schedule, 4), [0.8], rtol=1e-6)


def test_plateau_schedule_rises_at_most_to_the_rate_that_is_set():
    schedule = PlateauDecay(1.0, warmup_steps=10, total_updates=100)
    schedule.set_rate(0.25)
    np.testing.assert_allclose(rates(schedule, 1, 2, 3, 9, 10), [0.1, 0.2, 0.25, 0.25, 0.25], rtol=1e-6)


def test_unknown_decay_is_refused():
    with pytest.raises(ValueError, match="Unknown decay 'steps'; known are constant, cosine, linear, inverse_sqrt"):
        WarmupDecay(0.8, "steps", 0, 10)


def test_schedule_is_made_from_a_configuration():
    config = TrainingConfig(learning_rate=0.5, schedule="linear", warmup_steps=3, final_learning_rate=0.25)
    assert make_schedule(config, total_updates=7).get_config() == {
        "peak": 0.5, "decay": "linear", "warmup_steps": 3, "total_updates": 7, "final": 0.25,
    }  # fmt: skip


@pytest.mark.parametrize(
    "schedule",
    [
        WarmupDecay(0.8, "cosine", 3, 10, 0.1),
        StepDecay(0.8, 3, 10, 0.1, factor=0.5, start_epoch=2.0, every_epochs=0.5),
        PlateauDecay(0.8, 3, 10),
    ],
)
def test_round_trip(schedule):
    copy = keras.optimizers.schedules.deserialize(keras.optimizers.schedules.serialize(schedule))
    assert type(copy) is type(schedule)
    assert copy.get_config() == schedule.get_config()
    assert rates(copy, 1, 5) == rates(schedule, 1, 5)
