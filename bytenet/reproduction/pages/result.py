"""A published result, as the pages show it."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bytenet.markdown import anchor, cell, table
from bytenet.reproduction.engine.experiment import Experiment, Scale
from bytenet.reproduction.engine.results import ResultFiles, read_record
from bytenet.reproduction.engine.verdict import Verdict
from bytenet.reproduction.engine.verdict_text import number_text
from bytenet.reproduction.pages.chapters import chapter_of

# The numbers of "smoke" mean nothing, so they are never shown.
TRAININGS = "trainings finished so far"
_SCALES_SHOWN: tuple[Scale, ...] = ("thesis", "cpu")


@dataclass(frozen=True)
class Result:
    """What is shown of an experiment.

    Attributes:
        experiment: which.
        scale: the largest that there is a result of; None where there is none.
        files: of that result.
        verdicts: of it.
        conditions: how it came about, label to Markdown.
        num_seeds: of its trainings.
        settings: in which its trainings differ from the thesis's.
    """

    experiment: Experiment
    scale: Scale | None = None
    files: ResultFiles | None = None
    verdicts: Sequence[Verdict] = ()
    conditions: dict[str, str] | None = None
    num_seeds: int = 1
    settings: Sequence[str] = ()

    def link(self, folder: str) -> str:
        """A link to its section, from a page from which the chapters' pages lie in `folder`, such as "figures/"."""
        page = chapter_of(self.experiment.name).file_name
        return f"[{self.experiment.name}]({folder}{page}#{anchor(heading(self.experiment))})"


def read_result(experiment: Experiment, folder: Path) -> Result:
    for scale in _SCALES_SHOWN:
        files = ResultFiles(folder, experiment.name, scale)
        record = read_record(files)
        if record is not None and files.data.is_file():
            verdicts, facts = record
            settings = facts.get("differs_from_the_thesis", [])
            return Result(experiment, scale, files, verdicts, conditions(facts), facts["seeds"], settings)
    return Result(experiment)


def conditions(facts: dict[str, Any]) -> dict[str, str]:
    machine = facts["machine"]
    versions = ", ".join(f"{name} {version}" for name, version in facts["versions"].items())
    conditions = {
        "commit": facts["git_commit"] or "none: not run from a repository",
        "machine": cell(f"{machine['cores']} cores, {machine['processor']}, {machine['platform']}"),
        "versions": cell(versions),
    }
    if "training_commits" in facts:
        conditions["commits of the trainings"] = ", ".join(facts["training_commits"])
    if "trainings" in facts:
        conditions[TRAININGS] = facts["trainings"]
    if "joined_with" in facts:
        conditions["joined with results of"] = "; ".join(
            dict.fromkeys(
                cell(f"{one['git_commit'] or 'no commit'} on {one['machine']['processor']}")
                for one in facts["joined_with"]
            )
        )
    return conditions


def common_conditions(results: Sequence[Result]) -> dict[str, str]:
    """By label, the condition that most results share."""
    return {
        label: Counter(result.conditions[label] for result in results).most_common(1)[0][0]
        for label in (results[0].conditions if results else ())
        if all(label in result.conditions for result in results)
    }


def conditions_text(shown: Sequence[Result], all_results: Sequence[Result], common: dict[str, str], folder: str) -> str:
    in_part = [result.link(folder) for result in shown if TRAININGS in (result.conditions or {})]
    rest = f", some with a part of their trainings: {', '.join(in_part)}" if in_part else ""
    lines = [f"{len(shown)} of {len(all_results)} figures and tables have a result{rest}."]
    if common:
        lines += ["Unless a section says otherwise:", table(("", ""), common.items())]
    return "\n\n".join(lines)


def seeds_text(result: Result, verdict: Verdict) -> str:
    """How many seeds; nothing where no training, and so no chance, is behind a number."""
    return "" if verdict.seeds == 1 and not result.experiment.runs(result.scale) else str(verdict.seeds)


def quoted(printed: float | str) -> str:
    return f"“{cell(printed)}”" if isinstance(printed, str) else number_text(printed)


def heading(experiment: Experiment) -> str:
    return f"{experiment.name}: {experiment.title}"
