"""What every search promises, with every family of models. See `SearchResult` and `TranslationModel`."""

import itertools
from functools import cache, partial

import numpy as np
import pytest
import tensorflow as tf

from bytenet.datasets import EOS_ID
from bytenet.decoding import Sampling, SearchResult, beam_search, sample
from bytenet.decoding.scoring import teacher_forced_log_probabilities

from .cases import FAMILY_CASES, VOCAB_SIZE, Case, draw_sentences, pad, parametrize
from .traced_search import FORBIDDEN_IDS, SEARCHES, as_numpy, assert_same_hypotheses, existing, graph_of
from .varied_model import MAX_LENGTH, varied

SENTENCES = draw_sentences([6, 3, 5, 2, 6, 4, 6, 5, 3, 4, 6, 2], seed=1)
LENGTH_LIMITS = np.array([12, 12, 7, 12, 0, 20, 12, 3, 12, 12, 12, 12], np.int32)

BYTENET, RECURRENT = (
    next(case for case in FAMILY_CASES if case.config.family == family) for family in ("bytenet", "recurrent")
)

every_search = pytest.mark.parametrize("search", SEARCHES)
every_family = parametrize(FAMILY_CASES)


@cache
def result_of(case: Case, search: str, jit_compile: bool = False) -> SearchResult:
    """The hypotheses of all sentences in one batch, as NumPy arrays."""
    return as_numpy(graph_of(case, search, jit_compile)(pad(SENTENCES), LENGTH_LIMITS))


def teacher_forced(model, sources, ids) -> np.ndarray:
    """Log-probabilities of hypotheses, int32 `(batch, n_best, length)`, from one pass over each whole hypothesis."""
    batch, n_best, length = ids.shape
    inputs = {"source_ids": np.repeat(sources, n_best, axis=0), "target_ids": ids.reshape(-1, length)}
    return teacher_forced_log_probabilities(model, inputs).numpy().reshape(batch, n_best)


@every_family
@every_search
def test_result_has_the_promised_shapes_and_types(case, search):
    result, rows = result_of(case, search), (len(SENTENCES), SEARCHES[search].num_hypotheses)
    assert {name: (array.shape, array.dtype.name) for name, array in result._asdict().items()} == {
        "ids": ((*rows, MAX_LENGTH), "int32"),
        "scores": (rows, "float32"),
        "log_probabilities": (rows, "float32"),
        "lengths": (rows, "int32"),
        "ended": (rows, "bool"),
    }


@every_family
@every_search
def test_log_probabilities_equal_one_pass_over_the_hypothesis(case, search):
    result = result_of(case, search)
    exists = existing(result)
    assert exists[:, 0].all()
    expected = teacher_forced(varied(case.config), pad(SENTENCES), result.ids)
    np.testing.assert_allclose(result.log_probabilities[exists], expected[exists], atol=1e-4)


@every_family
@every_search
def test_hypothesis_stops_at_its_end_symbol_or_its_length_limit(case, search):
    result = result_of(case, search)
    exists = existing(result)
    limits = np.broadcast_to(np.minimum(LENGTH_LIMITS, MAX_LENGTH)[:, None], exists.shape)
    hypotheses = [array[exists] for array in (result.ids, result.lengths, result.ended, limits)]
    for ids, length, ended, limit in zip(*hypotheses, strict=True):
        assert length == limit or (ended and length < limit)
        assert ended == (EOS_ID in ids[:length])
        assert EOS_ID not in ids[: max(length - 1, 0)]
        assert not ids[length:].any(), "ids after the end are 0"
    # The test data has both kinds of hypotheses.
    has_ended = result.ended[exists]
    assert (has_ended & (result.lengths < limits)[exists]).any()
    assert not has_ended.all()
    assert result.lengths[LENGTH_LIMITS == 0, 0].tolist() == [0]


@every_family
@every_search
def test_forbidden_symbols_are_not_chosen_even_if_likeliest(case, search):
    result = result_of(case, search)
    is_symbol = np.arange(MAX_LENGTH) < result.lengths[..., None]
    assert not (np.isin(result.ids, FORBIDDEN_IDS) & is_symbol).any()
    inputs = {"source_ids": pad(SENTENCES), "target_ids": result.ids.reshape(-1, MAX_LENGTH)}
    likeliest = varied(case.config)(inputs).numpy().argmax(axis=-1).reshape(result.ids.shape)
    assert (np.isin(likeliest, FORBIDDEN_IDS) & is_symbol).any()


@parametrize([case for case in FAMILY_CASES if case.config.mask_padding])
@every_search
def test_hypotheses_do_not_depend_on_batch_or_padding(case, search):
    together, run = result_of(case, search), graph_of(case, search)
    for index, sentence in enumerate(SENTENCES):
        rows = slice(index, index + 1)
        alone = as_numpy(run(pad([sentence], 9), LENGTH_LIMITS[rows]))
        assert_same_hypotheses(alone, SearchResult(*(array[rows] for array in together)))


