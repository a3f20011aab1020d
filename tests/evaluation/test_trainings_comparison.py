"""Two systems of several trainings each: worked examples, and how often the interval contains the true difference."""

import math
import re

import numpy as np
import pytest

from bytenet.errors import InputError
from bytenet.evaluation import bleu, chrf, compare_trainings, compare_translations, thesis_bleu
from bytenet.evaluation.comparison_page import trainings_page
from bytenet.evaluation.t_intervals import difference_of_means
from bytenet.evaluation.trainings_comparison import difference_interval

REFERENCES = [
    "the cat sat on the mat today",
    "two dogs play in the deep snow",
    "a man reads a long newspaper",
    "she sings a song for the child",
]
A = {
    "a-1": [*REFERENCES[:3], "she sings a song for a child"],
    "a-2": [*REFERENCES[:2], "a man reads one long newspaper", REFERENCES[3]],
    "a-3": ["the cat sat on a mat today", *REFERENCES[1:]],
}
B = {
    "b-1": [*REFERENCES[:2], "one man reads", "she sings some song"],
    "b-2": ["the cat sat", REFERENCES[1], "a man reads a newspaper", REFERENCES[3]],
    "b-3": ["the cat sat on a hat", "two dogs in the deep snow", *REFERENCES[2:]],
}


def test_scores_are_the_corpus_scores_of_each_training():
    comparison = compare_trainings(REFERENCES, {"A": A, "B": B}, bootstrap=20)
    for system, trainings in zip(comparison.systems, (A, B), strict=True):
        assert system.trainings == tuple(trainings)
        for scores, measure in zip(system.scores, (bleu, chrf, thesis_bleu), strict=True):
            expected = [measure(lines, REFERENCES, bootstrap=0) for lines in trainings.values()]
            assert (scores.name, scores.settings) == (expected[0].name, expected[0].settings)
            assert scores.values == pytest.approx([score.value for score in expected])
            assert scores.mean == pytest.approx(np.mean(scores.values))
            assert scores.standard_deviation == pytest.approx(np.std(scores.values, ddof=1))
    for number, difference in enumerate(comparison.differences):
        a, b = (system.scores[number] for system in comparison.systems)
        assert difference.name == f"{a.name} difference"
        assert difference.value == pytest.approx(a.mean - b.mean)
        low, high = difference.interval
        assert low < difference.value < high
    assert comparison.warning is None


def test_without_variance_between_sentences_the_interval_is_welchs():
    # Means 2 and 5; every resampled test set has the same scores as the test set.
    values = [1.0, 2.0, 3.0], [3.0, 5.0, 7.0]
    resampled = [np.tile(of_system, (10, 1)) for of_system in values]
    assert difference_interval(values, resampled, 100) == pytest.approx(difference_of_means(*values))


def test_without_variance_between_trainings_the_interval_is_that_of_the_sentences():
    # The difference is 0 or 2 on half of the test sets each: variance 200 / 199, and t = 1.971957 for 199 degrees.
    values = [21.0, 21.0], [20.0, 20.0]
    a = np.tile([[20.0], [22.0]], (100, 2))
    half = 1.971957 * math.sqrt(200 / 199)
    assert difference_interval(values, [a, np.full((200, 2), 20.0)], 200) == pytest.approx((1 - half, 1 + half))


def test_variance_of_trainings_that_comes_from_the_sentences_counts_once():
    # Each training of A varies with the sentences around the mean of both, by +-1 in opposite directions.
    # Variance between trainings: 8, of which 2 * 200 / 199 comes from the sentences. Of the rest, half is left in the
    # mean of two. One degree of freedom: t = 12.706205.
    a = np.tile([[11.0, 9.0], [9.0, 11.0]], (100, 1))
    half = 12.706205 * math.sqrt((8 - 2 * 200 / 199) / 2)
    interval = difference_interval(([12.0, 8.0], [4.0, 4.0]), [a, np.full((200, 2), 4.0)], 200)
    assert interval == pytest.approx((6 - half, 6 + half))
    # A variance that comes from the sentences alone leaves nothing.
    assert difference_interval(([11.0, 9.0], [4.0, 4.0]), [a, np.full((200, 2), 4.0)], 200) == (6, 6)


