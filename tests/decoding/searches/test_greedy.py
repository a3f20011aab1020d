"""Greedy search: the likeliest symbol at each step, and nothing else."""

import keras
import numpy as np
import pytest

from bytenet.decoding import CompiledSearch

from ..inputs import SOURCES


def _greedy_by_whole_prefixes(model, sources, max_length):
    """Greedy search without state: it runs the whole network on each prefix."""
    ids = np.zeros((len(sources), max_length), np.int32)
    for position in range(max_length):
        logits = keras.ops.convert_to_numpy(model({"source_ids": sources, "target_ids": ids}))[:, position]
        logits[:, 0] = -np.inf
        ids[:, position] = logits.argmax(axis=-1)
    for row in ids:
        ends = np.flatnonzero(row == 1)
        if len(ends):
            row[ends[0] + 1 :] = 0
    return ids


@pytest.mark.parametrize("seed", range(3))
def test_greedy_search_equals_the_whole_network_on_each_prefix(recurrent_model, seed):
    model = recurrent_model(vocab_size=6, seed=seed, end_bias=0.5)
    result = CompiledSearch(model)(SOURCES, max_length=8)
    np.testing.assert_array_equal(result.ids[:, 0], _greedy_by_whole_prefixes(model, SOURCES, 8))
