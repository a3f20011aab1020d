"""The conclusions of the thesis, and whether they stand: the first table of the page on all results.

`conclusions.yaml` holds a judgement on each conclusion, and the verdicts that it rests on with the outcomes they had.
When new data change such an outcome, the table says that the conclusion has to be judged again.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Annotated, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from bytenet.errors import InputError
from bytenet.markdown import cell, table
from bytenet.reproduction.data import read_data
from bytenet.reproduction.engine.verdict import Outcome, Verdict
from bytenet.reproduction.engine.verdict_text import number_text
from bytenet.reproduction.pages.differences import source_links
from bytenet.reproduction.registry import find_experiment

_FILE = "conclusions.yaml"


class Conclusion(BaseModel):
    """A conclusion of the thesis.

    Attributes:
        claim: the conclusion, in our words.
        source: "file.tex:line" of the thesis's LaTeX, several after each other.
        stands: whether it stands in this reproduction.
        because: why, in a sentence or two. `{0}` is the measured value of the first verdict below, `{1}` of the next.
        rests_on: by experiment and quantity, the outcome of the verdicts that the judgement rests on.
        evidence: the kind of evidence, where it is not that of the experiments.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    claim: str
    source: Annotated[str, Field(pattern=r"^[\w-]+\.tex:\d+(, [\w-]+\.tex:\d+)*$")]
    stands: Literal["yes", "in part", "no", "open"]
    because: str
    rests_on: dict[str, dict[str, Outcome]] = {}
    evidence: str = ""


@cache
def read_conclusions() -> tuple[Conclusion, ...]:
    """All conclusions, in the thesis's order.

    Raises:
        InputError: the file is not as it should be.
    """
    text = read_data(_FILE)
    try:
        return tuple(Conclusion(**entry) for entry in yaml.safe_load(text))
    except ValidationError as error:
        raise InputError(f"{_FILE}: {error}") from error


def conclusions_table(verdicts: Mapping[str, Sequence[Verdict]], links: Mapping[str, str]) -> str:
    """The conclusions as a table of Markdown; without any results, nothing.

    Args:
        verdicts: of the results at hand, by experiment.
        links: to the experiments' sections, by experiment.
    """
    if not verdicts:
        return ""
    header = ("the thesis concludes", "does it stand?", "evidence", "what we measured", "figures", "LaTeX")
    return table(header, (_row(conclusion, verdicts, links) for conclusion in read_conclusions()))


def _row(
    conclusion: Conclusion, verdicts: Mapping[str, Sequence[Verdict]], links: Mapping[str, str]
) -> tuple[str, ...]:
    stands, because, kinds = f"**{conclusion.stands}**", conclusion.because, [conclusion.evidence]
    found = _verdicts_of(conclusion, verdicts)
    changes = [change for *_, change in found if change]
    if changes:
        stands, because = NOT_JUDGED, "; ".join(changes)
    else:
        because = because.format(*(number_text(verdict.measured) for _, verdict, _ in found))
        if not conclusion.evidence:
            kinds = [verdict.evidence or find_experiment(name).basis_at("cpu").evidence for name, verdict, _ in found]
    return (
        cell(conclusion.claim),
        stands,
        "; ".join(dict.fromkeys(kinds)),
        cell(because),
        ", ".join(links.get(name, name) for name in conclusion.rests_on),
        source_links(conclusion.source),
    )


NOT_JUDGED = "to be judged"
"""Stands in place of a judgement whose verdicts are missing or have changed."""


def _verdicts_of(
    conclusion: Conclusion, verdicts: Mapping[str, Sequence[Verdict]]
) -> list[tuple[str, Verdict | None, str]]:
    """Of each verdict that a conclusion rests on: experiment, verdict, and what has changed since the judgement."""
    found = []
    for name, outcomes in conclusion.rests_on.items():
        of_experiment = {verdict.quantity: verdict for verdict in verdicts.get(name, ())}
        for quantity, outcome in outcomes.items():
            verdict = of_experiment.get(quantity)
            if verdict is None:
                change = f"no result of {name}, {quantity}"
            else:
                change = "" if verdict.outcome == outcome else f"{name}, {quantity}: {verdict.outcome}, was {outcome}"
            found.append((name, verdict, change))
    return found
