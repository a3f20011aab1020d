"""Sampling: how often each translation is drawn, and what decides it."""

import itertools

import numpy as np
import pytest
from keras.ops import convert_to_numpy
from scipy.stats import chisquare

from bytenet.decoding import CompiledSearch, Sampling, Translator
from bytenet.decoding.searches.sampling import sample

from ..inputs import LINES, VOCABULARY

SOURCES = np.array([[3, 2, 1, 0], [2, 2, 3, 1]], np.int32)
TWICE = [*LINES, "dad"]  # with one line twice
NUM_SAMPLES, LENGTH = 8000, 3


def _step_probabilities(logits, sampling):
    """The probabilities of the symbols of one step. Symbols that are not allowed have the logit −inf."""
    probabilities = np.exp((logits - logits.max()) / sampling.temperature)
    order = np.argsort(-probabilities)
    probabilities[order[sampling.top_k or len(order) :]] = 0
    probabilities /= probabilities.sum()
    needed = next(n for n in range(1, len(order) + 1) if probabilities[order[:n]].sum() >= sampling.top_p - 1e-6)
    probabilities[order[needed:]] = 0
    return probabilities / probabilities.sum()


def _probabilities(model, source, sampling, forbidden_ids=(), min_length=0):
    """The probability of each translation of up to `LENGTH` symbols, by their ids."""
    targets = np.array(list(itertools.product(range(model.vocab_size), repeat=LENGTH)), np.int32)
    logits = convert_to_numpy(model({"source_ids": np.repeat(source[None], len(targets), 0), "target_ids": targets}))
    logits = logits.astype(np.float64)
    logits[..., list(forbidden_ids)] = -np.inf
    logits[:, : max(min_length - 1, 0), 1] = -np.inf
    found = {}
    for target, logits_of_target in zip(targets.tolist(), logits, strict=True):
        length = target.index(1) + 1 if 1 in target else LENGTH
        steps = [_step_probabilities(row, sampling) for row in logits_of_target[:length]]
        found[tuple(target[:length])] = np.prod([step[i] for step, i in zip(steps, target, strict=False)])
    assert sum(found.values()) == pytest.approx(1)
    return found


def _counts(model, sampling, **options):
    """How often each translation of the first source is drawn, by their ids."""
    search = CompiledSearch(model, n_best=NUM_SAMPLES, sampling=sampling, **options)
    result = search(SOURCES[:1], max_length=LENGTH)
    drawn = [
        tuple(ids[:length]) for ids, length in zip(*map(np.array, (result.ids[0], result.lengths[0])), strict=True)
    ]
    return {translation: drawn.count(translation) for translation in set(drawn)}


def _p_value(counts, probabilities):
    """The probability of counts that fit as badly; of Pearson's chi-square test, with rare translations as one."""
    assert counts.keys() <= {translation for translation, probability in probabilities.items() if probability > 0}
    expected = {translation: probability * NUM_SAMPLES for translation, probability in probabilities.items()}
    frequent = [translation for translation, number in expected.items() if number >= 10]
    assert len(frequent) >= 4
    observed = [counts.get(translation, 0) for translation in frequent]
    numbers = [expected[translation] for translation in frequent]
    rest = NUM_SAMPLES - sum(numbers)
    if rest > 1:
        return chisquare([*observed, NUM_SAMPLES - sum(observed)], [*numbers, rest]).pvalue
    return chisquare(observed, np.array(numbers) * sum(observed) / sum(numbers)).pvalue


