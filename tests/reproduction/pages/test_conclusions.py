"""The judgements on the thesis's conclusions are held to the verdicts that they rest on."""

import pytest

from bytenet.reproduction.engine.verdict import Verdict
from bytenet.reproduction.pages import conclusions
from bytenet.reproduction.pages.conclusions import Conclusion, conclusions_table, read_conclusions
from bytenet.reproduction.pages.differences import source_links
from bytenet.reproduction.registry import all_experiments

CONCLUSION = Conclusion(
    claim="It learns.", source="conclusion.tex:12, bytenet.tex:53", stands="in part",
    because="The error is {0}, then {1}.",
    rests_on={"fig-3.3.1": {"first": "agrees", "second": "not shown"}},
)  # fmt: skip
VERDICTS = [
    Verdict(quantity="second", printed="", measured=0.25, outcome="not shown", evidence="rescored"),
    Verdict(quantity="first", printed=0.3, measured=0.31, outcome="agrees"),
]


@pytest.fixture
def one(monkeypatch):
    """A function that gives the table of one conclusion."""
    monkeypatch.setattr(conclusions, "read_conclusions", lambda: (CONCLUSION,))
    return lambda verdicts: conclusions_table({"fig-3.3.1": verdicts, "fig-2.2.1": []}, {"fig-3.3.1": "[fig-3.3.1](x)"})


def test_a_row_has_the_numbers_the_evidence_and_the_place(one):
    row = one(VERDICTS).split("\n")[-1]
    assert row == (
        "| It learns. | **in part** | trained, same size; rescored | The error is 0.31, then 0.25. | [fig-3.3.1](x) | "
        f"{source_links('conclusion.tex:12, bytenet.tex:53')} |"
    )


@pytest.mark.parametrize("verdicts", [VERDICTS[:1], []])
def test_a_missing_verdict_leaves_the_conclusion_to_be_judged(one, verdicts):
    row = one(verdicts).split("\n")[-1]
    assert "| to be judged | " in row
    assert "no result of fig-3.3.1, first" in row
    assert "in part" not in row


def test_an_outcome_that_changed_asks_for_another_judgement(one):
    changed = Verdict(quantity="first", printed=0.3, measured=0.5, outcome="not reproduced")
    row = one([VERDICTS[0], changed]).split("\n")[-1]
    assert "| to be judged | " in row
    assert "fig-3.3.1, first: not reproduced, was agrees" in row


def test_each_conclusion_names_experiments_and_fills_its_numbers():
    names = {experiment.name for experiment in all_experiments()}
    found = read_conclusions()
    assert len(found) >= 15
    for conclusion in found:
        assert set(conclusion.rests_on) <= names
        assert conclusion.rests_on or conclusion.evidence, "what does it rest on?"
        number = sum(map(len, conclusion.rests_on.values()))
        conclusion.because.format(*range(number))  # no more places than verdicts
