"""Judgements on the conclusions of the thesis are checked against their verdicts."""

import re
import shutil
from collections import defaultdict
from pathlib import Path
from statistics import fmean

import pytest
from pydantic import ValidationError

from bytenet.evaluation.t_intervals import student_t
from bytenet.reproduction.engine.results import ResultFiles, read_record, read_table
from bytenet.reproduction.engine.verdict import Verdict
from bytenet.reproduction.figures.semi_supervised.grid_runs import thesis_rows
from bytenet.reproduction.pages import conclusions
from bytenet.reproduction.pages.conclusions import (
    NOT_JUDGED,
    Conclusion,
    conclusions_summary,
    conclusions_table,
    judge_conclusions,
    read_conclusions,
)
from bytenet.reproduction.pages.differences import source_links
from bytenet.reproduction.pages.write_pages import write_pages
from bytenet.reproduction.registry import all_experiments

RESULTS = Path(__file__).parents[3] / "docs" / "reproduction"
CONCLUSION = Conclusion(
    claim="It learns.", source="conclusion.tex:12, bytenet.tex:53", stands="in part",
    because="The error is {0}, then {1}.", remark="Only at first.",
    rests_on={"fig-3.3.1": {"first": "agrees", "second": "not shown"}},
)  # fmt: skip
VERDICTS = [
    Verdict(quantity="second", printed="", measured=0.25, outcome="not shown", evidence="rescored"),
    Verdict(quantity="first", printed=0.3, measured=0.31, outcome="agrees", evidence="trained, same size"),
]


@pytest.fixture
def one(monkeypatch):
    """A function that returns the table with one conclusion."""
    monkeypatch.setattr(conclusions, "read_conclusions", lambda: (CONCLUSION,))

    def conclusion_table(verdicts):
        judgements = judge_conclusions({"fig-3.3.1": verdicts, "fig-2.2.1": []})
        return conclusions_table(judgements, {"fig-3.3.1": "[fig-3.3.1](x)"})

    return conclusion_table


def test_row_has_the_numbers_the_evidence_and_the_source(one):
    row = one(VERDICTS).split("\n")[-1]
    assert row == (
        "| It learns. | **in part** | trained, same size; rescored | The error is 0.31, then 0.25. | [fig-3.3.1](x) | "
        f"{source_links('conclusion.tex:12, bytenet.tex:53')} |"
    )


@pytest.mark.parametrize("verdicts", [VERDICTS[:1], []])
def test_conclusion_with_missing_verdict_is_not_judged(one, verdicts):
    row = one(verdicts).split("\n")[-1]
    assert f"| {NOT_JUDGED} | " in row
    assert "fig-3.3.1, first" in row
    assert "in part" not in row


def test_changed_outcome_requires_a_new_judgement(one):
    changed = Verdict(quantity="first", printed=0.3, measured=0.5, outcome="not reproduced")
    row = one([VERDICTS[0], changed]).split("\n")[-1]
    assert f"| {NOT_JUDGED} | " in row
    for part in ("fig-3.3.1, first", "not reproduced", "agrees"):
        assert part in row


def test_evidence_is_that_of_the_published_scale(tmp_path):
    for kind in ("csv", "json"):
        shutil.copy(RESULTS / f"fig-3.3.2-cpu.{kind}", tmp_path / f"fig-3.3.2-thesis.{kind}")
    write_pages(tmp_path / "page.md", tmp_path)
    page = (tmp_path / "page.md").read_text(encoding="utf-8")
    (row,) = [line for line in page.split("\n") if line.startswith("| The test cross entropy of the news falls")]
    assert row.split(" | ")[2] == "trained, same size"


def test_summary_counts_judgements_and_lists_all_that_are_not_open(monkeypatch):
    conclusions_ = [
        CONCLUSION.model_copy(update={"claim": f"Claim of {stands} {number}.", "stands": stands, "rests_on": {}})
        for stands, count in (("yes", 4), ("no", 2), ("open", 3))
        for number in range(count)
    ]
    conclusions_ = [one.model_copy(update={"because": "So it is.", "remark": ""}) for one in conclusions_]
    conclusions_.append(CONCLUSION)
    monkeypatch.setattr(conclusions, "read_conclusions", lambda: conclusions_)
    summary = conclusions_summary(judge_conclusions({"fig-3.3.1": VERDICTS}))
    first, *rest = summary.split("\n\n")
    assert re.findall(r"\d+", first) == ["10", "4", "1", "2", "3"]  # all, yes, in part, no, open
    listed = [line.removeprefix("- ") for part in rest for line in part.split("\n") if line.startswith("- ")]
    assert listed == [
        *(f"Claim of yes {number}." for number in range(4)), "It learns. *Here:* Only at first.",
        *(f"Claim of no {number}." for number in range(2)),
    ]  # fmt: skip


