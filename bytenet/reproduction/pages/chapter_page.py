"""The page of a chapter: its figures and tables."""

import os
from collections.abc import Sequence
from pathlib import Path

from bytenet.markdown import cell, code, table
from bytenet.reproduction.engine.experiment import Table
from bytenet.reproduction.engine.results import read_table
from bytenet.reproduction.engine.runner import reproduce_command
from bytenet.reproduction.engine.verdict import Verdict
from bytenet.reproduction.engine.verdict_text import interval_text, number_text
from bytenet.reproduction.pages.chapters import Chapter
from bytenet.reproduction.pages.result import Result, heading

_MOST_ROWS = 12
_LONGEST_CELL = 160


def chapter_page(chapter: Chapter, results: Sequence[Result], path: Path, folder: Path, common: dict[str, str]) -> str:
    overview = relative(path, folder)
    sections = [f"# {chapter.title}", f"All verdicts, and how to read them: [{path.name}]({overview})."]
    sections += [_section(result, folder, common) for result in results]
    return "\n\n".join(sections) + "\n"


def _section(result: Result, folder: Path, common: dict[str, str]) -> str:
    experiment, files = result.experiment, result.files
    parts = [f"## {heading(experiment)}", f"*The thesis:* {experiment.thesis}"]
    if experiment.plot is None:
        parts.append(_data_table(read_table(files.data)))
    elif files.picture.is_file():
        parts.append(f"![{experiment.title}]({relative(files.picture, folder)})")
    if result.verdicts:
        parts.append(_short_verdicts(result.verdicts))
    basis = experiment.basis_at(result.scale)
    facts = {"evidence": f"{basis.evidence}; size: {basis.size}"}
    facts["command"] = code(reproduce_command(experiment, result.scale, result.num_seeds))
    facts |= {label: value for label, value in result.conditions.items() if value != common.get(label)}
    facts["data"] = f"[{files.data.name}]({relative(files.data, folder)})"
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


def relative(path: Path, folder: Path) -> str:
    return Path(os.path.relpath(path, folder)).as_posix()
