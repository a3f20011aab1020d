"""The conclusions of the thesis, and whether they stand: the first table of the page on all results.

`conclusions.yaml` holds a judgement on each conclusion, and the verdicts that it rests on with the outcomes they had.
When new data change such an outcome, the page is not written before the judgement has been looked at again.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from importlib import resources
from typing import Annotated, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from bytenet.errors import InputError
from bytenet.experiments.registry import find_experiment
from bytenet.experiments.verdict import Outcome, Verdict
from bytenet.experiments.verdict_text import number_text
from bytenet.markdown import cell, code, table

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
    source: Annotated[str, Field(pattern=r"^[\w/-]+\.tex:\d+(, [\w/-]+\.tex:\d+)*$")]
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
    text = (resources.files("bytenet.experiments") / _FILE).read_text(encoding="utf-8")
    try:
        return tuple(Conclusion(**entry) for entry in yaml.safe_load(text))
    except ValidationError as error:
        raise InputError(f"{_FILE}: {error}") from error


def conclusions_table(verdicts: Mapping[str, Sequence[Verdict]], links: Mapping[str, str]) -> str:
    """The conclusions as a table of Markdown; without any results, nothing.

    Args:
        verdicts: the published ones, by experiment.
        links: to the experiments' sections, by experiment.

    Raises:
        InputError: a verdict that a conclusion rests on is missing or has another outcome.
    """
    if not verdicts:
        return ""
    header = ("the thesis concludes", "does it stand?", "evidence", "what we measured", "figures", "LaTeX")
    return table(header, (_row(conclusion, verdicts, links) for conclusion in read_conclusions()))


def _row(
    conclusion: Conclusion, verdicts: Mapping[str, Sequence[Verdict]], links: Mapping[str, str]
) -> tuple[str, ...]:
    found = _verdicts_of(conclusion, verdicts)
    kinds = [verdict.evidence or find_experiment(name).basis_at("cpu").evidence for name, verdict in found]
    because = conclusion.because.format(*(number_text(verdict.measured) for _, verdict in found))
    return (
        cell(conclusion.claim),
        f"**{conclusion.stands}**",
        conclusion.evidence or "; ".join(dict.fromkeys(kinds)),
        cell(because),
        ", ".join(links[name] for name in conclusion.rests_on),
        code(conclusion.source),
    )


def _verdicts_of(conclusion: Conclusion, verdicts: Mapping[str, Sequence[Verdict]]) -> list[tuple[str, Verdict]]:
    """The verdicts that a conclusion rests on, in order, each with the name of its experiment."""
    found = []
    for name, outcomes in conclusion.rests_on.items():
        of_experiment = {verdict.quantity: verdict for verdict in verdicts.get(name, ())}
        for quantity, outcome in outcomes.items():
            verdict = of_experiment.get(quantity)
            now = "missing" if verdict is None else f"{verdict.outcome!r}"
            if verdict is None or verdict.outcome != outcome:
                raise InputError(
                    f"The conclusion {conclusion.claim!r} rests on {name}, {quantity!r}, being {outcome!r}, but it is "
                    f"{now}. Judge the conclusion again in {_FILE}."
                )
            found.append((name, verdict))
    return found
