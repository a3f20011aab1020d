"""Dropout of one draw for two units: each unit alone is dropped as often as it should be, and all independently."""

import keras
import numpy as np
import pytest

from bytenet.layers import PairedDropout


def kept(rate, shape=(200, 100, 8), seed=1):
    outputs = keras.ops.convert_to_numpy(PairedDropout(rate, seed=seed)(np.ones(shape, "float32"), training=True))
    return outputs != 0, outputs


@pytest.mark.parametrize("rate", [0.1, 0.15, 0.5, 0.9])
def test_units_are_dropped_at_the_rate_and_the_mean_is_kept(rate):
    is_kept, outputs = kept(rate)
    share = is_kept.reshape(-1, 8).mean(axis=0)  # of each channel, over 20,000 steps
    deviation = np.sqrt(rate * (1 - rate) / 20_000)
    np.testing.assert_allclose(share, 1 - rate, atol=5 * deviation + 1 / 4096)
    assert outputs.mean() == pytest.approx(1, abs=5 * deviation / np.sqrt(8) / (1 - rate))
    assert len(np.unique(outputs)) == 2


@pytest.mark.parametrize("rate", [0.15, 0.5])
def test_units_that_share_a_draw_are_independent(rate):
    is_kept, _ = kept(rate)
    correlations = np.corrcoef(is_kept.reshape(-1, 8), rowvar=False)
    assert np.abs(correlations - np.eye(8)).max() < 5 / np.sqrt(20_000)


def test_each_call_draws_anew_and_a_seed_draws_the_same():
    layer, again = PairedDropout(0.5, seed=3), PairedDropout(0.5, seed=3)
    ones = np.ones((2, 5, 7), "float32")  # an odd number of channels: one half of a draw is left over
    first, second = layer(ones, training=True), layer(ones, training=True)
    assert first.shape == (2, 5, 7)
    assert not np.array_equal(first, second)
    np.testing.assert_array_equal(first, again(ones, training=True))


def test_nothing_is_dropped_outside_of_training_or_at_rate_0():
    values = np.random.default_rng(0).normal(size=(2, 3, 4)).astype("float32")
    np.testing.assert_array_equal(PairedDropout(0.5)(values), values)
    np.testing.assert_array_equal(PairedDropout(0.0)(values, training=True), values)


def test_a_rate_of_1_is_refused():
    with pytest.raises(ValueError, match="below 1; found 1"):
        PairedDropout(1)