@pytest.mark.parametrize(
    ("settings", "options"),
    [
        ({}, {"forbidden_ids": ()}),
        ({}, {"forbidden_ids": (0, 2), "min_length": 2}),
        ({"temperature": 0.5}, {}),
        ({"temperature": 2.0}, {}),
        ({"top_k": 2}, {}),
        ({"temperature": 2.0, "top_p": 0.8}, {}),
        ({"temperature": 3.0, "top_k": 3, "top_p": 0.8}, {"forbidden_ids": ()}),
    ],
)
def test_translations_are_as_frequent_as_they_are_probable(recurrent_model, settings, options):
    model = recurrent_model(vocab_size=5, seed=2)
    options = {"forbidden_ids": (0,)} | options
    sampling = Sampling(samples=NUM_SAMPLES, **settings)
    counts = _counts(model, sampling, **options)
    assert _p_value(counts, _probabilities(model, SOURCES[0], sampling, **options)) > 0.01


def test_the_test_of_frequencies_notices_another_temperature(recurrent_model):
    model = recurrent_model(vocab_size=5, seed=2)
    counts = _counts(model, Sampling(samples=NUM_SAMPLES, temperature=0.9), forbidden_ids=())
    assert _p_value(counts, _probabilities(model, SOURCES[0], Sampling(), ())) < 1e-6


@pytest.mark.parametrize("settings", [{"temperature": 1e-6}, {"temperature": 1e-300}, {"top_k": 1}, {"top_p": 1e-60}])
@pytest.mark.parametrize("jit_compile", [False, True])
def test_the_likeliest_symbols_are_those_of_greedy_search(recurrent_model, settings, jit_compile):
    model = recurrent_model(vocab_size=6, seed=1, end_bias=0.5)
    samples = CompiledSearch(model, sampling=Sampling(**settings), jit_compile=jit_compile)(SOURCES, max_length=9)
    greedy = CompiledSearch(model)(SOURCES, max_length=9)
    np.testing.assert_array_equal(samples.ids, greedy.ids)
    np.testing.assert_allclose(samples.log_probabilities, greedy.log_probabilities, atol=1e-5)


def test_a_huge_temperature_draws_allowed_symbols_alone(recurrent_model):
    search = CompiledSearch(
        recurrent_model(vocab_size=5), n_best=100, sampling=Sampling(samples=100, temperature=1e300)
    )
    assert set(np.ravel(search(SOURCES[:1], max_length=1).ids)) == {1, 2, 3, 4}


def test_samples_are_ranked_by_their_scores(recurrent_model):
    model, settings = (
        recurrent_model(vocab_size=6, end_bias=0.5),
        {"length_penalty": 0.6, "sampling": Sampling(samples=20)},
    )
    every = CompiledSearch(model, n_best=20, **settings)(SOURCES, max_length=9)
    best = CompiledSearch(model, n_best=2, **settings)(SOURCES, max_length=9)
    np.testing.assert_array_equal(best.ids, every.ids[:, :2])
    lengths = every.lengths.numpy()
    np.testing.assert_allclose(every.scores, every.log_probabilities / ((5 + lengths) / 6) ** 0.6, rtol=1e-5)


EXAMPLE = [0.5, 0.25, 0.15, 0.07, 0.03]


def _draw(table_model, probabilities, random_numbers, **settings):
    """The symbol that each random number draws. The probabilities are those of the ids 0, 1 and so on."""
    model = table_model([[probabilities] * len(probabilities)])
    sampling = Sampling(samples=len(random_numbers), **settings)
    result = sample(
        model, SOURCES[:1], random_numbers.astype("float32")[None, :, None], sampling, max_length=1, forbidden_ids=()
    )
    return convert_to_numpy(result.ids)[0, :, 0]


