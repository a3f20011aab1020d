"""Both misclassification rates of the thesis, checked by hand and against plain loops."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as st_numpy

from bytenet.errors import InputError
from bytenet.evaluation import pooled_misclassification, sentence_misclassification

TARGETS = np.array([[5, 6, 7, 1], [5, 1, 0, 0]])


def test_pooled_rate_counts_only_real_target_symbols():
    predicted = np.array([[5, 9, 7, 1], [4, 1, 8, 8]])
    assert pooled_misclassification(predicted, TARGETS).value == pytest.approx(2 / 6)


def test_pooled_rate_accepts_predictions_of_any_length():
    assert pooled_misclassification(np.array([[5, 6], [5, 1]]), TARGETS).value == pytest.approx(2 / 6)
    longer = np.pad(TARGETS, [(0, 0), (0, 3)], constant_values=4)
    assert pooled_misclassification(longer, TARGETS).value == 0


def test_pooled_rate_of_padding_only_is_zero():
    assert pooled_misclassification(np.ones((2, 3), int), np.zeros((2, 3), int)).value == 0


def test_sentence_rate_divides_by_the_predicted_length():
    # 5 6 1 against 5 6 7 1: two of three right; 5 6 1 against 5 1: one of three right.
    predicted = np.array([[5, 6, 1, 0], [5, 6, 1, 0]])
    score = sentence_misclassification(predicted, TARGETS)
    assert score.value == pytest.approx((1 / 3 + 2 / 3) / 2)
    assert score.num_sentences == 2


def test_sentence_rate_of_texts_counts_the_end_symbol():
    # "302" and its end symbol against "30": 3 and 0 are right, two of four are wrong. "71" against "71": none of three.
    assert sentence_misclassification(["302", "71"], ["30", "71"]).value == pytest.approx(0.25)
    assert sentence_misclassification(["", "1"], ["", "2"]).value == pytest.approx(0.25)


def test_sentence_rate_differs_from_the_pooled_rate():
    predicted = np.array([[5, 6, 9, 1], [5, 9, 9, 9]])
    assert sentence_misclassification(predicted, TARGETS).value == pytest.approx((1 / 4 + 3 / 4) / 2)
    assert pooled_misclassification(predicted, TARGETS).value == pytest.approx(2 / 6)


def _loop_rate(predicted_ids, target_ids):
    def cut(row):
        row = list(row)
        return row[: row.index(1) + 1] if 1 in row else row

    rates = []
    for predicted, target in zip(map(cut, predicted_ids), map(cut, target_ids), strict=True):
        matches = sum(p == t for p, t in zip(predicted, target, strict=False))
        rates.append((len(predicted) - matches) / len(predicted))
    return sum(rates) / len(rates)


@given(data=st.data(), batch=st.integers(1, 4))
def test_sentence_rate_equals_a_plain_loop(data, batch):
    shapes = st.tuples(st.just(batch), st.integers(1, 7))
    ids = [data.draw(st_numpy.arrays(np.int32, shapes, elements=st.integers(0, 4))) for _ in range(2)]
    assert sentence_misclassification(*ids).value == pytest.approx(_loop_rate(*ids))


def test_sentence_rate_of_many_sentences_is_their_mean():
    targets = ["ab"] * 1500 + ["abcd"] * 900
    predicted = ["ab"] * 1500 + ["xbcd"] * 900
    score = sentence_misclassification(predicted, targets)
    assert score.value == pytest.approx(900 * (1 / 5) / 2400)
    assert score.num_sentences == 2400


def test_rows_without_symbols_are_wrong():
    none = np.zeros((2, 0), int)
    assert sentence_misclassification(none, TARGETS).value == 1
    assert sentence_misclassification(TARGETS, none).value == 1
    assert sentence_misclassification(none, none).value == 1
    assert pooled_misclassification(none, TARGETS).value == 1


def test_mismatched_or_empty_batches_are_refused():
    for rate in (pooled_misclassification, sentence_misclassification):
        with pytest.raises(InputError, match=r"\(3, 4\).*\(2, 4\)"):
            rate(np.zeros((3, 4), int), TARGETS)
        with pytest.raises(InputError, match="no sentences"):
            rate(np.zeros((0, 4), int), np.zeros((0, 4), int))
