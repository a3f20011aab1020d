"""All results as pages of Markdown: the thesis's conclusions, every verdict, and a page of figures for each chapter."""

import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from bytenet.files import write_text_atomic
from bytenet.markdown import anchor, cell, code, table
from bytenet.reproduction.engine.experiment import Experiment, Scale, Table
from bytenet.reproduction.engine.results import ResultFiles, read_record, read_table
from bytenet.reproduction.engine.runner import reproduce_command
from bytenet.reproduction.engine.verdict import Verdict
from bytenet.reproduction.engine.verdict_text import interval_text, number_text
from bytenet.reproduction.pages.chapters import CHAPTERS, Chapter, chapter_of
from bytenet.reproduction.pages.conclusions import conclusions_table
from bytenet.reproduction.pages.differences import differences_page, source_links
from bytenet.reproduction.registry import all_experiments

# The numbers of "smoke" mean nothing, so they are never shown.
_SCALES_SHOWN: tuple[Scale, ...] = ("thesis", "cpu")
_MOST_ROWS = 12
_LONGEST_CELL = 160
_TRAININGS = "trainings finished so far"


@dataclass(frozen=True)
class _Result:
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
        return f"[{self.experiment.name}]({folder}{page}#{anchor(_heading(self.experiment))})"


def write_pages(path: Path, results: Path) -> None:
    """Write the page on all results, a page for each chapter in the folder of the results, and `thesis-and-code.md`.

    Args:
        path: of the page on all results.
        results: the folder that `bytenet reproduce` left its files in.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    all_results = [_read_result(experiment, results) for experiment in all_experiments()]
    shown = [result for result in all_results if result.scale is not None]
    common = _common_conditions(shown)
    folder = f"{_relative(results, path.parent)}/"
    links = {result.experiment.name: result.link(folder) for result in shown}
    verdicts = {result.experiment.name: result.verdicts for result in shown}
    chapters = [chapter for chapter in CHAPTERS if any(chapter is chapter_of(one.experiment.name) for one in shown)]
    sections = [
        "# Reproduction of the thesis",
        _INTRODUCTION,
        conclusions_table(verdicts, links),
        "## Findings that contradict the thesis",
        _findings(shown, folder, "contradicts"),
        "## Findings that qualify its results",
        _findings(shown, folder, "qualifies"),
        "## Figures and tables, by chapter",
        _chapter_list(chapters, folder),
        "## How to read the verdicts",
        _EXPLANATION,
        "## All verdicts",
        _conditions_text(shown, all_results, common, folder),
        _verdict_table(all_results, folder),
    ]
    write_text_atomic(path, "\n\n".join(filter(None, sections)) + "\n")
    for chapter in chapters:
        of_chapter = [result for result in shown if chapter_of(result.experiment.name) is chapter]
        write_text_atomic(results / chapter.file_name, _chapter_page(chapter, of_chapter, path, results, common))
    write_text_atomic(path.with_name("thesis-and-code.md"), differences_page())


def _read_result(experiment: Experiment, folder: Path) -> _Result:
    for scale in _SCALES_SHOWN:
        files = ResultFiles(folder, experiment.name, scale)
        record = read_record(files)
        if record is not None and files.data.is_file():
            verdicts, facts = record
            settings = facts.get("differs_from_the_thesis", [])
            return _Result(experiment, scale, files, verdicts, _conditions(facts), facts["seeds"], settings)
    return _Result(experiment)


def _conditions(facts: dict[str, Any]) -> dict[str, str]:
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
        conditions[_TRAININGS] = facts["trainings"]
    if "joined_with" in facts:
        conditions["joined with results of"] = "; ".join(
            dict.fromkeys(
                cell(f"{one['git_commit'] or 'no commit'} on {one['machine']['processor']}")
                for one in facts["joined_with"]
            )
        )
    return conditions


def _common_conditions(results: Sequence[_Result]) -> dict[str, str]:
    """By label, the condition that most results share."""
    return {
        label: Counter(result.conditions[label] for result in results).most_common(1)[0][0]
        for label in (results[0].conditions if results else ())
        if all(label in result.conditions for result in results)
    }


_INTRODUCTION = """Andreas Madsen's thesis (2017) draws the conclusions in this table. For each: does it stand in this
reproduction, and on what evidence? Below: the findings that contradict the thesis, the figures chapter by chapter, and
every single comparison. [thesis-and-code.md](thesis-and-code.md) lists where the thesis's text, its code and this code
differ."""

_EXPLANATION = """```
bytenet reproduce --list                      # every figure and table, what it needs, how long it takes
bytenet reproduce fig-3.3.1 --scale cpu       # trains, then writes data, picture and verdicts into reproduction/
```

