"""Scores print as one line and save as JSON; bits per character; smoothing."""

import json
import math
import subprocess
import sys

import numpy as np
import pytest

from bytenet.errors import InputError
from bytenet.evaluation import Score, bits_per_character, smooth


def test_a_score_prints_as_one_line():
    score = Score("BLEU", 12.3456, 1000, "tok:13a", (11.0, 13.5))
    assert str(score) == "BLEU 12.35 [11.00, 13.50] (1000 sentences) tok:13a"
    assert str(Score("exact-match", 0.95, 1, digits=4)) == "exact-match 0.9500 (1 sentence)"


def test_a_score_saves_as_json_unrounded():
    score = Score("BLEU", 12.3456, 1000, "tok:13a", (11.0, 13.5))
    assert json.loads(json.dumps(score.to_dict())) == {
        "name": "BLEU",
        "value": 12.3456,
        "interval": [11.0, 13.5],
        "digits": 2,
        "settings": "tok:13a",
        "num_sentences": 1000,
    }


def test_bits_per_character_weighs_by_characters():
    # Four characters at 1 bit and twelve at 2 bits.
    score = bits_per_character([-4 * math.log(2), -24 * math.log(2)], [4, 12], bootstrap=100)
    assert score.value == pytest.approx(28 / 16)
    assert score.interval == pytest.approx((1, 2))
    with pytest.raises(InputError):
        bits_per_character([-1.0], [])


def test_smooth_is_the_bias_adjusted_weighted_mean():
    values, alpha = [3.0, 1.0, 4.0, 1.0, 5.0], 0.3
    expected = []
    for t in range(len(values)):
        weights = [(1 - alpha) ** i for i in range(t + 1)]
        expected.append(sum(w * values[t - i] for i, w in enumerate(weights)) / sum(weights))
    np.testing.assert_allclose(smooth(values, alpha), expected)


def test_smooth_known_values():
    # pandas.Series([1., 2., 4.]).ewm(alpha=.5).mean()
    np.testing.assert_allclose(smooth([1, 2, 4], 0.5), [1, 5 / 3, 3])
    np.testing.assert_array_equal(smooth([1, 2, 4], 1), [1, 2, 4])
    assert smooth([], 0.1).shape == (0,)


@pytest.mark.parametrize("alpha", [0, -0.1, 1.1])
def test_smooth_refuses_other_weights(alpha):
    with pytest.raises(ValueError, match="alpha"):
        smooth([1.0], alpha)


def test_scores_need_no_tensorflow():
    code = "import sys, bytenet.evaluation; sys.exit('tensorflow' in sys.modules or 'keras' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
