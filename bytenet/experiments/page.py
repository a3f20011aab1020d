"""All results as a page of Markdown: what the thesis printed, what came of it here, and under what conditions."""

import os
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bytenet.experiments.differences import differences_page
from bytenet.experiments.experiment import Experiment, Scale, Table
from bytenet.experiments.registry import all_experiments
from bytenet.experiments.reproduction import reproduce_command
from bytenet.experiments.results import ResultFiles, read_record, read_table
from bytenet.experiments.verdict import Verdict
from bytenet.experiments.verdict_text import interval_text, number_text
from bytenet.files import write_text_atomic
from bytenet.markdown import cell, code, table

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


def write_page(path: Path, results: Path) -> None:
    """Write the page on all results, and beside it `thesis-and-code.md`.

    Args:
        path: of the page.
        results: the folder that `bytenet reproduce` left its files in.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    all_results = [_read_result(experiment, results) for experiment in all_experiments()]
    shown = [result for result in all_results if result.scale is not None]
    common = _common_conditions(shown)
    sections = [
        "# The thesis's figures and tables, again",
        _introduction(shown, all_results, common),
        "## Findings that contradict the thesis",
        _findings(shown),
        "## Verdicts",
        _verdict_table(all_results),
        *(_section(result, path.parent, common) for result in shown),
    ]
    write_text_atomic(path, "\n\n".join(sections) + "\n")
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


def _introduction(shown: Sequence[_Result], all_results: Sequence[_Result], common: dict[str, str]) -> str:
    lines = [_INTRODUCTION]
    in_part = [_link(result) for result in shown if _TRAININGS in (result.conditions or {})]
    rest = f", some of a part of their trainings: {', '.join(in_part)}" if in_part else ""
    lines.append(f"{len(shown)} of {len(all_results)} figures and tables have a result so far{rest}.")
    if common:
        lines.append("Unless a section says otherwise:")
        lines.append(table(("", ""), common.items()))
    return "\n\n".join(lines)


_INTRODUCTION = """Figures and tables of Andreas Madsen's thesis (2017), made again with this project. Where the
thesis's text, its code and this code differ: [thesis-and-code.md](thesis-and-code.md). To make one yourself, into
`reproduction/`:

```
bytenet reproduce --list
bytenet reproduce fig-3.3.1 --scale cpu
```

With `--out docs/reproduction --page docs/reproduction.md` it takes the place of what is published here, and this page
and thesis-and-code.md are written again.

Figures of many trainings need not be made at one go, nor in one place: `--partial` shows those that are finished, and
`--join` keeps the results that are there and trains only what they lack.

- **Scale.** "thesis" has the thesis's own settings and corpus; "cpu" is what two cores can do in the time that
  `--list` states: it may show an effect, but not the thesis's numbers unless its problem was as small. Each section
  names the settings that differ, with the thesis's in brackets. The largest scale there is a result of is shown.
- **Commit** is that with which the trainings were measured; they may have been made with earlier ones. Each run folder
  has its own.
- **Measured** is the mean over seeds; the interval is Student's t for that mean, 95 %, unless the note says otherwise.
- **Verdict.** A value "agrees" when the thesis's single run could be one more of ours (95 %), or is as near as a plot
  can be read; else it is "better", "worse", or "differs" where neither is better. A statement is "shown" or "not
  shown". "no claim": the thesis printed nothing to compare with."""


def _findings(results: Sequence[_Result]) -> str:
    lines = []
    for result in results:
        for verdict in result.verdicts:
            if verdict.contradicts:
                told = [f"scale {result.scale}"]
                if verdict.interval is not None:
                    told.insert(0, f"95 % interval {interval_text(verdict.interval)}")
                if seeds := _seeds(result, verdict):
                    told.insert(-1, f"{seeds} seed{'' if seeds == '1' else 's'}")
                note = f"; {cell(verdict.note)}" if verdict.note else ""
                lines.append(
                    f"- {_link(result)}, {cell(verdict.quantity)}: the thesis has {_quoted(verdict.printed)}, measured "
                    f"{cell(number_text(verdict.measured))} ({', '.join(told)}){note}."
                )
    return "\n".join(lines) or "None so far."


def _seeds(result: _Result, verdict: Verdict) -> str:
    """How many seeds; nothing where no training, and so no chance, is behind a number."""
    return "" if verdict.seeds == 1 and not result.experiment.runs(result.scale) else str(verdict.seeds)


def _quoted(printed: float | str) -> str:
    return f"“{cell(printed)}”" if isinstance(printed, str) else number_text(printed)


def _verdict_table(results: Sequence[_Result]) -> str:
    header = ("", "quantity", "thesis", "measured", "95 % interval over seeds", "seeds", "scale", "verdict")
    rows = []
    for result in results:
        if result.scale is None:
            rows.append((result.experiment.name, *_what_is_missing(result.experiment)))
        elif not result.verdicts:
            rows.append((_link(result), cell(result.experiment.title), "", "", "", "", result.scale, "no claim"))
        for verdict in result.verdicts:
            outcome = f"**{verdict.outcome}**" + (f": {cell(verdict.note)}" if verdict.note else "")
            rows.append(
                (
                    _link(result), cell(verdict.quantity), cell(number_text(verdict.printed)),
                    cell(number_text(verdict.measured)), interval_text(verdict.interval), _seeds(result, verdict),
                    result.scale, outcome,
                )
            )  # fmt: skip
    return table(header, rows)


def _what_is_missing(experiment: Experiment) -> tuple[str, ...]:
    """The cells after the name, for an experiment without a result."""
    needs = f"needs {experiment.needs.corpus or 'no corpus'}"
    needs += "".join(
        f"; {scale}: {experiment.needs.time[scale]}" for scale in ("cpu", "thesis") if scale in experiment.needs.time
    )
    return (cell(experiment.title), "", "", "", "", "", f"not run: {cell(needs)}")


def _heading(experiment: Experiment) -> str:
    return f"{experiment.name}: {experiment.title}"


def _link(result: _Result) -> str:
    anchor = re.sub(r"[^\w\- ]", "", _heading(result.experiment).lower()).replace(" ", "-")  # as GitHub makes it
    return f"[{result.experiment.name}](#{anchor})"


def _section(result: _Result, folder: Path, common: dict[str, str]) -> str:
    experiment, files = result.experiment, result.files
    parts = [f"## {_heading(experiment)}", f"*The thesis:* {experiment.thesis}"]
    if experiment.plot is None:
        parts.append(_data_table(read_table(files.data)))
    elif files.picture.is_file():
        parts.append(f"![{experiment.title}]({_relative(files.picture, folder)})")
    told = {"command": code(reproduce_command(experiment, result.scale, result.num_seeds))}
    told |= {label: value for label, value in result.conditions.items() if value != common.get(label)}
    told["data"] = f"[{files.data.name}]({_relative(files.data, folder)})"
    if result.settings:
        told["settings (the thesis's)"] = "; ".join(map(code, result.settings))
    parts.append("\n".join(f"- {label}: {value}" for label, value in told.items()))
    return "\n\n".join(parts)


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
