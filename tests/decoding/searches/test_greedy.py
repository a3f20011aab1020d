"""Greedy search: the likeliest symbol at each step, and nothing else."""

import keras
import numpy as np
import pytest

from bytenet.decoding import CompiledSearch, beam_search

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


@pytest.mark.parametrize("rule", ["gnmt", "length"])
def test_score_is_divided_by_the_length_penalty_as_with_a_beam_of_one(recurrent_model, rule):
    model = recurrent_model(vocab_size=6, end_bias=0.5)
    options = {"length_penalty": 0.8, "length_penalty_rule": rule}
    greedy = CompiledSearch(model, **options)(SOURCES, max_length=8)
    beam = beam_search(model, SOURCES, beam_size=1, max_length=8, **options)
    np.testing.assert_array_equal(greedy.ids, beam.ids)
    np.testing.assert_allclose(greedy.scores, beam.scores, atol=1e-5)
    assert np.all(greedy.scores[:, 0] > greedy.log_probabilities[:, 0])
