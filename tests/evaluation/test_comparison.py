"""Sentence-by-sentence comparison of one or two systems: worked tables, and sacreBLEU's paired test."""

from dataclasses import replace

import numpy as np
import pytest
from sacrebleu.metrics import BLEU, CHRF
from sacrebleu.significance import PairedTest

from bytenet.errors import InputError
from bytenet.evaluation import bleu, chrf, compare_translations, thesis_bleu
from bytenet.evaluation.comparison import CLEAR_DIFFERENCE
from bytenet.evaluation.comparison_page import comparison_page, scores_table

REFERENCES = [
    "the cat sat on the mat today",
    "two dogs play in the deep snow",
    "a man reads a long newspaper",
    "she sings a song for the child",
    "yes",
    "the train leaves at seven sharp",
]
SOURCES = [f"Satz {number}" for number in range(1, 7)]
A = [
    "the cat sat on the mat today",  # right
    "two dogs play in the deep snow.",  # nearly right
    "qqq qqq",  # worst
    "she sings for some child",  # worse than B
    "yes",  # right, but short
    "",  # empty
]
B = [
    "the cat sat on a hat today",
    "two dogs play in the deep snow",
    "zzz zzz zzz",
    "she sings a song for the child",
    "no",
    "the train leaves at noon",
]


@pytest.fixture
def one():
    return compare_translations(SOURCES, REFERENCES, {"A": A}, bootstrap=20)


@pytest.fixture
def two():
    return compare_translations(SOURCES, REFERENCES, {"A": A, "B": B}, bootstrap=20)


def test_good_sentences_score_highest_among_long_enough_references(one):
    assert one.choose("good", count=2) == [0, 1]
    assert one.choose("good", count=2, by="bleu") == [0, 1]
    assert 4 in one.choose("good", count=2, min_chars=3)


def test_worst_sentences_score_lowest_and_are_not_empty(one):
    assert one.choose("worst", count=2) == [2, 3]


def test_bad_sentences_of_one_system_are_just_below_the_lower_quartile(one):
    order = one.choose("worst", count=10)
    assert one.choose("bad", count=10) == order[:1]
    many = compare_translations(
        None, [REFERENCES[0]] * 8, {"A": ["the cat sat on the mat today"[:end] for end in range(5, 29, 3)]}, bootstrap=0
    )
    assert many.choose("bad", count=10) == [1, 0]  # the better one first


def test_bad_sentences_of_two_systems_are_clearly_below_the_other_system(two):
    assert two.choose("bad") == [3]  # 1 is only a little worse, 5 is empty
    assert two.systems[0].chrf[3] - two.systems[1].chrf[3] <= -CLEAR_DIFFERENCE


def test_equal_sentences_keep_their_order():
    same = compare_translations(None, [REFERENCES[0]] * 4, {"A": [A[0]] * 4}, bootstrap=0)
    for choice in ("good", "bad", "worst"):
        assert same.choose(choice, count=3) == [0, 1, 2]


def test_ties_are_broken_by_the_other_measure(one):
    zero_bleu = [index for index in one.choose("worst", count=10, by="bleu") if one.systems[0].bleu[index] == 0]
    assert zero_bleu == sorted(zero_bleu, key=lambda index: one.systems[0].chrf[index])


def test_page_says_when_no_reference_is_long_enough(one):
    assert one.choose("good", min_chars=40) == []
    page = comparison_page(one, ["good"], 5, "chrf", min_chars=40)
    assert page.endswith("None. No reference has 40 characters; the longest has 31.\n")
    assert page.startswith(scores_table(one))


def test_sentence_score_equals_the_score_of_the_sentence_alone(two):
    for system, lines in zip(two.systems, (A, B), strict=True):
        for index, line in enumerate(lines):
            expected = thesis_bleu([line], [REFERENCES[index]], bootstrap=0).value
            assert system.bleu[index] == pytest.approx(expected)
            assert system.chrf[index] == pytest.approx(CHRF().sentence_score(line, [REFERENCES[index]]).score)


def test_system_scores_equal_the_corpus_scores(two):
    for system, lines in zip(two.systems, (A, B), strict=True):
        expected = [measure(lines, REFERENCES, bootstrap=20) for measure in (bleu, chrf, thesis_bleu)]
        assert list(system.scores) == expected


def test_difference_is_a_minus_b_and_has_an_interval(two):
    for a, b, difference in zip(*(system.scores for system in two.systems), two.differences, strict=True):
        assert difference.value == pytest.approx(a.value - b.value)
        low, high = difference.interval
        assert low <= high
    same = compare_translations(None, REFERENCES, {"A": A, "again": A}, bootstrap=20)
    assert [(score.value, *score.interval, score.p_value) for score in same.differences] == [(0, 0, 0, None)] * 3


def test_one_sentence_has_no_interval():
    comparison = compare_translations(None, REFERENCES[3:4], {"A": A[3:4], "B": B[3:4]}, bootstrap=20)
    assert {(score.interval, score.settings) for score in comparison.differences} == {(None, "")}
    for system in comparison.systems:
        assert {score.interval for score in system.scores} == {None}
        assert "bs:" not in system.scores[0].settings


