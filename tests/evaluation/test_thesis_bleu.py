"""The thesis's BLEU: worked examples, NLTK, and the thesis author's own outputs."""

import gzip
import json
import math

import pytest
from nltk.translate.bleu_score import corpus_bleu

from bytenet.errors import InputError
from bytenet.evaluation import thesis_bleu


def test_identical_lines_score_100():
    lines = ["The cat sat on mat.", "Two small dogs play in the snow."]
    assert thesis_bleu(lines, lines, bootstrap=0).value == pytest.approx(100)


def test_worked_example_gives_the_expected_score():
    # Tokens: 6 against 6; matches 5/6, 4/5, 3/4 and 2/3; no brevity penalty.
    score = thesis_bleu(["a b c d e x"], ["a b c d e f"], bootstrap=0)
    assert score.value == pytest.approx(100 * (5 / 6 * 4 / 5 * 3 / 4 * 2 / 3) ** 0.25)


def test_brevity_penalty_counts_the_whole_corpus():
    score = thesis_bleu(["a b c d", "e f g h"], ["a b c d e f", "e f g h"], bootstrap=0)
    assert score.value == pytest.approx(100 * math.exp(1 - 10 / 8))
    assert thesis_bleu(["a b c d e"], ["a b c d"], bootstrap=0).value == pytest.approx(
        100 * (4 / 5 * 3 / 4 * 2 / 3 * 1 / 2) ** 0.25
    )


def test_one_ngram_order_without_a_match_gives_zero():
    assert thesis_bleu(["a b c x d e f"], ["a b c y d e f"], bootstrap=0).value == 0
    assert thesis_bleu([""], ["a b c d"], bootstrap=5).value == 0


def test_score_is_case_sensitive():
    assert thesis_bleu(["A B C D E"], ["a b c d e"], bootstrap=0).value == 0
    assert thesis_bleu(["A B C D E f g h i"], ["a b c d e f g h i"], bootstrap=0).value == pytest.approx(
        100 * (4 / 9 * 3 / 8 * 2 / 7 * 1 / 6) ** 0.25
    )


def test_score_equals_nltk_on_pretokenised_text():
    hypotheses = ["a b c d e f a b", "b c d e f g", "d d d e f a"]
    references = ["a b c d e g a b c", "b c d e a g", "d d e f a b"]
    expected = corpus_bleu([[line.split()] for line in references], [line.split() for line in hypotheses])
    assert thesis_bleu(hypotheses, references, bootstrap=0).value == pytest.approx(100 * expected)


def test_last_period_of_an_abbreviation_can_be_split():
    hypotheses, references = ["he lives in the big U.S ."], ["he lives in the big U.S."]
    assert thesis_bleu(hypotheses, references, bootstrap=0).value < 90
    split = thesis_bleu(hypotheses, references, split_last_period=True, bootstrap=0)
    assert split.value == pytest.approx(100)


def test_tokens_do_not_depend_on_the_region_of_a_language():
    scores = [
        thesis_bleu(["am 3. Mai bzw. im Juni"], ["am 3. Mai bzw . im Juni"], language, bootstrap=0)
        for language in ("de", "de-AT", "de_DE", "DE")
    ]
    assert scores[0].value < 100  # "bzw." is a German abbreviation
    assert scores[1:] == scores[:1] * 3


def test_interval_contains_the_value_and_settings_name_the_rules():
    hypotheses = ["a b c d e f", "a b x d e f", "q r s t u v", "a b c d e z"]
    references = ["a b c d e f", "a b c d e f", "a b c d e f", "a b c d e f"]
    score = thesis_bleu(hypotheses, references, bootstrap=200)
    low, high = score.interval
    assert low < score.value < high <= 100
    assert score.settings == "case:mixed|tok:moses-en-no-escape|last-period:moses|smooth:none"


def test_unequal_numbers_of_sentences_are_refused():
    with pytest.raises(InputError, match="1 hypotheses but 2 references"):
        thesis_bleu(["a"], ["a", "b"])


@pytest.mark.parametrize(("model", "expected"), [("bytenet", 7.44), ("simplified", 0.55)])
def test_thesis_outputs_give_the_scores_in_the_thesis(real_data, model, expected):
    path = real_data("thesis-results") / f"newstest2015-{model}.jsonl.gz"
    with gzip.open(path, "rt", encoding="utf-8", newline="\n") as file:
        pairs = [json.loads(line) for line in file]
    hypotheses, references = ([pair[side] for pair in pairs] for side in ("translation", "target"))
    score = thesis_bleu(hypotheses, references, bootstrap=0)
    assert score.num_sentences == 2169
    assert round(score.value, 2) == expected