`--out docs/reproduction --page docs/reproduction.md` replaces the published results and writes these pages again.

- **Size** and **evidence** say what a number rests on. "trained, same size": the thesis's data, width and epochs.
  "trained, smaller": fewer pairs and a narrower model; its values cannot equal the thesis's, so only effects are
  judged. "rescored": our metrics on the author's own translations; no model of ours is involved. "counted": the corpus
  itself. "computed": formulas, or layers without training. "measured, other hardware": times on two CPU cores, where
  the thesis had GPUs. "trained, beyond the thesis": experiments that the thesis does not have.
- **Measured** is the mean over seeds. The interval is Student's t for that mean (95 %), unless a note says otherwise.
  Intervals of rates end at 0 and 1.
- **Verdict** on a value. "agrees": the thesis's value comes from one training; it lies where one more of our trainings
  (at least five) would lie with 95 % probability, or it is no farther off than a plot can be read. Otherwise "not
  reproduced". "same score" or "other score" is for rescored translations. "better", "worse" or "no difference" compares
  settings of ours that are not the thesis's.
- **Verdict** on a statement: "shown" or "not shown".
- "no claim": too few trainings, another size or machine, or the thesis gives nothing to compare with.
- **Commit** is the version that measured the results. "commits of the trainings" are the versions that trained; results
  that were measured before this was recorded do not name them. A "+" marks a working tree with changes."""


def _conditions_text(
    shown: Sequence[_Result], all_results: Sequence[_Result], common: dict[str, str], folder: str
) -> str:
    in_part = [result.link(folder) for result in shown if _TRAININGS in (result.conditions or {})]
    rest = f", some with a part of their trainings: {', '.join(in_part)}" if in_part else ""
    lines = [f"{len(shown)} of {len(all_results)} figures and tables have a result{rest}."]
    if common:
        lines += ["Unless a section says otherwise:", table(("", ""), common.items())]
    return "\n\n".join(lines)


def _chapter_list(chapters: Sequence[Chapter], folder: str) -> str:
    return "\n".join(f"- [{chapter.title}]({folder}{chapter.file_name})" for chapter in chapters) or "None so far."


def _findings(results: Sequence[_Result], folder: str, kind: Literal["contradicts", "qualifies"]) -> str:
    lines = []
    for result in results:
        for verdict in result.verdicts:
            if getattr(verdict, kind):
                evidence = [verdict.evidence or result.experiment.basis_at(result.scale).evidence]
                if verdict.interval is not None:
                    evidence.append(f"95 % interval {interval_text(verdict.interval)}")
                if seeds := _seeds(result, verdict):
                    evidence.append(f"{seeds} seed{'' if seeds == '1' else 's'}")
                note = f"; {cell(verdict.note)}" if verdict.note else ""
                lines.append(
                    f"- {result.link(folder)}, {cell(verdict.quantity)}: the thesis says {_quoted(verdict.printed)} "
                    f"({source_links(verdict.source)}); measured {cell(number_text(verdict.measured))} "
                    f"({', '.join(evidence)}){note}."
                )
    return "\n".join(lines) or "None so far."


def _seeds(result: _Result, verdict: Verdict) -> str:
    """How many seeds; nothing where no training, and so no chance, is behind a number."""
    return "" if verdict.seeds == 1 and not result.experiment.runs(result.scale) else str(verdict.seeds)


def _quoted(printed: float | str) -> str:
    return f"“{cell(printed)}”" if isinstance(printed, str) else number_text(printed)


def _verdict_table(results: Sequence[_Result], folder: str) -> str:
    header = (
        "", "quantity", "thesis", "measured", "95 % interval over seeds", "seeds", "size", "evidence", "verdict",
    )  # fmt: skip
    rows = []
    for result in results:
        basis = result.experiment.basis_at(result.scale or "cpu")
        if result.scale is None:
            rows.append((result.experiment.name, *_what_is_missing(result.experiment)))
        elif not result.verdicts:
            title = cell(result.experiment.title)
            rows.append((result.link(folder), title, "", "", "", "", basis.size, basis.evidence, "no claim"))
        for verdict in result.verdicts:
            outcome = f"**{verdict.outcome}**" + (f": {cell(verdict.note)}" if verdict.note else "")
            rows.append(
                (
                    result.link(folder), cell(verdict.quantity), cell(number_text(verdict.printed)),
                    cell(number_text(verdict.measured)), interval_text(verdict.interval), _seeds(result, verdict),
                    basis.size, verdict.evidence or basis.evidence, outcome,
                )
            )  # fmt: skip
    return table(header, rows)


def _what_is_missing(experiment: Experiment) -> tuple[str, ...]:
    """The cells after the name, for an experiment without a result."""
    needs = f"needs {experiment.needs.corpus or 'no corpus'}"
    needs += "".join(
        f"; {scale}: {experiment.needs.time[scale]}" for scale in ("cpu", "thesis") if scale in experiment.needs.time
    )
    return (cell(experiment.title), "", "", "", "", "", "", f"not run: {cell(needs)}")


def _heading(experiment: Experiment) -> str:
    return f"{experiment.name}: {experiment.title}"


def _chapter_page(
    chapter: Chapter, results: Sequence[_Result], path: Path, folder: Path, common: dict[str, str]
) -> str:
    overview = _relative(path, folder)
    sections = [f"# {chapter.title}", f"All verdicts, and how to read them: [{path.name}]({overview})."]
    sections += [_section(result, folder, common) for result in results]
    return "\n\n".join(sections) + "\n"


def _section(result: _Result, folder: Path, common: dict[str, str]) -> str:
    experiment, files = result.experiment, result.files
    parts = [f"## {_heading(experiment)}", f"*The thesis:* {experiment.thesis}"]
    if experiment.plot is None:
        parts.append(_data_table(read_table(files.data)))
    elif files.picture.is_file():
        parts.append(f"![{experiment.title}]({_relative(files.picture, folder)})")
    if result.verdicts:
        parts.append(_short_verdicts(result.verdicts))
    basis = experiment.basis_at(result.scale)
    facts = {"evidence": f"{basis.evidence}; size: {basis.size}"}
    facts["command"] = code(reproduce_command(experiment, result.scale, result.num_seeds))
    facts |= {label: value for label, value in result.conditions.items() if value != common.get(label)}
    facts["data"] = f"[{files.data.name}]({_relative(files.data, folder)})"
    if result.settings:
        facts["settings (the thesis's)"] = "; ".join(map(code, result.settings))
    parts.append("\n".join(f"- {label}: {value}" for label, value in facts.items()))
    return "\n\n".join(parts)


def _short_verdicts(verdicts: Sequence[Verdict]) -> str:
    return table(
        ("quantity", "thesis", "measured", "95 % interval", "verdict"),
        (
            (
                cell(verdict.quantity), cell(number_text(verdict.printed)), cell(number_text(verdict.measured)),
                interval_text(verdict.interval), f"**{verdict.outcome}**",
            )
            for verdict in verdicts
        ),
    )  # fmt: skip


def _data_table(rows: Table) -> str:
    shown = table(
        [cell(name) for name in rows[0]],
        ([cell(number_text(value), _LONGEST_CELL) for value in row.values()] for row in rows[:_MOST_ROWS]),
    )
    if len(rows) > _MOST_ROWS:
        shown += f"\n\nThe first {_MOST_ROWS} of {len(rows)} rows."
    return shown


def _relative(path: Path, folder: Path) -> str:
    return Path(os.path.relpath(path, folder)).as_posix()
