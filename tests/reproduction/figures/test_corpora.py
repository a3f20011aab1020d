"""Tables of corpora, made from small test texts."""

from importlib import import_module

import pytest

from bytenet.datasets import Pairs
from bytenet.reproduction import Work
from bytenet.reproduction.figures.corpora import lengths, samples, texts

(LENGTHS,) = lengths.EXPERIMENTS
NEWS, EUROPARL, DIGITS, ODD_PAIRS = samples.EXPERIMENTS


@pytest.fixture
def work(tmp_path, monkeypatch):
    monkeypatch.delenv("BYTENET_DATA", raising=False)

    def at(scale):
        return Work(scale, [1], tmp_path)

    return at


@pytest.mark.parametrize("experiment", [LENGTHS, NEWS, EUROPARL, DIGITS, ODD_PAIRS], ids=lambda one: one.name)
def test_smoke_scale_needs_no_corpus(work, experiment, tmp_path):
    table = experiment.measure(work("smoke"))
    assert len({tuple(row) for row in table}) == 1
    verdicts = experiment.verdicts(table, "smoke")
    assert verdicts
    assert not any(verdict.contradicts for verdict in verdicts)
    if experiment.plot is not None:
        experiment.plot(table, tmp_path / "picture.png")


def test_lengths_are_counted_and_densities_sum_to_one(work, monkeypatch):
    pairs = Pairs(["a" * length for length in (70, 75, 80, 80, 120)], ["b" * 60] * 2 + ["b" * 80] * 3)
    monkeypatch.setattr(texts, "newstest", lambda years: pairs)
    table = LENGTHS.measure(work("cpu"))
    assert sum(row["source_sentences"] for row in table) == 5
    assert table[80]["source_sentences"] == 2
    assert table[120]["target_sentences"] == 0
    assert sum(row["target_density"] for row in table) == pytest.approx(1, abs=0.05)
    verdicts = {verdict.quantity: verdict for verdict in LENGTHS.verdicts(table, "cpu")}
    assert verdicts["most frequent length, German, characters"].outcome == "agrees"
    assert verdicts["most frequent length, German, characters"].printed == "75 to 80"
    assert verdicts["longest sentence in the figure, characters"].measured == 120


@pytest.mark.parametrize(
    ("peak", "outcome"),
    [
        (69, "not reproduced"),
        (70, "no claim"),
        (75, "agrees"),
        (80, "agrees"),
        (81, "no claim"),
        (86, "not reproduced"),
    ],
)
def test_a_peak_just_outside_of_the_range_in_the_figure_is_no_claim(peak, outcome):
    verdict = lengths._peak_verdict("German", peak)
    assert (verdict.outcome, verdict.measured) == (outcome, peak)
    assert ("1 outside the range" in verdict.note) == (peak == 81)


def test_density_has_the_bandwidth_of_r():
    import numpy as np

    # bw.nrd0(c(1, 2, 3, 4, 10)) in R
    width = 0.9 * 2 / 1.34 * 5**-0.2
    density = lengths._kernel_density(np.array([1, 2, 3, 4, 10]), np.array([10.0]))
    expected = np.mean([np.exp(-(((10 - x) / width) ** 2) / 2) for x in (1, 2, 3, 4, 10)]) / width / np.sqrt(2 * np.pi)
    assert density[0] == pytest.approx(expected)


def test_digit_pairs_are_checked_with_another_dictionary(work, monkeypatch):
    table = DIGITS.measure(work("smoke"))
    assert table[0] == {"pairs": 1000, "invalid": 0, "source": "", "target": ""}
    assert table[1]["target"] == "452"
    monkeypatch.setattr(
        import_module("bytenet.datasets.corpora.digits"),
        "digits",
        lambda seed, size: Pairs(["one two", "six"], ["12", "7"]),
    )
    table = DIGITS.measure(work("smoke"))
    assert table[0]["invalid"] == 1
    assert DIGITS.verdicts(table, "cpu")[0].outcome == "not shown"


@pytest.mark.parametrize(
    ("pairs", "outcome"),
    [(1_918_209, "not reproduced"), (1_890_000, "not reproduced"), (1_901_056, "agrees"), (3_186, "no claim")],
)
def test_number_of_pairs_is_judged_only_for_the_whole_corpus(pairs, outcome):
    rows = [{"printed": 0, "pairs": pairs, "source": "", "target": ""}]
    assert EUROPARL.verdicts(rows, "cpu")[-1].outcome == outcome


def test_odd_pairs_of_a_sample_give_no_claim(work, monkeypatch):
    monkeypatch.setattr(samples, "europarl", lambda scale: Pairs(["", "x", "same", "ok"], ["a", "y" * 30, "same", "o"]))
    table = ODD_PAIRS.measure(work("cpu"))
    assert [(row["of_this_kind"], row["line"]) for row in table] == [(1, 1), (1, 3), (1, 2)]
    empty, share = ODD_PAIRS.verdicts(table, "cpu")
    assert (empty.outcome, empty.measured) == ("no claim", 1)
    assert share.measured == pytest.approx(0.75)


def test_pairs_shown_in_the_thesis_are_found_in_the_corpus(work, monkeypatch):
    shown = [f"{start} ..." for start in samples._NEWS_SHOWN]
    pairs = Pairs(["Anderes", *shown], ["other", "a" * 60, "b", "c"])
    monkeypatch.setattr(texts, "newstest", lambda years: pairs)
    table = NEWS.measure(work("cpu"))
    assert [row["source"] for row in table if row["printed"]] == shown
    verdicts = {verdict.quantity: verdict for verdict in NEWS.verdicts(table, "cpu")}
    assert verdicts["printed pairs that are in the corpus"].outcome == "agrees"
    assert verdicts["pairs of NewsTest 2015"].contradicts
    assert verdicts["pairs of NewsTest 2015"].note == ""
    filtered = verdicts["pairs of NewsTest 2014 with 50 to 149 characters on both sides"]
    assert (filtered.printed, filtered.measured, filtered.outcome) == ("not said", 0, "no claim")
    of_2014 = next(row for row in table if row["corpus"].startswith("NewsTest 2014, "))
    of_2014["pairs"] = 1596  # where the thesis's number may come from
    assert "NewsTest 2014 has 1,596 pairs" in NEWS.verdicts(table, "cpu")[2].note


def test_picture_of_lengths_shows_thesis_peak_and_longest_sentences(tmp_path, figures):
    table = [
        {
            "length": length, "source_sentences": 1, "source_density": 0.1 - abs(length - 4) / 100,
            "target_sentences": int(length < 8), "target_density": 0.1 - abs(length - 3) / 100,
        }
        for length in range(10)
    ]  # fmt: skip
    LENGTHS.plot(table, tmp_path / "picture.png")
    assert [text.get_text() for text in figures[0].legends[0].get_texts()] == [
        "source (German), here: peak at 4, longest 9",
        "target (English), here: peak at 3, longest 7",
        "thesis, peaks: 75 to 80",
        "thesis, longest in the figure: 465",
        "thesis, longest in the text: 400",
    ]
