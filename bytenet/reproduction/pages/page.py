"""All results as pages of Markdown: the thesis's conclusions, every verdict, and a page of figures for each chapter."""

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from bytenet.files import write_text_atomic
from bytenet.markdown import cell, table
from bytenet.reproduction.engine.experiment import Experiment
from bytenet.reproduction.engine.verdict_text import interval_text, number_text
from bytenet.reproduction.pages.chapter_page import chapter_page, relative
from bytenet.reproduction.pages.chapters import CHAPTERS, Chapter, chapter_of
from bytenet.reproduction.pages.conclusions import conclusions_table
from bytenet.reproduction.pages.differences import differences_page, source_links
from bytenet.reproduction.pages.result import (
    Result,
    common_conditions,
    conditions_text,
    quoted,
    read_result,
    seeds_text,
)
from bytenet.reproduction.registry import all_experiments


def write_pages(path: Path, results: Path) -> None:
    """Write the page on all results, a page for each chapter in the folder of the results, and `thesis-and-code.md`.

    Args:
        path: of the page on all results.
        results: the folder that `bytenet reproduce` left its files in.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    all_results = [read_result(experiment, results) for experiment in all_experiments()]
    shown = [result for result in all_results if result.scale is not None]
    common = common_conditions(shown)
    folder = f"{relative(results, path.parent)}/"
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
        conditions_text(shown, all_results, common, folder),
        _verdict_table(all_results, folder),
    ]
    write_text_atomic(path, "\n\n".join(filter(None, sections)) + "\n")
    for chapter in chapters:
        of_chapter = [result for result in shown if chapter_of(result.experiment.name) is chapter]
        write_text_atomic(results / chapter.file_name, chapter_page(chapter, of_chapter, path, results, common))
    write_text_atomic(path.with_name("thesis-and-code.md"), differences_page())


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


def _chapter_list(chapters: Sequence[Chapter], folder: str) -> str:
    return "\n".join(f"- [{chapter.title}]({folder}{chapter.file_name})" for chapter in chapters) or "None so far."


def _findings(results: Sequence[Result], folder: str, kind: Literal["contradicts", "qualifies"]) -> str:
    lines = []
    for result in results:
        for verdict in result.verdicts:
            if getattr(verdict, kind):
                evidence = [verdict.evidence or result.experiment.basis_at(result.scale).evidence]
                if verdict.interval is not None:
                    evidence.append(f"95 % interval {interval_text(verdict.interval)}")
                if seeds := seeds_text(result, verdict):
                    evidence.append(f"{seeds} seed{'' if seeds == '1' else 's'}")
                note = f"; {cell(verdict.note)}" if verdict.note else ""
                lines.append(
                    f"- {result.link(folder)}, {cell(verdict.quantity)}: the thesis says {quoted(verdict.printed)} "
                    f"({source_links(verdict.source)}); measured {cell(number_text(verdict.measured))} "
                    f"({', '.join(evidence)}){note}."
                )
    return "\n".join(lines) or "None so far."


def _verdict_table(results: Sequence[Result], folder: str) -> str:
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
                    cell(number_text(verdict.measured)), interval_text(verdict.interval), seeds_text(result, verdict),
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