@pytest.mark.parametrize(
    ("num_trainings", "between_trainings", "too_short"),
    [(3, 2.0, {"sentences", "hierarchical"}), (5, 0.2, {"trainings"}), (2, 0.5, {"sentences"})],
)
def test_interval_contains_the_true_difference_in_95_percent(num_trainings, between_trainings, too_short):
    """The score is a mean over sentences. System, training and sentence have effects; the true difference is 0."""
    random, num_sentences, num_samples, repetitions = np.random.default_rng(1), 200, 200, 400
    times = random.multinomial(num_sentences, np.full(num_sentences, 1 / num_sentences), size=num_samples)
    hits = dict.fromkeys(("both", "sentences", "trainings", "hierarchical"), 0)
    for _ in range(repetitions):
        sentences = random.normal(0, 20, num_sentences)
        systems = [
            sentences
            + random.normal(0, 4, num_sentences)
            + random.normal(0, between_trainings, (num_trainings, 1))
            + random.normal(0, 5, (num_trainings, num_sentences))
            for _ in "AB"
        ]
        values = [scores.mean(axis=1).tolist() for scores in systems]
        resampled = [times @ scores.T / num_sentences for scores in systems]
        drawn = [
            np.take_along_axis(scores, random.integers(0, num_trainings, scores.shape), axis=1) for scores in resampled
        ]
        intervals = {
            "both": difference_interval(values, resampled, num_sentences),
            "sentences": np.quantile(resampled[0].mean(axis=1) - resampled[1].mean(axis=1), (0.025, 0.975)),
            "trainings": difference_of_means(*values),
            "hierarchical": np.quantile(drawn[0].mean(axis=1) - drawn[1].mean(axis=1), (0.025, 0.975)),
        }
        for name, (low, high) in intervals.items():
            hits[name] += low <= 0 <= high
    coverage = {name: number / repetitions for name, number in hits.items()}
    assert 0.92 <= coverage.pop("both") <= 0.98
    assert {name for name, share in coverage.items() if share < 0.9} == too_short


def test_one_training_each_has_the_difference_of_the_paired_bootstrap_but_no_interval():
    comparison = compare_trainings(REFERENCES, {"A": {"a": A["a-1"]}, "B": {"b": B["b-1"]}}, bootstrap=20)
    paired = compare_translations(None, REFERENCES, {"a": A["a-1"], "b": B["b-1"]}, bootstrap=0)
    assert [score.value for score in comparison.differences] == [score.value for score in paired.differences]
    assert {(score.interval, score.settings) for score in comparison.differences} == {(None, "")}
    assert comparison.systems[0].scores[0].standard_deviation is None


@pytest.mark.parametrize(
    ("num_a", "num_b", "message"),
    [
        (
            2,
            3,
            r"with 2 trainings of A and 3 trainings of B, it is .* differ\. Train each system",
        ),
        (
            3,
            1,
            r"and 1 training of B, .* There is no interval without a second training of each\. ",
        ),
    ],
)
def test_fewer_than_three_trainings_are_called_unreliable(num_a, num_b, message):
    systems = {"A": dict([*A.items()][:num_a]), "B": dict([*B.items()][:num_b])}
    comparison = compare_trainings(REFERENCES, systems, bootstrap=20)
    assert re.search(message, comparison.warning)
    page = trainings_page(comparison)
    assert page.endswith(f"\n\n{comparison.warning}\n")
    assert ("95 % interval" in page) == (num_b > 1)


def test_page_shows_trainings_means_and_difference():
    lines = trainings_page(compare_trainings(REFERENCES, {"A": A, "B": B}, bootstrap=20)).splitlines()
    assert lines[0] == "| system | training | BLEU | chrF2 | thesis-BLEU |"
    assert [line.split(" | ")[0:2] for line in lines[2:8]] == [
        [f"| {name.upper()}", f"{name}-{number}"] for name in "ab" for number in (1, 2, 3)
    ]
    assert lines[8].startswith("| A | mean | ")
    assert lines[8].count(" ± ") == 3
    assert lines[10].startswith("| difference |  | ")
    assert lines[10].count("[") == 3
    assert lines[12].endswith("The 95 % interval of a difference is over trainings and sentences.")
    assert lines[14].startswith("- BLEU difference: the interval ")
    assert lines[18:21] == ["Signatures:", "", f"- BLEU: `{bleu(A['a-1'], REFERENCES, bootstrap=0).settings}`"]


def test_no_interval_without_resampling():
    comparison = compare_trainings(REFERENCES, {"A": A, "B": B}, bootstrap=0)
    assert {(score.interval, score.settings) for score in comparison.differences} == {(None, "")}


def test_one_sentence_has_no_interval():
    systems = {
        name: {training: lines[:1] for training, lines in trainings.items()} for name, trainings in (("A", A), ("B", B))
    }
    comparison = compare_trainings(REFERENCES[:1], systems, bootstrap=20)
    assert {(score.interval, score.settings) for score in comparison.differences} == {(None, "")}


@pytest.mark.parametrize(
    ("systems", "message"),
    [
        ({}, "none"),
        ({"A": A}, "A with 3"),
        ({"A": A, "B": {}}, "A with 3, B with 0"),
        (dict.fromkeys("ABC", A), "C with 3"),
    ],
)
def test_anything_but_two_trained_systems_is_refused(systems, message):
    with pytest.raises(ValueError, match=rf"trainings: .*{message}.* Expected two systems with at least one training"):
        compare_trainings(REFERENCES, systems)


def test_unequal_numbers_of_sentences_are_refused():
    with pytest.raises(InputError, match="references"):
        compare_trainings(REFERENCES, {"A": A, "B": {"b": B["b-1"][:2]}})