@every_family
@every_search
def test_ended_hypotheses_come_first_and_scores_are_sorted(case, search):
    result = result_of(case, search)
    for ended, scores in zip(result.ended, result.scores, strict=True):
        assert ended.tolist() == sorted(ended, reverse=True)
        for group in (scores[ended], scores[~ended]):
            assert group.tolist() == sorted(group, reverse=True)


# XLA compiles the same search for all families. Their states differ.
@pytest.mark.thorough
@pytest.mark.parametrize(
    ("case", "search"),
    [
        pytest.param(case, search, id=f"{case.name}, {search}")
        for case, search in (
            *((BYTENET, search) for search in SEARCHES),
            (RECURRENT, "beam"),
        )
    ],
)
def test_search_compiled_by_xla_gives_the_same_hypotheses(case, search):
    assert_same_hypotheses(result_of(case, search, jit_compile=True), result_of(case, search))


@every_family
@every_search
def test_filler_rows_take_no_step(case, search, monkeypatch):
    model = varied(case.config)
    monkeypatch.setattr(model, "make_step", lambda: lambda *arguments: pytest.fail("The search took a step."))
    # Outside a graph, a step is computed only when the loop reaches it.
    result = as_numpy(SEARCHES[search].run(model, pad([[1], [1]], 6), length_limits=[0, 0]))
    # No `max_length` is given, so the model's own limit applies.
    assert result.ids.shape == (2, SEARCHES[search].num_hypotheses, model.max_target_length(6))
    for array in (result.ids, result.lengths, result.ended, result.log_probabilities[:, 0]):
        assert not array.any()


@every_family
@every_search
def test_search_stops_when_every_sentence_has_ended(case, search, monkeypatch):
    model, positions = varied(case.config), []
    monkeypatch.setattr(model, "offsets", model.offsets + 100.0 * np.eye(VOCAB_SIZE, dtype=np.float32)[EOS_ID])
    step = model.make_step()

    def counted_step(previous_ids, state, memory, position):
        positions.append(int(position))
        return step(previous_ids, state, memory, position)

    monkeypatch.setattr(model, "make_step", lambda: counted_step)
    result = SEARCHES[search].run(model, pad(SENTENCES), max_length=MAX_LENGTH)
    assert result.ended.numpy().all()
    # The best hypothesis is the end symbol alone. The others of a beam have one symbol before it.
    assert positions == ([0, 1] if search == "beam" else [0])


@every_search
def test_maximum_length_below_one_is_refused(search):
    with pytest.raises(ValueError, match="max_length"):
        SEARCHES[search].run(varied(FAMILY_CASES[0].config), pad(SENTENCES), max_length=0)


@every_family
def test_beam_of_one_equals_greedy_search(case):
    run = partial(beam_search, varied(case.config), beam_size=1, max_length=MAX_LENGTH, forbidden_ids=FORBIDDEN_IDS)
    result = tf.function(run, autograph=False)(pad(SENTENCES), length_limits=LENGTH_LIMITS)
    assert_same_hypotheses(as_numpy(result), result_of(case, "greedy"))


@every_family
def test_sample_of_the_likeliest_symbols_equals_greedy_search(case):
    numbers = np.full((len(SENTENCES), 1, MAX_LENGTH), 0.999, np.float32)
    run = partial(
        sample, varied(case.config), random_numbers=numbers, sampling=Sampling(top_k=1), max_length=MAX_LENGTH,
        forbidden_ids=FORBIDDEN_IDS,
    )  # fmt: skip
    result = tf.function(run, autograph=False)(pad(SENTENCES), length_limits=LENGTH_LIMITS)
    assert_same_hypotheses(as_numpy(result), result_of(case, "greedy"))


@every_family
def test_beam_that_holds_all_sequences_equals_brute_force(case):
    vocab_size, length, length_penalty = 4, 3, 1.5
    model, sources = varied(case.config, vocab_size), np.array([[3, 2, 1], [2, 1, 0]], np.int32)
    # Symbol 0 is forbidden: 1 + 2 + 4 sequences end within three symbols, and 8 do not.
    words = [word for size in range(length + 1) for word in itertools.product([2, 3], repeat=size)]
    sequences = [(*word, EOS_ID) if len(word) < length else word for word in words]
    run = partial(
        beam_search, model, beam_size=vocab_size**length, n_best=len(sequences), max_length=length,
        length_penalty=length_penalty,
    )  # fmt: skip
    result = as_numpy(tf.function(run, autograph=False)(sources))

    ids = pad(sequences)
    ended, lengths = (ids == EOS_ID).any(axis=1), np.count_nonzero(ids, axis=1)
    expected = teacher_forced(model, sources, np.stack([ids] * len(sources)))
    for sentence, log_probabilities in enumerate(expected):
        scores = log_probabilities / ((5 + lengths) / 6) ** length_penalty
        order = np.lexsort([-scores, ~ended])
        np.testing.assert_array_equal(result.ids[sentence], ids[order])
        np.testing.assert_array_equal(result.lengths[sentence], lengths[order])
        np.testing.assert_allclose(result.scores[sentence], scores[order], atol=1e-4)
        np.testing.assert_allclose(result.log_probabilities[sentence], log_probabilities[order], atol=1e-4)
