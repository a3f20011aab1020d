"""Searches as functions of NumPy arrays, and how their results are compared."""

from collections.abc import Callable
from functools import cache, partial
from typing import NamedTuple

import numpy as np
import tensorflow as tf

from bytenet.decoding import Sampling, SearchResult, beam_search, greedy_search, sample

from .cases import Case
from .varied_model import MAX_LENGTH, varied

FORBIDDEN_IDS = (0, 2)


class Search(NamedTuple):
    """A search with its settings, and the number of hypotheses that it returns for a sentence."""

    run: Callable[..., SearchResult]
    num_hypotheses: int


def _sample(model, source_ids, **arguments) -> SearchResult:
    """Three samples of each sentence. All sentences have the same random numbers, in any batch."""
    numbers = np.random.default_rng(1).random((1, 4, MAX_LENGTH), np.float32)
    sampling = Sampling(samples=4, temperature=0.9, top_k=9, top_p=0.95)
    numbers_of_batch = tf.repeat(numbers, tf.shape(source_ids)[0], axis=0)
    return sample(model, source_ids, numbers_of_batch, sampling, n_best=3, length_penalty=0.8, **arguments)


# To cover a new search, add a line here.
SEARCHES = {
    "greedy": Search(greedy_search, 1),
    "beam": Search(partial(beam_search, beam_size=4, n_best=3, length_penalty=0.8), 3),
    "sampling": Search(_sample, 3),
}


@cache
def graph_of(case: Case, search: str, jit_compile: bool = False) -> Callable[..., SearchResult]:
    """The search as a graph for any number of sentences of any length."""
    run = partial(SEARCHES[search].run, varied(case.config), max_length=MAX_LENGTH, forbidden_ids=FORBIDDEN_IDS)
    return tf.function(
        lambda source_ids, length_limits: run(source_ids, length_limits=length_limits),
        input_signature=[tf.TensorSpec([None, None], tf.int32), tf.TensorSpec([None], tf.int32)],
        autograph=False,
        jit_compile=jit_compile,
    )


def as_numpy(result: SearchResult) -> SearchResult:
    """The same result in arrays."""
    return SearchResult(*(tensor.numpy() for tensor in result))


def existing(result: SearchResult) -> np.ndarray:
    """Which hypotheses exist. A sentence may have fewer than requested."""
    return np.isfinite(result.log_probabilities)


def assert_same_hypotheses(actual: SearchResult, expected: SearchResult) -> None:
    """Check that two results have the same hypotheses, with scores that are equal up to rounding."""
    exists = existing(expected)
    np.testing.assert_array_equal(existing(actual), exists)
    for name in ("ids", "lengths", "ended"):
        np.testing.assert_array_equal(getattr(actual, name)[exists], getattr(expected, name)[exists], err_msg=name)
    for name in ("scores", "log_probabilities"):
        np.testing.assert_allclose(
            getattr(actual, name)[exists], getattr(expected, name)[exists], atol=1e-4, err_msg=name
        )
