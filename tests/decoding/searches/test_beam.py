"""Beam search: the thesis's check vector, a plain search in NumPy as a reference, and its promises."""

import numpy as np
import pytest

from bytenet.decoding import CompiledSearch, beam_search

from ..inputs import SOURCES

UNIFORM = [0.25] * 4


def _rows(result):
    """The hypotheses of each sentence as tuples of their real symbols."""
    return [
        [tuple(ids[:length].tolist()) for ids, length in zip(*sentence, strict=True)]
        for sentence in zip(result.ids.numpy(), result.lengths.numpy(), strict=True)
    ]


@pytest.mark.parametrize("jit_compile", [False, True])
def test_check_vector_of_the_thesis(table_model, jit_compile):
    model = table_model(
        [
            [[0.01, 0.48, 0.03, 0.48], UNIFORM, UNIFORM, UNIFORM],
            [UNIFORM, UNIFORM, UNIFORM, [0.01, 0.01, 0.49, 0.49]],
            [UNIFORM, UNIFORM, [0.01, 0.97, 0.01, 0.01], [0.01, 0.97, 0.01, 0.01]],
            [UNIFORM] * 4,
        ]
    )
    decoder = CompiledSearch(model, beam_size=3, n_best=3, forbidden_ids=(), jit_compile=jit_compile)

    result = decoder(np.array([[2, 1]], np.int32))

    symbols, log_probabilities = result.ids[0].numpy().tolist(), result.log_probabilities[0].numpy()
    paths = dict(zip(map(tuple, symbols), log_probabilities, strict=True))
    assert set(paths) == {(3, 3, 1, 0), (1, 0, 0, 0), (3, 2, 1, 0)}
    assert np.exp(paths[1, 0, 0, 0]) == pytest.approx(0.48)
    assert np.exp(paths[3, 3, 1, 0]) == pytest.approx(0.48 * 0.49 * 0.97)
    assert np.exp(paths[3, 2, 1, 0]) == pytest.approx(0.48 * 0.49 * 0.97)
    assert tuple(result.ids[0, 0].numpy()) == (1, 0, 0, 0)
    assert result.ended.numpy().all()
    assert sorted(result.lengths[0].numpy()) == [1, 3, 3]


def _plain_beam_search(model, log_probability_of, source, beam_size, max_length):
    """Algorithm 3 of the thesis for one sentence. It uses lists of symbols and never stops early."""
    beams = [((), 0.0)]
    for _ in range(max_length):
        extended = [beam for beam in beams if beam[0][-1:] == (1,)]
        for symbols, _ in (beam for beam in beams if beam[0][-1:] != (1,)):
            sequences = [(*symbols, symbol) for symbol in range(1, model.vocab_size)]
            extended += zip(sequences, log_probability_of(model, source, sequences), strict=True)
        beams = sorted(extended, key=lambda beam: -beam[1])[:beam_size]
    ended = [beam for beam in beams if beam[0][-1] == 1]
    return ended + [beam for beam in beams if beam[0][-1] != 1]


@pytest.mark.parametrize(("beam_size", "seed"), [(2, 1), (5, 3)])
def test_narrow_beams_equal_a_plain_search(recurrent_model, sequence_log_probabilities, beam_size, seed):
    model = recurrent_model(vocab_size=6, seed=seed, end_bias=0.5)
    result = CompiledSearch(model, beam_size=beam_size, n_best=beam_size)(SOURCES, max_length=7)
    for sentence, source in enumerate(SOURCES):
        expected = _plain_beam_search(model, sequence_log_probabilities, source, beam_size, 7)
        assert _rows(result)[sentence] == [symbols for symbols, _ in expected]
        values = [value for _, value in expected]
        np.testing.assert_allclose(result.log_probabilities[sentence], values, atol=1e-4)


@pytest.mark.parametrize("seed", range(2))
def test_best_hypothesis_is_the_same_for_any_n_best(recurrent_model, seed):
    model = recurrent_model(vocab_size=6, seed=seed, end_bias=0.5)
    every = CompiledSearch(model, beam_size=5, n_best=5)(SOURCES, max_length=9)
    best = CompiledSearch(model, beam_size=5, n_best=1)(SOURCES, max_length=9)
    np.testing.assert_array_equal(best.ids[:, 0], every.ids[:, 0])
    np.testing.assert_allclose(best.scores[:, 0], every.scores[:, 0], atol=1e-6)


@pytest.mark.parametrize(("n_best", "steps"), [(1, [0]), (2, [0, 1])])
def test_search_stops_when_the_result_can_no_longer_change(recurrent_model, n_best, steps):
    model = recurrent_model(vocab_size=6, end_bias=50.0)
    made, step = [], model.make_step()

    def counted(previous_ids, state, memory, position):
        made.append(int(position))
        return step(previous_ids, state, memory, position)

    model.make_step = lambda: counted
    # The search runs outside a graph, so that steps can be counted.
    beam_search(model, SOURCES, beam_size=4, max_length=50, n_best=n_best)
    assert made == steps