def _shares(table_model, probabilities, **settings):
    """The share of each symbol among random numbers that are evenly spread from 0 to 1."""
    number = 1_000_000
    symbols = _draw(table_model, probabilities, (np.arange(number) + 0.5) / number, **settings)
    return np.bincount(symbols, minlength=len(probabilities)) / number


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({}, EXAMPLE),
        ({"temperature": 0.5}, [0.733568, 0.183392, 0.066021, 0.014378, 0.002641]),
        ({"temperature": 2.0}, [0.347954, 0.246041, 0.190582, 0.130192, 0.085231]),
        ({"top_k": 2}, [0.666667, 0.333333, 0, 0, 0]),
        ({"top_p": 0.8}, [0.555556, 0.277778, 0.166667, 0, 0]),
        ({"top_p": 0.75}, [0.666667, 0.333333, 0, 0, 0]),
        ({"top_k": 5, "top_p": 1.0}, EXAMPLE),
        # First the k likeliest, then the smallest set: 2 / 3 of two symbols are enough.
        ({"top_k": 2, "top_p": 0.66}, [1, 0, 0, 0, 0]),
    ],
)
def test_probabilities_of_the_worked_example(table_model, settings, expected):
    np.testing.assert_allclose(_shares(table_model, EXAMPLE, **settings), expected, atol=2e-6)


@pytest.mark.parametrize("probabilities", [[0.4, 0.3, 0.2, 0.1], [0.5, 0.3, 0.2], [0.3, 0.25, 0.25, 0.2], [0.1] * 10])
def test_rounding_adds_no_symbol_to_a_set_that_has_the_probability(table_model, probabilities):
    for kept in range(1, len(probabilities)):
        shares = _shares(table_model, probabilities, top_p=round(sum(probabilities[:kept]), 2))
        assert np.count_nonzero(shares) == kept


def test_a_tie_at_rank_k_keeps_the_first_ids(table_model):
    shares = _shares(table_model, [0.1, 0.2, 0.3, 0.2, 0.2], top_k=3)
    np.testing.assert_allclose(shares, [0, 2 / 7, 3 / 7, 2 / 7, 0], atol=2e-6)


@pytest.mark.parametrize("settings", [{}, {"temperature": 2.0}, {"top_k": 3, "top_p": 0.9}])
def test_100_000_draws_are_as_frequent_as_they_are_probable(table_model, settings):
    number = 100_000
    random_numbers = Sampling(samples=number).random_numbers(SOURCES[:1], np.array([1]), 1)[0, :, 0]
    counts = np.bincount(_draw(table_model, EXAMPLE, random_numbers, **settings), minlength=5)
    expected = number * _step_probabilities(np.log(EXAMPLE), Sampling(**settings))
    drawn = expected > 0
    assert not counts[~drawn].any()
    assert chisquare(counts[drawn], expected[drawn]).pvalue > 0.01


def _texts(model, lines=TWICE, n_best=1, batch_size=4, **settings):
    translator = Translator(model, VOCABULARY, batch_size=batch_size, sampling=Sampling(**settings))
    return [[one.text for one in translations] for translations in translator.translate(lines, n_best)]


def test_the_seed_decides(model):
    first = _texts(model)
    assert _texts(model) == first
    others = [_texts(model, seed=seed) for seed in range(2, 6)]
    assert first not in others
    assert first[TWICE.index("")] == [""]


def test_samples_of_a_line_do_not_depend_on_the_other_lines(model):
    together = _texts(model)
    assert [_texts(model, [line], batch_size=1)[0] for line in TWICE] == together
    assert _texts(model, TWICE[::-1])[::-1] == together


def test_more_samples_begin_with_the_same_ones(model):
    for [one], several in zip(_texts(model), _texts(model, n_best=5, samples=5), strict=True):
        assert one in several


@pytest.mark.parametrize(
    "settings",
    [{"samples": 0}, {"temperature": 0.0}, {"top_k": -1}, {"top_p": 0.0}, {"top_p": 1.1}, {"seed": -1}],
)
def test_numbers_out_of_range_are_refused(settings):
    [name] = settings
    with pytest.raises(ValueError, match=rf"{name}\n.* should be "):
        Sampling(**settings)


def test_more_samples_than_are_drawn_are_refused(model):
    with pytest.raises(ValueError, match="expected 1 <= n_best <= samples"):
        CompiledSearch(model, n_best=3, sampling=Sampling(samples=2))(SOURCES)
    with pytest.raises(ValueError, match="from 1 to samples, which is 2"):
        _texts(model, n_best=3, samples=2)