def test_p_value_is_that_of_sacrebleu_and_the_interval_contains_zero_if_it_is_high():
    random = np.random.RandomState(0)
    words = ["the", "a", "cat", "dog", "sat", "lay", "on", "under", "mat", "tree", "and", "then", "it", "ran", "far"]
    references = [" ".join(random.choice(words, 12)) for _ in range(60)]

    def changed(share):
        return [" ".join("x" if random.rand() < share else word for word in text.split()) for text in references]

    some, as_many, more = changed(0.2), changed(0.2), changed(0.4)
    for other, differs in ((as_many, False), (more, True)):
        comparison = compare_translations(None, references, {"A": some, "B": other}, bootstrap=300)
        systems, metrics = [("A", some), ("B", other)], {"BLEU": BLEU(force=True), "chrF2": CHRF()}
        _, results = PairedTest(systems, metrics, [references], test_type="bs", n_samples=300)()
        for name, difference in zip(metrics, comparison.differences, strict=False):
            low, high = difference.interval
            assert difference.p_value == results[name][1].p_value
            assert (low > 0 or high < 0) == (difference.p_value < 0.05) == differs


def test_wins_count_better_worse_and_equal_sentences(two):
    assert two.wins("chrf") == (2, 3, 1)
    assert two.wins("bleu") == (1, 3, 2)


def test_page_shows_scores_difference_and_tables(two):
    page = comparison_page(two, ("good", "bad", "worst"), 1, "chrf", min_chars=20)
    lines = page.splitlines()
    assert lines[0] == "| system | BLEU | chrF2 | thesis-BLEU | empty |"
    assert lines[2].endswith("| 1 |")
    assert lines[4].startswith("| difference | ")
    assert "## Good: highest chrF2 of A" in lines
    assert "## Bad: chrF2 of A at least 10 points below B" in lines
    assert "| 4 | Satz 4 | she sings a song for the child |" in page


@pytest.mark.parametrize(
    ("interval", "p_value", "verdict"),
    [
        ((-1.0, 2.0), 0.25, "the interval includes 0, so the difference may be chance; p = 0.2500."),
        ((0.0, 0.0), None, "the interval includes 0, so the difference may be chance."),
        ((0.001, 2.0), 0.0123, "the interval does not include 0; p = 0.0123."),
        ((-2.0, -1.0), 0.01, "the interval does not include 0; p = 0.0100."),
    ],
)
def test_page_says_whether_an_interval_includes_zero(two, interval, p_value, verdict):
    first, *others = two.differences
    comparison = replace(two, differences=(replace(first, interval=interval, p_value=p_value), *others))
    assert f"- BLEU difference: {verdict}" in scores_table(comparison).splitlines()


def test_page_has_signatures_but_without_intervals_no_verdict(one):
    bleu_signature = one.systems[0].scores[0].settings
    assert "bs:20|seed:12345" in bleu_signature
    assert f"\n\nSignatures:\n\n- BLEU: `{bleu_signature}`\n- chrF2: `nrefs:1|" in scores_table(one)
    without = compare_translations(None, REFERENCES, {"A": A, "B": B}, bootstrap=0)
    assert "the interval" not in scores_table(without)
    assert {(difference.interval, difference.p_value) for difference in without.differences} == {(None, None)}


def test_page_works_without_sources_and_without_matching_sentences():
    comparison = compare_translations(None, REFERENCES, {"A": REFERENCES, "B|": A}, bootstrap=0)
    page = comparison_page(comparison, ("bad",), 1, "chrf", min_chars=20)
    assert page.endswith("\n\nNone.\n")
    assert "B\\|" in page
    assert "source" not in page


def test_system_names_are_escaped_for_markdown():
    systems = {"a|b": A, "_c_": REFERENCES}
    comparison = compare_translations(None, REFERENCES, systems, bootstrap=0)
    page = comparison_page(comparison, ("worst",), 1, "chrf", min_chars=20)
    headers = [line for line in page.split("\n") if "a\\|b" in line and "\\_c\\_" in line]
    assert headers, page


@pytest.mark.parametrize("names", ["", "ABC"])
def test_other_numbers_of_systems_are_refused(names):
    with pytest.raises(ValueError, match=rf"^Found {len(names)} systems; expected one, or two to compare\.$"):
        compare_translations(None, REFERENCES, dict.fromkeys(names, A))


@pytest.mark.parametrize("sources", [None, SOURCES[:2]])
def test_unequal_numbers_of_sentences_are_refused(sources):
    with pytest.raises(InputError, match="references"):
        compare_translations(sources, REFERENCES, {"A": A[:3] if sources is None else A})


@pytest.mark.parametrize("names", [("source",), ("A", "A chrF2"), ("B thesis-BLEU", "B")])
def test_names_of_other_columns_are_refused(names):
    with pytest.raises(InputError, match=rf"^Systems are named {', '.join(names)}; two columns .* Rename one\.$"):
        compare_translations(None, REFERENCES, dict.fromkeys(names, A))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("best",), "choice is 'best'; expected good, bad, worst"),
        (("good", 5, "chrF"), "by is 'chrF'; expected chrf, bleu"),
    ],
)
def test_unknown_choices_and_measures_are_refused(arguments, message, one):
    with pytest.raises(ValueError, match=message):
        one.choose(*arguments)