def test_conclusion_that_stands_in_part_must_say_which_part():
    values = CONCLUSION.model_dump() | {"remark": ""}
    with pytest.raises(ValidationError, match=r"which part of 'It learns\.' stands"):
        Conclusion(**values)
    assert Conclusion(**values | {"stands": "open"}).remark == ""


def _because(words):
    [text] = [conclusion.because for conclusion in read_conclusions() if words in conclusion.claim]
    return text


def _by_trial(rows, column, **where):
    """The mean over the cells with text, of each trial."""
    values = defaultdict(list)
    for row in rows:
        if row["unlabelled"] and all(row[name] == value for name, value in where.items()):
            values[row["trial"]].append(row[column])
    return {trial: fmean(own) for trial, own in values.items()}


def test_numbers_of_the_authors_grid_follow_from_his_data():
    author = thesis_rows()
    seconds = {(row["labelled"], row["weight"], row["trial"], row["unlabelled"]): row["seconds"] for row in author}
    ratios = [
        {"unlabelled": 1024, "trial": key[2], "ratio": long / seconds[*key[:3], 512]}
        for key, long in seconds.items() if key[3] == 1024
    ]  # fmt: skip
    by_trial = list(_by_trial(ratios, "ratio").values())
    low, high = student_t(by_trial)
    words = f"take {fmean(by_trial):.2f} times as long ({low:.2f} to {high:.2f}, over his".replace("(0.", "(.")
    assert words in _because("does not depend on the number of unlabelled texts")
    ours = read_table(ResultFiles(RESULTS, "fig-3.6.1", "cpu").data)
    means = [
        fmean(_by_trial(rows, "misclassification", **where).values())
        for rows, where in ((ours, {"settings": "thesis"}), (author, {}))
    ]
    words = f"our means with text are {means[1] - means[0]:.3f} lower than the author's".replace(" 0.", " .")
    assert words in _because("unlabelled text lowers the error somewhat")


def test_unknown_kind_of_evidence_is_refused():
    values = CONCLUSION.model_dump()
    assert Conclusion(**values | {"evidence": "rescored; counted"}).evidence == "rescored; counted"
    with pytest.raises(ValidationError, match="'guessed' is not a kind of evidence"):
        Conclusion(**values | {"evidence": "rescored; guessed"})


def test_conclusions_on_europarl_say_that_nothing_was_trained():
    on_europarl = [one for one in read_conclusions() if "Trained on Europarl" in one.claim and one.stands != "open"]
    assert len(on_europarl) >= 2
    for conclusion in on_europarl:
        assert conclusion.remark.startswith("We did not train this.")


def test_contradicted_claims_do_not_stand_even_in_part():
    """A finding that contradicts the thesis is not hidden in a conclusion that stands."""
    verdicts = {
        (experiment.name, verdict.quantity)
        for experiment in all_experiments()
        if (record := read_record(ResultFiles(RESULTS, experiment.name, "cpu")))
        for verdict in record[0]
        if verdict.contradicts
    }
    resting = []
    for conclusion in read_conclusions():
        named = {(name, quantity) for name, quantities in conclusion.rests_on.items() for quantity in quantities}
        if named & verdicts:
            assert conclusion.stands == "no", conclusion.claim
            resting.append(conclusion)
    assert resting


def test_conclusion_that_stands_does_not_rest_on_no_claim_alone():
    for conclusion in read_conclusions():
        outcomes = [outcome for of_figure in conclusion.rests_on.values() for outcome in of_figure.values()]
        if conclusion.stands in ("yes", "in part"):
            assert {"agrees", "shown", "same score"} & set(outcomes), conclusion.claim


def test_nothing_is_judged_without_results():
    assert judge_conclusions({}) == []
    assert conclusions_summary([]) == conclusions_table([], {}) == ""


def test_conclusions_name_known_experiments_and_enough_verdicts():
    names = {experiment.name for experiment in all_experiments()}
    assert len(read_conclusions()) >= 15
    for conclusion in read_conclusions():
        assert set(conclusion.rests_on) <= names
        assert conclusion.rests_on or conclusion.evidence, "what does it rest on?"
        number = sum(map(len, conclusion.rests_on.values()))
        conclusion.because.format(*range(number))  # no more placeholders than verdicts
