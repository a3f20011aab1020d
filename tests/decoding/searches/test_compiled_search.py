"""A search as a graph: which search runs, how often it is traced, and which weights it reads."""

import numpy as np
import pytest

from bytenet.config.families.recurrent import RecurrentConfig
from bytenet.decoding import CompiledSearch, beam_search, greedy_search
from bytenet.models import RecurrentTranslator

from ..inputs import SOURCES


def test_compiled_search_equals_greedy_search_or_beam_search(recurrent_model):
    model = recurrent_model(vocab_size=6, end_bias=0.5, extra_length=2)
    arguments = {"length_limits": [8, 3, 5], "forbidden_ids": (0, 2)}
    greedy = greedy_search(model, SOURCES, **arguments)
    beam = beam_search(model, SOURCES, beam_size=3, length_penalty=0.6, n_best=2, **arguments)
    for expected, settings in ((greedy, ()), (beam, (3, 0.6, 2))):
        search = CompiledSearch(model, *settings, forbidden_ids=(0, 2))
        result = search(SOURCES, length_limits=[8, 3, 5])
        for name, actual, desired in zip(result._fields, result, expected, strict=True):
            np.testing.assert_allclose(actual, desired, atol=1e-5, err_msg=name)


def test_each_call_uses_the_current_weights():
    model = RecurrentTranslator(RecurrentConfig(dim=4), 6)
    model({"source_ids": SOURCES, "target_ids": SOURCES})
    search = CompiledSearch(model, beam_size=3)
    for symbol in (4, 5):
        model.head.bias.assign(50.0 * (np.eye(6)[symbol] - np.eye(6)[1]))  # no hypothesis ends
        np.testing.assert_array_equal(search(SOURCES, max_length=5).ids, np.full((len(SOURCES), 1, 5), symbol))


def test_search_is_traced_once_per_shape(recurrent_model):
    model = recurrent_model(vocab_size=6)
    search = CompiledSearch(model, beam_size=2)
    for sources in (SOURCES, SOURCES[::-1], SOURCES[:2], SOURCES):
        search(sources)
    assert model.traces == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"length_penalty": -1.0}, "length_penalty is -1.0; expected 0 or more"),
        ({"length_penalty_rule": "gmnt"}, "gmnt"),
    ],
)
def test_numbers_are_checked_with_and_without_a_beam(recurrent_model, arguments, message):
    for beam_size in (1, 2):
        search = CompiledSearch(recurrent_model(vocab_size=6), beam_size=beam_size, **arguments)
        with pytest.raises(ValueError, match=message):
            search(SOURCES)
