"""The page of a chapter: its figures and tables."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from bytenet.markdown import cell, code, link_target, table
from bytenet.reproduction.engine.experiment import Experiment, Table
from bytenet.reproduction.engine.number_format import interval_text, number_text
from bytenet.reproduction.engine.results import read_table
from bytenet.reproduction.engine.verdict import Verdict
from bytenet.reproduction.pages.chapters import Chapter
from bytenet.reproduction.pages.published_result import PublishedResult, has_statement, heading

_MAX_ROWS = 12
_MAX_CELL_CHARACTERS = 160


def chapter_page(
    chapter: Chapter, results: Sequence[PublishedResult], overview: Path, folder: Path, common: Mapping[str, str]
) -> str:
    """The page of a chapter, as Markdown.

    Args:
        chapter: the chapter.
        results: its results.
        overview: path of the overview page.
        folder: folder of the page and of the results.
        common: the conditions that the overview lists. Sections only list others.
    """
    link = f"[{overview.name}]({relative(overview, folder)})"
    introduction = f"All verdicts, and how to read them, are in {link}."
    if not any(result.experiment.is_thesis for result in results):
        introduction = f"The thesis does not have these experiments. How to read the intervals is in {link}."
    sections = [f"# {chapter.title}", introduction]
    sections += [_section(result, folder, common) for result in results]
    return "\n\n".join(sections) + "\n"


def _section(result: PublishedResult, folder: Path, common: Mapping[str, str]) -> str:
    experiment, files = result.experiment, result.files
    parts = [f"## {heading(experiment)}"]
    if experiment.thesis != Experiment.thesis:
        parts.append(f"*The thesis:* {experiment.thesis}")
    if experiment.plot is None:
        parts.append(_data_table(read_table(files.data)))
    elif files.picture.is_file():
        parts.append(f"![{experiment.title}]({relative(files.picture, folder)})")
    if result.verdicts:
        parts.append(_short_verdicts(result) if experiment.is_thesis else _numbers(result))
    facts = {"evidence": f"{result.basis.evidence}; size: {result.basis.size}"}
    facts["command"] = code(experiment.command(result.scale, result.num_seeds))
    facts |= {label: value for label, value in result.conditions.items() if value != common.get(label)}
    facts["data"] = f"[{files.data.name}]({relative(files.data, folder)})"
    if result.settings:
        facts["settings (the thesis's)"] = "; ".join(map(code, result.settings))
    parts.append("\n".join(f"- {label}: {value}" for label, value in facts.items()))
    return "\n\n".join(parts)


def _short_verdicts(result: PublishedResult) -> str:
    return table(
        ("quantity", "thesis", "measured", "95 % interval", "trainings", "verdict"),
        (
            (
                cell(verdict.quantity), cell(number_text(verdict.printed)), cell(number_text(verdict.measured)),
                _interval(verdict), result.seeds_text(verdict), f"**{verdict.outcome}**",
            )
            for verdict in result.verdicts
        ),
    )  # fmt: skip


def _numbers(result: PublishedResult) -> str:
    """The numbers of an experiment beyond the thesis, with their notes."""
    return table(
        ("quantity", "measured", "95 % interval", "trainings", "notes"),
        (
            (
                cell(verdict.quantity), cell(number_text(verdict.measured)), _interval(verdict),
                result.seeds_text(verdict), cell("; ".join(_notes(verdict))),
            )
            for verdict in result.verdicts
        ),
    )  # fmt: skip


def _notes(verdict: Verdict) -> list[str]:
    outcome = [] if verdict.outcome == "no claim" else [verdict.outcome]
    compared = [number_text(verdict.printed)] if has_statement(verdict) else []
    return outcome + compared + [verdict.note] * bool(verdict.note)


def _interval(verdict: Verdict) -> str:
    """The interval over trainings; of a single training, the one over sentences, if it has one."""
    if verdict.interval is not None or verdict.seeds > 1:
        return interval_text(verdict.interval)
    return f"{interval_text(verdict.over_sentences)} (over sentences)" if verdict.over_sentences else ""


def _data_table(rows: Table) -> str:
    text = table(
        [cell(name.replace("_", " ")) for name in rows[0]],
        ([cell(number_text(value), _MAX_CELL_CHARACTERS) for value in row.values()] for row in rows[:_MAX_ROWS]),
    )
    if len(rows) > _MAX_ROWS:
        text += f"\n\nThese are the first {_MAX_ROWS} of {len(rows)} rows."
    return text


def relative(path: Path, folder: Path) -> str:
    """The path relative to a folder, for a link."""
    return link_target(Path(os.path.relpath(path, folder)).as_posix())
