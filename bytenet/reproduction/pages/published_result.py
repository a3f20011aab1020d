"""A published result: the files of an experiment as the pages show them."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from bytenet.markdown import anchor, cell
from bytenet.reproduction.engine.experiment import Basis, Experiment, Scale
from bytenet.reproduction.engine.results import ResultFiles, read_record
from bytenet.reproduction.engine.verdict import Evidence, Verdict
from bytenet.reproduction.pages.chapters import chapter_of

TRAININGS = "trainings finished so far"
"""The condition of a result that shows a part of its trainings."""
_SHOWN_SCALES: tuple[Scale, ...] = ("thesis", "cpu")  # the numbers of "smoke" have no meaning
_NO_STATEMENT = ("not said", "not tried", "not measured", "not compared", "no statement")


def has_statement(verdict: Verdict) -> bool:
    """Whether the thesis has a number or a statement on the quantity of a verdict."""
    printed = verdict.printed
    return not isinstance(printed, str) or (bool(printed) and not printed.startswith(_NO_STATEMENT))


@dataclass(frozen=True)
class PublishedResult:
    """A result of an experiment.

    Attributes:
        experiment: the experiment.
        scale: the largest scale that has a result.
        files: paths of this result.
        verdicts: its verdicts.
        conditions: how it was made, as Markdown by label.
        num_seeds: number of seeds of its trainings.
        settings: the settings that differ from the thesis's.
    """

    experiment: Experiment
    scale: Scale
    files: ResultFiles
    verdicts: Sequence[Verdict]
    conditions: dict[str, str]
    num_seeds: int
    settings: Sequence[str]

    @property
    def basis(self) -> Basis:
        """What it rests on."""
        return self.experiment.basis_at(self.scale)

    def evidence_of(self, verdict: Verdict) -> Evidence:
        """The kind of evidence of one of its verdicts."""
        return verdict.evidence or self.basis.evidence

    @property
    def verdicts_with_evidence(self) -> list[Verdict]:
        """Its verdicts. Each names its kind of evidence."""
        return [replace(verdict, evidence=self.evidence_of(verdict)) for verdict in self.verdicts]

    def seeds_text(self, verdict: Verdict) -> str:
        """The number of seeds of a verdict; "" without trainings, because nothing is random then."""
        is_trained = verdict.evidence not in ("counted", "computed") and self.experiment.runs(self.scale)
        return str(verdict.seeds) if verdict.seeds > 1 or is_trained else ""

    def link(self, folder: str) -> str:
        """A link to its section.

        Args:
            folder: path to the pages of the chapters, with a slash at the end.
        """
        page = chapter_of(self.experiment.name).file_name
        return f"[{self.experiment.name}]({folder}{page}#{anchor(heading(self.experiment))})"


def read_result(experiment: Experiment, folder: Path) -> PublishedResult | None:
    """Read the result of the largest scale.

    Args:
        experiment: the experiment.
        folder: folder of the results.

    Returns:
        The result; None if there is none.

    Raises:
        InputError: its record is damaged.
    """
    for scale in _SHOWN_SCALES:
        files = ResultFiles(folder, experiment.name, scale)
        record = read_record(files)
        if record is not None and files.data.is_file():
            verdicts, facts = record
            settings = facts.get("differs_from_the_thesis", [])
            return PublishedResult(experiment, scale, files, verdicts, _conditions(facts), facts["seeds"], settings)
    return None


def _conditions(facts: dict[str, Any]) -> dict[str, str]:
    """How a result was made, as Markdown by label."""
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
                cell(f"{origin['git_commit'] or 'no commit'} on {origin['machine']['processor']}")
                for origin in facts["joined_with"]
            )
        )
    return conditions


def common_conditions(results: Sequence[PublishedResult]) -> dict[str, str]:
    """For each label that all results have, the most frequent condition."""
    return {
        label: Counter(result.conditions[label] for result in results).most_common(1)[0][0]
        for label in (results[0].conditions if results else ())
        if all(label in result.conditions for result in results)
    }


def heading(experiment: Experiment) -> str:
    """The heading of the section of an experiment."""
    return f"{experiment.name}: {experiment.title}"
