"""Every family can hide target characters from its decoder in training."""

import random

import numpy as np
import pytest

from bytenet.models import build_model

from .cases import FAMILY_CASES, VOCAB_SIZE, draw_sentences, narrow, pad, parametrize, randomize

SOURCE_IDS, TARGET_IDS = pad(draw_sentences([9, 9])), pad(draw_sentences([14, 14], seed=1))


@parametrize(FAMILY_CASES)
@pytest.mark.parametrize("rate", [0.5, 0.9999])
def test_hidden_characters_do_not_matter_in_training(case, rate):
    random.seed(0)
    model = build_model(narrow(type(case.config), character_dropout=rate), VOCAB_SIZE)
    randomize(model)
    pair = {"source_ids": SOURCE_IDS, "target_ids": TARGET_IDS}
    memory = model.encode(SOURCE_IDS, training=True)
    previous_ids = np.pad(TARGET_IDS, [[0, 0], [1, 0]])[:, :-1]
    all_seen = model.decode(memory, previous_ids, training=True)
    all_hidden = model.decode(memory, 0 * previous_ids, training=True)
    assert np.abs(all_seen - all_hidden).max() > 1e-2
    in_training = model(pair, training=True)
    assert np.allclose(in_training, all_hidden, atol=1e-5) == (rate > 0.9)
    assert not np.allclose(in_training, all_seen, atol=1e-5)
    in_use, seen_in_use = model(pair), model.decode(model.encode(SOURCE_IDS), previous_ids)
    np.testing.assert_allclose(in_use, seen_in_use, atol=1e-5)
