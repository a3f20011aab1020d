"""What ranks hypotheses: length penalties, least lengths, coverage; and the replacement of unknown symbols."""

import numpy as np
import pytest
import tensorflow as tf
from keras import ops

from bytenet.datasets import EOS_ID, UNKNOWN_ID, Vocabulary
from bytenet.decoding import CompiledSearch, Translator
from bytenet.decoding.alignment import Aligner
from bytenet.decoding.batches.batching import BatchShapes
from bytenet.decoding.finishing import replaced_unknown
from bytenet.decoding.searches.coverage import coverage
from bytenet.decoding.searches.hypotheses import hypotheses_of
from bytenet.decoding.searches.search import SearchResult
from bytenet.errors import InputError
from bytenet.lite.length_penalty import length_penalty_divisor

VOCABULARY = Vocabulary("xyz")


@pytest.mark.parametrize(
    ("alpha", "expected"),
    [(0.6, [1.358655, 1.732862, 2.354362, 3.778565]), (0.2, [1.107566, 1.201124, 1.330325, 1.557551])],
)
def test_divisors_of_gnmt(alpha, expected):
    np.testing.assert_allclose(length_penalty_divisor(np.array([5.0, 10.0, 20.0, 50.0]), alpha), expected, atol=1e-6)


def test_rule_decides_between_a_short_and_a_likely_hypothesis():
    log_probabilities, lengths = np.array([-6.0, -7.0]), np.array([10.0, 20.0])
    np.testing.assert_allclose(log_probabilities / length_penalty_divisor(lengths, 0.6), [-3.4625, -2.9732], atol=1e-4)
    np.testing.assert_allclose(log_probabilities / length_penalty_divisor(lengths, 1.0, "length"), [-0.6, -0.35])
    assert length_penalty_divisor(np.array([10.0]), 1.0)[0] == 2.5


def test_search_divides_by_the_length(table_model):
    # "1" has probability .4; "2 1" has .6 · .6 = .36.
    first, second = [0.0001, 0.4, 0.5998, 0.0001], [0.0001, 0.6, 0.3998, 0.0001]
    model = table_model([[first] * 4, [second] * 4])
    search = CompiledSearch(model, beam_size=3, length_penalty=1.0, n_best=2, length_penalty_rule="length")
    result = search(np.array([[2, 1]]))
    assert result.ids[0].numpy().tolist() == [[2, 1], [1, 0]]
    np.testing.assert_allclose(result.scores[0], [np.log(0.5998 * 0.6) / 2, np.log(0.4)], atol=1e-5)


def test_search_divided_by_the_length_continues_while_a_longer_hypothesis_can_still_win(table_model):
    # "1" scores ln .6. "2 2 2 2 1" scores ln .3 / 5. Divided as in GNMT, it could not win any more.
    first = [0.0001, 0.6, 0.3, 0.0999]
    going_on, ending = [1e-6, 1e-6, 1 - 3e-6, 1e-6], [1e-6, 1 - 3e-6, 1e-6, 1e-6]
    model = table_model([[first] * 4] + [[going_on] * 4] * 3 + [[ending] * 4])
    for rule, expected in (("length", [2, 2, 2, 2, 1]), ("gnmt", [1, 0, 0, 0, 0])):
        search = CompiledSearch(model, beam_size=2, length_penalty=1.0, length_penalty_rule=rule)
        assert search(np.array([[2, 1]])).ids[0, 0].numpy().tolist() == expected


@pytest.mark.parametrize("beam_size", [1, 3])
@pytest.mark.parametrize("min_length", [0, 1, 3])
def test_no_translation_is_shorter_than_the_least_length(table_model, beam_size, min_length):
    model = table_model([[[0.01, 0.9, 0.06, 0.03]] * 4] * 5)
    result = CompiledSearch(model, beam_size, n_best=1, min_length=min_length)(np.array([[2, 1]]))
    length = max(min_length, 1)
    assert result.ids[0, 0].numpy().tolist() == [*[2] * (length - 1), EOS_ID, *[0] * (5 - length)]
    # The end symbol keeps its share of the probability where it is forbidden.
    expected = (length - 1) * np.log(0.06) + np.log(0.9)
    assert float(result.log_probabilities[0, 0]) == pytest.approx(expected, abs=1e-4)


def test_forbidden_symbols_are_forbidden_before_and_after_the_least_length(table_model):
    model = table_model([[[0.01, 0.5, 0.2, 0.29]] * 4] * 5)  # padding, end, and symbols 2 and 3
    result = CompiledSearch(model, beam_size=2, n_best=1, forbidden_ids=(0, 3), min_length=3)(np.array([[2, 1]]))
    assert result.ids[0, 0].numpy().tolist() == [2, 2, EOS_ID, 0, 0]


def test_a_hypothesis_has_no_padding_with_or_without_an_end_symbol():
    """Otherwise its coverage would depend on the length of the other sentences of the batch."""
    result = SearchResult(
        ids=tf.constant([[[4, 3, 0, 0], [5, EOS_ID, 0, 0]]]),
        scores=tf.constant([[-1.0, -2.0]]),
        log_probabilities=tf.constant([[-1.0, -2.0]]),
        lengths=tf.constant([[2, 2]]),
        ended=tf.constant([[False, True]]),
    )
    [[unended, ended]] = hypotheses_of(result)
    assert (unended.ids.tolist(), unended.ended) == ([4, 3], False)
    assert (ended.ids.tolist(), ended.ended) == ([5, EOS_ID], True)


