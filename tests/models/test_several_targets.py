"""Several targets of one source, which is encoded once, are what they are beside copies of it."""

import keras
import numpy as np
import pytest
from keras.ops import convert_to_numpy

from bytenet.config.families.attention import AttentionConfig
from bytenet.config.families.bytenet import ByteNetConfig
from bytenet.models import AttentionModel, ByteNet

MODELS = {
    "bytenet": lambda: ByteNet(ByteNetConfig(dim=8, num_sets=1, dilations=(1, 2)), 7),
    "bytenet as in the thesis": lambda: ByteNet(
        ByteNetConfig(dim=8, num_sets=1, dilations=(1, 2), mask_padding=False, length_rule="pair"), 7
    ),
    "attention": lambda: AttentionModel(AttentionConfig(dim=4, num_layers=1), 7),
    "attention as in the thesis": lambda: AttentionModel(AttentionConfig(dim=4, head="bounded", mask_padding=False), 7),
}
SOURCES = np.array([[2, 3, 4, 5, 1], [6, 1, 0, 0, 0]], "int32")
TARGETS = np.array([[4, 1, 0], [2, 2, 1], [1, 0, 0], [3, 0, 1], [6, 5, 4], [5, 1, 0]], "int32")


@pytest.mark.parametrize("training", [False, True])
@pytest.mark.parametrize("name", MODELS)
def test_each_target_goes_with_its_source(name, training):
    results = []
    for sources in (SOURCES, np.repeat(SOURCES, 3, axis=0)):
        keras.utils.set_random_seed(8)
        model = MODELS[name]()
        logits = model({"source_ids": sources, "target_ids": TARGETS}, training=training)
        results.append((convert_to_numpy(logits), [convert_to_numpy(weight) for weight in model.weights]))
    (logits, weights), (repeated_logits, repeated_weights) = results
    assert logits.shape == (6, 3, 7)
    np.testing.assert_allclose(logits, repeated_logits, atol=1e-5)
    for one, other in zip(weights, repeated_weights, strict=True):  # running statistics too
        np.testing.assert_allclose(one, other, atol=1e-5)
    # The two sources differ enough for an exchange to show.
    swapped = model({"source_ids": SOURCES[::-1], "target_ids": TARGETS}, training=training)
    assert np.abs(convert_to_numpy(swapped) - logits).max() > 1e-3
