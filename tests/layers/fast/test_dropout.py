"""Dropout by a hash: each unit is dropped at the right rate, independently of all others."""

import keras
import numpy as np
import pytest

from bytenet.layers.fast import HashedAlphaDropout, HashedDropout

from ..random_weights import random_values

SELU_FLOOR = -1.0507009873554805 * 1.6732632423543772
KINDS = pytest.mark.parametrize("kind", [HashedDropout, HashedAlphaDropout])


def kept(rate, kind=HashedDropout):
    outputs = dropped_out(kind, rate, np.ones((200, 100, 8), "float32"))
    return outputs > 0, outputs


def dropped_out(kind, rate, inputs, dtype="float32"):
    return keras.ops.convert_to_numpy(kind(rate, seed=1, dtype=dtype)(inputs, training=True))


@pytest.mark.parametrize("rate", [0.1, 0.15, 0.5, 0.9])
def test_units_are_dropped_at_the_rate_and_the_mean_is_kept(rate):
    is_kept, outputs = kept(rate)
    share = is_kept.reshape(-1, 8).mean(axis=0)  # of each channel, over 20,000 steps
    deviation = np.sqrt(rate * (1 - rate) / 20_000)
    np.testing.assert_allclose(share, 1 - rate, atol=5 * deviation)
    assert outputs.mean() == pytest.approx(1, abs=5 * deviation / np.sqrt(8) / (1 - rate))
    assert len(np.unique(outputs)) == 2


@KINDS
@pytest.mark.parametrize("rate", [0.15, 0.5])
def test_neighbouring_units_are_independent(kind, rate):
    is_kept, _ = kept(rate, kind)
    correlations = np.corrcoef(is_kept.reshape(-1, 8), rowvar=False)
    assert np.abs(correlations - np.eye(8)).max() < 5 / np.sqrt(20_000)


@pytest.mark.parametrize("seed", [0, 1, 2**31 - 1])
def test_steps_rows_and_calls_are_independent(seed):
    layer, ones = HashedDropout(0.5, seed=seed), np.ones((64, 128, 4), "float32")
    calls = np.stack([keras.ops.convert_to_numpy(layer(ones, training=True)) > 0 for _ in range(16)])
    for axis in range(4):  # calls, rows, steps, channels: neighbours and pairs a power of two apart
        for apart in (1, 2, 4, 8):
            if apart < calls.shape[axis]:
                first = np.take(calls, range(calls.shape[axis] - apart), axis).ravel()
                second = np.take(calls, range(apart, calls.shape[axis]), axis).ravel()
                assert abs(np.corrcoef(first, second)[0, 1]) < 5 / np.sqrt(first.size)


def test_each_call_draws_new_values_and_a_seed_repeats_them():
    layer, again = HashedDropout(0.5, seed=3), HashedDropout(0.5, seed=3)
    ones = np.ones((2, 5, 7), "float32")
    first, second = layer(ones, training=True), layer(ones, training=True)
    assert first.shape == (2, 5, 7)
    assert not np.array_equal(first, second)
    np.testing.assert_array_equal(first, again(ones, training=True))


@KINDS
def test_nothing_is_dropped_outside_of_training_or_at_rate_0(kind):
    values = random_values(2, 3, 4)
    np.testing.assert_array_equal(kind(0.5)(values), values)
    np.testing.assert_array_equal(kind(0.0)(values, training=True), values)


@KINDS
def test_a_rate_close_to_1_keeps_few_units(kind):
    is_kept, outputs = kept(0.9999, kind)
    assert is_kept.mean() == pytest.approx(1e-4, abs=5 * np.sqrt(1e-4 / is_kept.size))
    assert np.isfinite(outputs).all()


@KINDS
def test_a_rate_of_1_is_refused(kind):
    with pytest.raises(ValueError, match="is 1; expected"):
        kind(1)


@pytest.mark.parametrize("rate", [0.05, 0.1, 0.5, 0.9])
@pytest.mark.parametrize("activation", ["linear", "selu"])
def test_alpha_dropout_keeps_mean_0_and_variance_1(activation, rate):
    inputs = keras.activations.get(activation)(random_values(200, 100, 8))
    outputs = dropped_out(HashedAlphaDropout, rate, inputs).astype("float64")
    assert outputs.mean() == pytest.approx(0, abs=5 / np.sqrt(outputs.size))
    deviation = np.sqrt(((outputs**4).mean() - 1) / outputs.size)
    assert (outputs**2).mean() == pytest.approx(1, abs=5 * deviation)


@pytest.mark.parametrize(("dtype", "tolerance"), [("float32", 1e-6), ("float16", 5e-3), ("mixed_bfloat16", 4e-2)])
def test_alpha_dropout_gives_dropped_units_one_value_and_maps_the_rest(dtype, tolerance):
    share = 0.7  # kept
    scale = 1 / np.sqrt(share + SELU_FLOOR**2 * share * (1 - share))
    shift = -scale * (1 - share) * SELU_FLOOR
    inputs = keras.ops.convert_to_numpy(keras.activations.selu(random_values(200, 100, 8)))
    inputs += 0.01  # no input is at the floor
    outputs = dropped_out(HashedAlphaDropout, 0.3, inputs, dtype).astype("float32")
    dropped = outputs.flat[np.abs(outputs - (scale * SELU_FLOOR + shift)).argmin()]
    assert dropped == pytest.approx(scale * SELU_FLOOR + shift, abs=tolerance)
    is_dropped = outputs == dropped
    np.testing.assert_allclose(outputs[~is_dropped], (scale * inputs + shift)[~is_dropped], atol=tolerance, rtol=1e-2)
    assert is_dropped.mean() == pytest.approx(1 - share, abs=5e-3)


@KINDS
def test_configuration_round_trip(kind):
    layer = kind(0.3, seed=5, name="dropout")
    copy = keras.saving.deserialize_keras_object(keras.saving.serialize_keras_object(layer))
    assert type(copy) is kind
    assert copy.get_config() == layer.get_config()
    ones = np.ones((2, 5, 7), "float32")
    np.testing.assert_array_equal(copy(ones, training=True), layer(ones, training=True))


def test_alpha_dropout_is_saved_with_a_model(tmp_path):
    model = keras.Sequential([keras.Input((5, 8)), HashedAlphaDropout(0.3, seed=5)])
    values = random_values(2, 5, 8)
    model.save(tmp_path / "model.keras")
    copy = keras.saving.load_model(tmp_path / "model.keras")
    assert type(copy.layers[-1]) is HashedAlphaDropout
    np.testing.assert_array_equal(copy(values, training=True), model(values, training=True))
