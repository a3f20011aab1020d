"""Scores as one line and as JSON; bits per character; exact matches."""

import json
import math
import subprocess
import sys

import pytest

from bytenet.errors import InputError
from bytenet.evaluation import Score, bits_per_character, exact_match


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


def test_bits_per_character_are_weighted_by_characters():
    # Four characters at 1 bit and twelve at 2 bits.
    score = bits_per_character([-4 * math.log(2), -24 * math.log(2)], [4, 12], bootstrap=100)
    assert score.value == pytest.approx(28 / 16)
    assert score.interval == pytest.approx((1, 2))
    with pytest.raises(InputError):
        bits_per_character([-1.0], [])


def test_exact_match_is_the_share_of_equal_lines():
    score = exact_match(["one", "two", "three ", "four"], ["one", "two", "three", "five"], bootstrap=200)
    assert score.value == 0.5
    low, high = score.interval
    assert 0 <= low < 0.5 < high <= 1


def test_scores_need_no_tensorflow():
    code = "import sys, bytenet.evaluation; sys.exit('tensorflow' in sys.modules or 'keras' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
