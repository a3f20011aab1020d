"""What every family promises about its attention. See `TranslationModel.attention_weights`."""

import numpy as np
from keras.ops import convert_to_numpy

from .cases import CASES, draw_sentences, pad, parametrize
from .traced_model import traced


@parametrize(CASES)
def test_attention_is_a_distribution_over_the_real_source_symbols(case):
    model = traced(case.config).model
    source_ids, target_ids = pad(draw_sentences([6, 3]), 8), pad(draw_sentences([4, 5], seed=1))
    memory = model.encode(source_ids)
    layers = model.attention_weights(memory, target_ids)
    assert model.has_attention == bool(layers)
    matrices = [convert_to_numpy(weights) for weights in layers]
    if layers:
        matrices.append(convert_to_numpy(model.alignment(memory, target_ids))[:, None])
    for weights in matrices:
        assert weights.shape == (2, weights.shape[1], 5, 8)
        np.testing.assert_allclose(weights.sum(axis=-1), 1, atol=1e-5)
        if case.config.mask_padding:
            assert np.all(weights[0, ..., 6:] == 0)
            assert np.all(weights[1, ..., 3:] == 0)


@parametrize([case for case in CASES if case.config.mask_padding])
def test_attention_does_not_depend_on_later_characters_or_on_padding(case):
    model = traced(case.config).model
    source_ids, previous_ids = pad(draw_sentences([6]), 6), pad(draw_sentences([5], seed=1))
    for weights, longer in zip(
        model.attention_weights(model.encode(source_ids), previous_ids),
        model.attention_weights(model.encode(pad(source_ids, 9)), pad(previous_ids[:, :3], 7)),
        strict=True,
    ):
        np.testing.assert_allclose(longer[:, :, :3, :6], weights[:, :, :3], atol=1e-5)