def test_beams_without_a_hypothesis_have_probability_zero(recurrent_model):
    # Symbol 0 is forbidden. With two symbols and a length of 2, there are only 1; 2 1; 2 2.
    result = CompiledSearch(recurrent_model(vocab_size=3), beam_size=6, n_best=6)(np.array([[2, 1]]), max_length=2)
    assert set(_rows(result)[0][:3]) == {(1,), (2, 1), (2, 2)}
    assert np.isfinite(result.log_probabilities[0, :3]).all()
    assert np.isneginf(result.log_probabilities[0, 3:]).all()
    assert not result.ended[0, 3:].numpy().any()


def test_ended_hypothesis_keeps_its_score_and_is_padded(table_model):
    # After the end symbol, the model is certain of symbol 2.
    sure = [1e-6, 1e-6, 1 - 3e-6, 1e-6]
    model = table_model([[[0.05, 0.6, 0.05, 0.3], UNIFORM, UNIFORM, UNIFORM]] + [[sure] * 4] * 5)
    result = CompiledSearch(model, beam_size=2, n_best=2)(np.array([[2, 1]]))
    assert result.ids[0, 0].numpy().tolist() == [1, 0, 0, 0, 0, 0]
    assert np.exp(result.log_probabilities[0, 0]) == pytest.approx(0.6)
    assert result.lengths[0, 0] == 1


def test_unfinished_hypotheses_rank_last_even_if_likelier(table_model):
    going_on = [0.01, 0.02, 0.96, 0.01]
    result = CompiledSearch(table_model([[going_on] * 4] * 3), beam_size=3, n_best=3)(np.array([[2, 1]]))
    ended, scores = result.ended[0].numpy(), result.scores[0].numpy()
    assert ended.tolist() == [True, True, False]
    assert scores[2] > scores[0]
    assert _rows(result)[0][2] == (2, 2, 2)
    assert scores[2] == pytest.approx(3 * np.log(0.96), abs=1e-5)


def test_length_penalty_prefers_longer_hypotheses(table_model):
    # "1" has probability .4; "2 1" has .6 · .6 = .36.
    first, second = [0.0001, 0.4, 0.5998, 0.0001], [0.0001, 0.6, 0.3998, 0.0001]
    model = table_model([[first] * 4, [second] * 4])
    plain = CompiledSearch(model, beam_size=3)(np.array([[2, 1]]))
    penalised = CompiledSearch(model, beam_size=3, length_penalty=1.0)(np.array([[2, 1]]))
    assert plain.ids[0, 0].numpy().tolist() == [1, 0]
    assert penalised.ids[0, 0].numpy().tolist() == [2, 1]
    log_probability = penalised.log_probabilities[0, 0].numpy()
    assert float(penalised.scores[0, 0]) == pytest.approx(log_probability / (7 / 6), abs=1e-6)


def test_search_continues_while_a_longer_hypothesis_can_still_win(table_model):
    # "1" scores ln .5. "2" scores less, ln .4, until it ends as "2 2 2 2 1" and scores ln .4 / (10/6).
    first = [0.0001, 0.5, 0.4, 0.0999]
    going_on, ending = [1e-6, 1e-6, 1 - 3e-6, 1e-6], [1e-6, 1 - 3e-6, 1e-6, 1e-6]
    model = table_model([[first] * 4] + [[going_on] * 4] * 3 + [[ending] * 4])
    result = CompiledSearch(model, beam_size=2, length_penalty=1.0)(np.array([[2, 1]]))
    assert result.ids[0, 0].numpy().tolist() == [2, 2, 2, 2, 1]
    assert float(result.scores[0, 0]) == pytest.approx(np.log(0.4) / (10 / 6), abs=1e-4)


@pytest.mark.parametrize(
    "settings",
    [
        {"beam_size": 0}, {"beam_size": 2, "n_best": 3}, {"beam_size": 2, "length_penalty": -1.0},
        {"beam_size": 2, "forbidden_ids": (4,)}, {"beam_size": 2, "forbidden_ids": (-1,)},
    ],
)  # fmt: skip
def test_numbers_out_of_range_are_refused(recurrent_model, settings):
    with pytest.raises(ValueError, match=r"n_best|length_penalty|forbidden_ids"):
        beam_search(recurrent_model(vocab_size=4), np.array([[2, 3, 1]]), max_length=3, **settings)
    with pytest.raises(ValueError, match="max_length"):
        beam_search(recurrent_model(vocab_size=4), SOURCES[:1], beam_size=1, max_length=0)
