"""ByteNet's searches, whose cached past stays in place while the beams change places."""

import keras
import numpy as np
import pytest

from bytenet.config.families.bytenet import ByteNetConfig
from bytenet.decoding import CompiledSearch
from bytenet.models import ByteNet

SOURCES = np.array([[3, 2, 4, 1, 0, 0], [4, 4, 1, 0, 0, 0], [2, 3, 3, 2, 4, 1]], np.int32)


@pytest.fixture(scope="module")
def model():
    model = ByteNet(ByteNetConfig(dim=8, num_sets=1, dilations=(1, 2, 4)), 9)
    model.build({"source_ids": (None, None), "target_ids": (None, None)})
    random = np.random.default_rng(5)
    for weight in model.trainable_weights:
        inputs = weight.shape[-2] if len(weight.shape) > 1 else 16
        weight.assign(random.normal(0, 2 / inputs**0.5, weight.shape))
    return model


@pytest.mark.parametrize("jit_compile", [False, True])
def test_beams_equal_those_of_a_cache_that_is_moved(model, monkeypatch, jit_compile):
    def search():
        # Forbidden to end, the hypotheses have time to take over from each other often.
        decoder = CompiledSearch(model, beam_size=4, n_best=4, forbidden_ids=(0, 1), jit_compile=jit_compile)
        return decoder(SOURCES, max_length=40)

    found = search()
    parents = set()

    def move(state, rows):
        parents.add(rows.shape)
        return state | {"past": keras.ops.take(state["past"], rows, axis=0)}

    monkeypatch.setattr(model._ring, "select", move)
    expected = search()
    assert parents == {(12,)}
    assert len({tuple(ids) for ids in expected.ids.numpy().reshape(12, 40)}) == 12
    assert (np.diff(expected.scores, axis=1) < 0).all()
    np.testing.assert_array_equal(found.ids, expected.ids)
    np.testing.assert_array_equal(found.scores, expected.scores)
