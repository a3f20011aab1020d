"""The share of wrong characters."""

import keras
import numpy as np

from bytenet.training.metrics import CharacterError

LOGITS = np.eye(5, dtype="float32")  # in each row, the logit at the row's index is the largest


def test_metric_counts_real_characters_over_all_batches():
    metric = CharacterError()
    metric.update_state(np.array([[2, 3, 1, 0]]), LOGITS[[[2, 4, 1, 3]]])
    assert float(metric.result()) == np.float32(1 / 3)
    metric.update_state(np.array([[1, 0], [2, 1]]), LOGITS[[[2, 0], [2, 1]]])
    assert float(metric.result()) == np.float32(2 / 6)
    metric.reset_state()
    metric.update_state(np.array([[1]]), LOGITS[[[1]]])
    assert float(metric.result()) == 0


def test_metric_is_zero_before_the_first_real_character():
    metric = CharacterError()
    assert float(metric.result()) == 0
    metric.update_state(np.zeros((2, 3)), LOGITS[np.ones((2, 3), int)])
    assert float(metric.result()) == 0


def test_sample_weights_do_not_matter():
    metric = CharacterError()
    metric.update_state(np.array([[2], [3]]), LOGITS[[[2], [1]]], sample_weight=np.array([9.0, 1.0]))
    assert float(metric.result()) == 0.5


def test_round_trip():
    metric = keras.metrics.deserialize(keras.metrics.serialize(CharacterError(name="wrong_share")))
    assert type(metric) is CharacterError
    assert metric.name == "wrong_share"