def test_coverage_of_the_example():
    assert 0.2 * coverage(np.array([[0.7, 0.2, 0.1], [0.6, 0.3, 0.1]])) == pytest.approx(-0.460517, abs=1e-6)
    assert coverage(np.eye(3)) == 0.0
    assert np.isfinite(coverage(np.array([[1.0, 0.0]])))


@pytest.fixture
def attentive_model(table_model):
    """Makes models that attend to the source symbol at their own position, and to the last one after it."""

    class AttentiveTableModel(table_model):
        def attention_weights(self, memory, previous_ids):
            length = memory.shape[1]
            attended = ops.minimum(ops.arange(previous_ids.shape[1]), length - 1)
            weights = ops.one_hot(attended, length)[None, None]
            return [ops.repeat(weights, previous_ids.shape[0], axis=0)]

    return AttentiveTableModel


def test_coverage_penalty_prefers_translations_that_attend_to_all_of_the_source(attentive_model):
    first, second = [0.0001, 0.6, 0.0001, 0.3998], [0.0001, 0.9998, 0.0001, 0.0001]
    tables = [[[*first, 1e-5, 1e-5]] * 6, [[*second, 1e-5, 1e-5]] * 6]
    arguments = {"beam_size": 3, "length_penalty": 0.0}
    [[plain]] = Translator(attentive_model(tables), VOCABULARY, **arguments).translate(["y"])
    [[covering]] = Translator(attentive_model(tables), VOCABULARY, coverage_penalty=0.2, **arguments).translate(["y"])
    assert (plain.text, covering.text) == ("", "x")
    # The two symbols "x" and the end cover "y" and its end.
    assert covering.score == pytest.approx(covering.log_probability, abs=1e-5)


@pytest.mark.parametrize(
    ("source", "weights", "dictionary", "expected"),
    [
        ("x☃y", [0.1, 0.7, 0.2, 0.0], {}, "☃"),
        ("x☃y", [0.1, 0.7, 0.2, 0.0], {"☃": "snowman", "x": "?"}, "snowman"),
        ("x☃y", [0.1, 0.2, 0.1, 0.6], {}, "☃"),  # not the end symbol, but the best of the others
        ("", [1.0], {}, "\ufffd"),
    ],
)
def test_unknown_symbol_becomes_what_it_attends_to(source, weights, dictionary, expected):
    ids = np.array([3, UNKNOWN_ID, 4, EOS_ID])
    alignment = np.array([np.eye(len(weights))[0], weights, np.eye(len(weights))[0], np.eye(len(weights))[0]])
    assert replaced_unknown(ids, VOCABULARY, source, alignment, dictionary) == f"x{expected}y"


def test_translator_replaces_unknown_symbols(attentive_model):
    write_unknown, end = [0.001, 0.001, 0.99, 0.001, 0.001, 0.006], [0.001, 0.99, 0.001, 0.001, 0.001, 0.006]
    model = attentive_model([[write_unknown] * 6] * 2 + [[end] * 6])
    # A decomposed "é" is one symbol.
    [[best]] = Translator(model, VOCABULARY, beam_size=1, replace_unknown=True).translate(["☃e\u0301"])
    assert best.text == "☃é"
    [[best]] = Translator(model, VOCABULARY, beam_size=1).translate(["☃e\u0301"])
    assert "\ufffd" not in best.text


def test_coverage_of_a_model_in_half_precision_is_summed_in_float32(table_model):
    class EvenTableModel(table_model):
        def attention_weights(self, memory, previous_ids):
            shape = (previous_ids.shape[0], 1, previous_ids.shape[1], memory.shape[1])
            return [ops.full(shape, 1 / 300, "bfloat16")]

    aligner = Aligner(EvenTableModel([[[0.2] * 5] * 5]), BatchShapes(1))
    [alignment] = aligner([np.ones(300, np.int32)], [np.ones(300, np.int32)])
    assert alignment.dtype == np.float32
    assert abs(coverage(alignment)) < 1.0  # in bfloat16, a sum of 300 weights stops growing long before 1


def test_graphs_of_alignments_are_made_in_advance_and_only_for_hypotheses_that_need_one(attentive_model, monkeypatch):
    aligned = []
    original = Aligner.__call__

    def align(aligner, source_ids, target_ids):
        aligned.extend(map(tuple, target_ids))
        return original(aligner, source_ids, target_ids)

    monkeypatch.setattr(Aligner, "__call__", align)
    x, unknown, end = 3, UNKNOWN_ID, EOS_ID
    first, last = np.full((6, 6), 0.001), np.full((6, 6), 0.001)
    first[:, x], first[:, unknown], last[:, end] = 0.6, 0.397, 0.995
    translator = Translator(attentive_model([first, last]), VOCABULARY, 2, replace_unknown=True, batch_size=2)
    translator.make_graphs(longest=10)
    graphs = dict(translator.finisher._aligner._graphs.graphs._graphs)
    assert sorted(graphs) == [(1, 32), (2, 32)]
    [[likely, other]] = translator.translate(["☃"], n_best=2)
    assert (likely.text, other.text) == ("x", "☃")
    assert aligned == [(unknown, end)]
    assert translator.finisher._aligner._graphs.graphs._graphs == graphs


def test_model_or_vocabulary_that_does_not_fit_is_refused(table_model, attentive_model):
    tables = [[[1 / 6] * 6] * 6]
    with pytest.raises(InputError, match="has no attention"):
        Translator(table_model(tables), VOCABULARY, coverage_penalty=0.1)
    with pytest.raises(InputError, match='unknown="symbol", not "drop"'):
        Translator(attentive_model(tables), Vocabulary("wxyz", unknown="drop"), replace_unknown=True)
