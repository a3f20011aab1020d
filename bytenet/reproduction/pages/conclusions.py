"""The conclusions of the thesis, and whether they stand.

`conclusions.yaml` has a judgement on each conclusion, and the outcomes of the verdicts that the judgement rests on. If
new data change such an outcome, the pages say that the conclusion has to be judged again.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Literal, get_args

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from bytenet.errors import InputError
from bytenet.markdown import cell, table
from bytenet.reproduction.data import read_data
from bytenet.reproduction.engine.number_format import number_text
from bytenet.reproduction.engine.verdict import Evidence, Outcome, Verdict
from bytenet.reproduction.pages.differences import source_links

_FILE = "conclusions.yaml"
NOT_JUDGED = "to be judged"
"""Replaces a judgement if verdicts that it rests on are missing or have changed."""


class Conclusion(BaseModel):
    """A conclusion of the thesis.

    Attributes:
        claim: the conclusion, in our words.
        source: places in the thesis's LaTeX, "file.tex:line", separated by ", ".
        stands: whether it stands in this reproduction.
        because: the reason, in a sentence or two. `{0}` is the measured value of the first verdict in `rests_on`, `{1}`
            of the second.
        remark: what the top of the page adds to the claim. Required if the conclusion stands in part: it says which
            part stands.
        rests_on: the verdicts that the judgement rests on: their outcomes, by experiment and quantity.
        evidence: the kinds of evidence, separated by "; ". "": the evidence of the experiments.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    claim: str
    source: Annotated[str, Field(pattern=r"^[\w-]+\.tex:\d+(, [\w-]+\.tex:\d+)*$")]
    stands: Literal["yes", "in part", "no", "open"]
    because: str
    remark: str = ""
    rests_on: dict[str, dict[str, Outcome]] = {}
    evidence: str = ""

    @model_validator(mode="after")
    def _check(self) -> "Conclusion":
        if self.stands == "in part" and not self.remark:
            raise ValueError(f"remark is missing: which part of {self.claim!r} stands?")
        for kind in filter(None, self.evidence.split("; ")):
            if kind not in get_args(Evidence):
                raise ValueError(f"{kind!r} is not a kind of evidence")
        return self


@dataclass(frozen=True)
class Judgement:
    """A conclusion with its judgement on the present results.

    Attributes:
        conclusion: the conclusion.
        stands: whether it stands, or `NOT_JUDGED`.
        because: the reason, with its numbers. If it is not judged: what has changed.
        evidence: the kinds of evidence, separated by "; ".
    """

    conclusion: Conclusion
    stands: str
    because: str
    evidence: str


@cache
def read_conclusions() -> tuple[Conclusion, ...]:
    """All conclusions, in the order of the thesis.

    Raises:
        InputError: the file has an unknown or a missing key, or a wrong value.
    """
    text = read_data(_FILE)
    try:
        return tuple(Conclusion(**entry) for entry in yaml.safe_load(text))
    except ValidationError as error:
        raise InputError(f"{_FILE}: {error}") from error


def judge_conclusions(verdicts: Mapping[str, Sequence[Verdict]]) -> list[Judgement]:
    """The judgements on all conclusions.

    Args:
        verdicts: the verdicts of the present results with their evidence, by experiment.

    Returns:
        One judgement for each conclusion; none without any results.
    """
    return [_judge(conclusion, verdicts) for conclusion in read_conclusions()] if verdicts else []


def _judge(conclusion: Conclusion, verdicts: Mapping[str, Sequence[Verdict]]) -> Judgement:
    """Fill in the numbers; or list what is missing or has changed since the judgement."""
    basis: list[Verdict] = []
    changes: list[str] = []
    for name, outcomes in conclusion.rests_on.items():
        by_quantity = {verdict.quantity: verdict for verdict in verdicts.get(name, ())}
        for quantity, outcome in outcomes.items():
            verdict = by_quantity.get(quantity)
            if verdict is None:
                changes.append(f"no result of {name}, {quantity}")
            elif verdict.outcome != outcome:
                changes.append(f"{name}, {quantity}: {verdict.outcome}, was {outcome}")
            else:
                basis.append(verdict)
    if changes:
        return Judgement(conclusion, NOT_JUDGED, "; ".join(changes), conclusion.evidence)
    because = conclusion.because.format(*(number_text(verdict.measured) for verdict in basis))
    kinds = dict.fromkeys(verdict.evidence for verdict in basis if verdict.evidence)
    return Judgement(conclusion, conclusion.stands, because, conclusion.evidence or "; ".join(kinds))


def conclusions_summary(judgements: Sequence[Judgement]) -> str:
    """The number of conclusions that stand, and the claims of those that do or do not, as Markdown."""
    if not judgements:
        return ""
    labels = {  # for one, and for several
        "yes": ("stands", "stand"),
        "in part": ("stands in part", "stand in part"),
        "no": ("does not stand", "do not stand"),
        "open": ("is open", "are open"),
        NOT_JUDGED: (NOT_JUDGED, NOT_JUDGED),
    }
    claims = {
        stands: [_with_remark(judgement.conclusion) for judgement in judgements if judgement.stands == stands]
        for stands in labels
    }
    counts = ", ".join(
        f"{number} {labels[stands][number > 1]}" for stands, own in claims.items() if (number := len(own))
    )
    parts = [
        f"We judged {len(judgements)} conclusions of the thesis: {counts}. The reasons are in the table below. A "
        "conclusion stands in part if our results show only a part of it, or show it only at a smaller size. It is "
        "open if no measurement of ours decides it.",
        f"{_number_with(judgements, 'trained, same size')} of them rest on trainings at the thesis's size. For "
        f"{_number_with(judgements, 'rescored')}, we scored translations that the author published.",
    ]
    for stands in ("yes", "in part", "no"):
        if own := claims[stands]:
            title = f"{'These' if len(own) > 1 else 'This'} {labels[stands][len(own) > 1]}:"
            parts += [title, "\n".join(f"- {claim}" for claim in own)]
    return "\n\n".join(parts)


def _number_with(judgements: Sequence[Judgement], kind: str) -> int:
    """The number of judgements with a kind of evidence."""
    return sum(kind in judgement.evidence.split("; ") for judgement in judgements)


def _with_remark(conclusion: Conclusion) -> str:
    """The claim of the thesis and our remark on it, as Markdown."""
    return cell(conclusion.claim) + (f" *Here:* {cell(conclusion.remark)}" if conclusion.remark else "")


def conclusions_table(judgements: Sequence[Judgement], links: Mapping[str, str]) -> str:
    """The judgements as a table of Markdown; "" without any.

    Args:
        judgements: the judgements.
        links: links to the sections of the experiments, by experiment.
    """
    if not judgements:
        return ""
    header = ("the thesis concludes", "does it stand?", "evidence", "what we measured", "figures", "LaTeX")
    rows = (
        (
            cell(judgement.conclusion.claim),
            judgement.stands if judgement.stands == NOT_JUDGED else f"**{judgement.stands}**",
            judgement.evidence,
            cell(judgement.because),
            ", ".join(links.get(name, name) for name in judgement.conclusion.rests_on),
            source_links(judgement.conclusion.source),
        )
        for judgement in judgements
    )
    return table(header, rows)
