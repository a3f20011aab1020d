"""What all searches share: length limits, and the symbols that may be chosen."""

from functools import partial

import numpy as np
import pytest
import tensorflow as tf

from bytenet.config.families.transformer import TransformerConfig
from bytenet.decoding import CompiledSearch, Sampling, beam_search, greedy_search, sample
from bytenet.decoding.searches.search import length_limits_or_default, symbol_offsets
from bytenet.models import build_model

from ..inputs import SOURCES

SEARCHES = {
    "greedy": greedy_search,
    "beam": partial(beam_search, beam_size=2),
    "sampling": partial(sample, random_numbers=np.zeros((len(SOURCES), 1, 9), np.float32), sampling=Sampling()),
    "compiled": lambda model, source_ids, **options: CompiledSearch(model, jit_compile=True)(source_ids, **options),
}


@pytest.fixture(scope="module")
def limited_model():
    """It has learned 8 positions."""
    sizes = {"dim": 4, "heads": 1, "encoder_layers": 1, "decoder_layers": 1}
    return build_model(TransformerConfig(positions="learned", max_positions=8, **sizes), 6)


@pytest.mark.parametrize("search", SEARCHES)
def test_search_longer_than_the_model_can_write_is_refused(search, limited_model):
    with pytest.raises(ValueError, match=r"at most 8 symbols, but 9 were asked for\. Choose a shorter length"):
        SEARCHES[search](limited_model, SOURCES, max_length=9)


def test_length_limit_in_a_graph_is_what_the_model_can_write(limited_model, recurrent_model):
    for length in (7, 8):
        assert length_limits_or_default(limited_model, SOURCES, length, None)[0] == length
    for length, expected in ((7, 7), (8, 8), (9, 8)):
        longest, limits = length_limits_or_default(limited_model, SOURCES, tf.constant(length), [3, 9, 0])
        assert (int(longest), limits.numpy().tolist()) == (expected, [3, expected, 0])
    for length in (900, tf.constant(900)):
        assert int(length_limits_or_default(recurrent_model(6), SOURCES, length, None)[0]) == 900


@pytest.mark.parametrize(("forbidden_ids", "min_length"), [((0, 1, 2, 3), 0), ((0, 2, 3), 2)])
def test_options_that_leave_no_symbol_are_refused(forbidden_ids, min_length):
    with pytest.raises(ValueError, match=rf"min_length {min_length}, a hypothesis can begin with none of the"):
        symbol_offsets(4, forbidden_ids, min_length)
    assert symbol_offsets(5, forbidden_ids, min_length)(0)[4] == 0
    assert symbol_offsets(4, (0, 2, 3), 1)(0)[1] == 0
