"""Greedy search: the likeliest symbol at each step, and nothing else."""

import keras
import numpy as np
import pytest

from bytenet.decoding import Decoder, greedy_search

SOURCES = np.array([[3, 2, 4, 1, 0, 0], [4, 4, 1, 0, 0, 0], [2, 3, 3, 2, 4, 1]], np.int32)


def _greedy_by_whole_prefixes(model, sources, max_length):
    """The same without state: the whole network on each prefix."""
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


@pytest.mark.parametrize("seed", range(5))
def test_equal_to_the_whole_network_on_each_prefix(recurrent_model, sequence_log_probabilities, seed):
    model = recurrent_model(vocab_size=6, seed=seed, end_bias=0.5)
    result = Decoder(model)(SOURCES, max_length=8)
    expected = _greedy_by_whole_prefixes(model, SOURCES, 8)
    np.testing.assert_array_equal(result.ids[:, 0], expected)
    for sentence, ids in enumerate(expected):
        symbols = tuple(ids[ids != 0])
        assert result.lengths[sentence, 0] == len(symbols)
        assert result.ended[sentence, 0] == (1 in symbols)
        log_probability = sequence_log_probabilities(model, SOURCES[sentence], [symbols])[0]
        assert float(result.log_probabilities[sentence, 0]) == pytest.approx(log_probability, abs=1e-4)


@pytest.mark.parametrize("seed", range(5))
def test_equal_to_a_beam_of_one(recurrent_model, seed):
    from bytenet.decoding import beam_search

    model = recurrent_model(vocab_size=6, seed=seed, end_bias=0.5)
    greedy, beam = greedy_search(model, SOURCES), beam_search(model, SOURCES, beam_size=1)
    for name, one, other in zip(greedy._fields, greedy, beam, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-5, err_msg=name)


def test_length_is_the_models_unless_given(recurrent_model):
    model = recurrent_model(vocab_size=6, end_bias=-50.0, extra_length=3)
    assert Decoder(model)(SOURCES).ids.shape == (3, 1, 9)
    assert Decoder(model)(SOURCES, max_length=4).ids.shape == (3, 1, 4)


def test_the_search_stops_when_all_sentences_have_ended(recurrent_model):
    model = recurrent_model(vocab_size=6, end_bias=50.0)
    steps = []
    step = model.step

    def counted(previous_ids, state, memory, position):
        steps.append(int(position))
        return step(previous_ids, state, memory, position)

    model.step = counted
    result = greedy_search(model, SOURCES, max_length=50)  # outside a graph, so that steps can be counted
    assert steps == [0]
    assert result.ended.numpy().all()
