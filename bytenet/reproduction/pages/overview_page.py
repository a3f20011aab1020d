"""The overview of all results: what stands, how to run it again, the findings, and all verdicts."""

from collections.abc import Mapping, Sequence
from typing import Literal

from bytenet.evaluation.t_intervals import FEWEST_TO_COMPARE
from bytenet.markdown import anchor, cell, table
from bytenet.reproduction.engine.experiment import Experiment
from bytenet.reproduction.engine.judging import FEWEST_FOR_SPREAD
from bytenet.reproduction.engine.number_format import interval_text, number_text
from bytenet.reproduction.engine.verdict import Verdict
from bytenet.reproduction.pages.chapters import BEYOND, CHAPTERS, chapter_of
from bytenet.reproduction.pages.conclusions import conclusions_summary, conclusions_table, judge_conclusions
from bytenet.reproduction.pages.differences import source_links
from bytenet.reproduction.pages.published_result import TRAININGS, PublishedResult, has_statement

CONTRADICTIONS = "Findings that contradict the thesis"
QUALIFICATIONS = "Findings that limit its results"
"""Headings of the two lists of findings."""
_VERDICTS = "All verdicts"
MISSED = ("not reproduced", "other score", "not shown")
"""Outcomes of rows in which our result is not the thesis's."""


def overview_page(
    experiments: Sequence[Experiment], results: Sequence[PublishedResult], common: Mapping[str, str], folder: str
) -> str:
    """The page, as Markdown.

    Args:
        experiments: all experiments, in the order of the page.
        results: the results of those that have one, in the same order.
        common: the conditions that most results share.
        folder: path from the page to the pages of the chapters, with a slash at the end.
    """
    judgements = judge_conclusions({result.experiment.name: result.verdicts_with_evidence for result in results})
    sections = [
        "# Reproduction of the thesis",
        _introduction(experiments, results),
        "## What stands",
        conclusions_summary(judgements),
        _findings_summary(results),
        _beyond_the_thesis(experiments, results, folder),
        _COMMANDS,
        "## The conclusions of the thesis",
        conclusions_table(judgements, {result.experiment.name: result.link(folder) for result in results}) or _NONE,
        f"## {CONTRADICTIONS}",
        _findings(results, folder, "contradicts"),
        f"## {QUALIFICATIONS}",
        _findings(results, folder, "qualifies"),
        "## Figures and tables, by chapter",
        _chapter_list(results, folder),
        "## How to read the verdicts",
        _EXPLANATION,
        f"## {_VERDICTS}",
        _conditions_text(results, common, folder),
        _verdict_table([experiment for experiment in experiments if experiment.is_thesis], results, folder),
    ]
    return "\n\n".join(filter(None, sections)) + "\n"


def _introduction(experiments: Sequence[Experiment], results: Sequence[PublishedResult]) -> str:
    of_thesis = [experiment.name for experiment in experiments if experiment.name.startswith(("fig-", "tab-"))]
    finished = {result.experiment.name for result in results}
    num_finished = sum(name in finished for name in of_thesis)
    finished_text = f"{num_finished} of {len(of_thesis)} have a measurement."
    if num_finished == len(of_thesis):
        finished_text = "All have a measurement."
    return f"""This page compares Andreas Madsen's master's thesis (Technical University of Denmark, 2017) with our own
results: its figures, its tables and its conclusions. We repeated {len(of_thesis)} of its figures and tables, often at a
smaller size. {finished_text}

We ran them on CPUs: Synthetic Digits at the size of the thesis, and natural language with fewer pairs and narrower
models. [thesis-and-code.md](thesis-and-code.md) lists the differences between the thesis's text, its code and this
code."""


_COMMANDS = """## Run it again

```
bytenet reproduce --list                      # all experiments, what they need, how long they take
bytenet reproduce fig-3.3.1 --scale smoke     # tries the command in a minute; do not use its numbers
bytenet reproduce fig-3.3.1 --scale cpu       # trains, then saves data, picture and verdicts in reproduction/
```

`--out docs/reproduction --page docs/reproduction.md` replaces the published results and writes these pages again."""
_NONE = "None so far."
_EXPLANATION = f"""- **Size** and **evidence** say what a number rests on.
  - "trained, same size": the thesis's data, width and epochs.
  - "trained, smaller": fewer pairs and a narrower model. Its values cannot equal the thesis's, so only effects are
    judged.
  - "trained, beyond the thesis": experiments that the thesis does not have.
  - "rescored": our metrics on the author's own translations. No model of ours is involved.
  - "the author's data": the author's published numbers, with our statistics.
  - "counted": the corpus itself.
  - "computed": formulas, or layers without training.
  - "measured, other hardware": times on two CPU cores. The thesis had GPUs.
  - "not possible here": a conclusion that we could not test, because it needs all of Europarl or several GPUs.
- **Measured** is the mean over seeds. The interval is Student's t for that mean (95 %), unless a note says otherwise.
  Intervals of rates end at 0 and 1. "At the end" of a training is the mean of the last fifth of its curve.
- **Thesis** is what the thesis says. A range, such as "75 to 80", is what we could read off a figure. Rows with "not
  said" or "not compared", or without an entry, have nothing to compare with.
- **Verdict** on a value: "agrees" or "not reproduced". Many values of the thesis come from one training. Such a value
  agrees if it lies in the 95 % prediction interval of our trainings: one more training of ours would lie there with
  95 % probability. This needs at least {FEWEST_FOR_SPREAD} trainings. The value also agrees if the difference is within
  the precision of a plot, or of an "approximately" in the text. The cells of figure 3.6.1 are means of five trainings.
  They agree if Welch's 95 % interval of the difference contains 0, and all of them together if none differs with Holm's
  correction. For rescored translations, the verdict is "same score" or "other score". For our settings that are not the
  thesis's, it is "better", "worse" or "no difference". This needs at least {FEWEST_FOR_SPREAD} trainings, too, or
  {FEWEST_TO_COMPARE} in each cell of figure 3.6.1.
- **Verdict** on a statement: "shown" or "not shown".
- **One training**, also of a smaller model, can show that something happens: for example, that this model learns its
  pairs by heart, or that its test loss rises again. It cannot show which of two models is better, which value is
  right, that something never happens, or that it happens in general. These are "no claim". Two models are compared
  only with at least {FEWEST_TO_COMPARE} trainings of each, and a difference is shown only if its whole 95 %
  interval has the sign that the thesis states. Scores of the author's own translations need no training.
- **A smaller or shorter training** does not show that the thesis's training never does something, or where its
  values end.
- "no claim": there are too few trainings, the size or the machine is different, or the thesis gives nothing to compare
  with.
- **Commit** is the version that measured the results. "commits of the trainings" are the versions that trained. Older
  results do not name them. A "+" marks a working tree with changes."""


def _findings_summary(results: Sequence[PublishedResult]) -> str:
    verdicts = [verdict for result in results if result.experiment.is_thesis for verdict in result.verdicts]
    contradictions = sum(verdict.contradicts for verdict in verdicts)
    qualifications = sum(verdict.qualifies for verdict in verdicts)
    missed = sum(verdict.outcome in MISSED for verdict in verdicts)
    compared = [verdict for verdict in verdicts if has_statement(verdict)]
    return (
        f"[All verdicts](#{anchor(_VERDICTS)}) has {len(verdicts)} rows. {len(compared)} of them compare with a number "
        "or a statement of the thesis. One fact can have several rows. "
        f"{_unjudged(compared)} of the {len(compared)} allow no claim. In {missed}, our result does not confirm the "
        f"thesis. Of these, {contradictions} "
        f"[contradict{'s' if contradictions == 1 else ''} the thesis](#{anchor(CONTRADICTIONS)}). The others may have "
        "other reasons: another text, another size, other settings, another loss, a rounded number, or chance. "
        f"{qualifications} [{'limits' if qualifications == 1 else 'limit'} its results]"
        f"(#{anchor(QUALIFICATIONS)})."
    )


def _beyond_the_thesis(experiments: Sequence[Experiment], results: Sequence[PublishedResult], folder: str) -> str:
    others = [experiment.name for experiment in experiments if not experiment.is_thesis]
    measured = {result.experiment.name for result in results}
    without = [name for name in others if name not in measured]
    if without == others:
        return ""
    link = f"[{BEYOND.title}]({folder}{BEYOND.file_name})"
    text = f"Experiments that the thesis does not have are on a page of their own: {link}."
    return f"{text} Without a result so far: {', '.join(without)}." if without else text


def _unjudged(verdicts: Sequence[Verdict]) -> int:
    return sum(verdict.outcome == "no claim" for verdict in verdicts)


def _chapter_list(results: Sequence[PublishedResult], folder: str) -> str:
    chapters = [
        chapter for chapter in CHAPTERS if any(chapter_of(result.experiment.name) is chapter for result in results)
    ]
    return "\n".join(f"- [{chapter.title}]({folder}{chapter.file_name})" for chapter in chapters) or _NONE


def _findings(results: Sequence[PublishedResult], folder: str, kind: Literal["contradicts", "qualifies"]) -> str:
    lines = []
    for result in results:
        for verdict in result.verdicts:
            if getattr(verdict, kind):
                evidence: list[str] = [result.evidence_of(verdict)]
                if verdict.interval is not None:
                    evidence.append(f"95 % interval {interval_text(verdict.interval)}")
                if seeds := result.seeds_text(verdict):
                    evidence.append(f"{seeds} seed{'' if seeds == '1' else 's'}")
                note = f"; {cell(verdict.note)}" if verdict.note else ""
                lines.append(
                    f"- {result.link(folder)}, {cell(verdict.quantity)}: the thesis says {_quoted(verdict.printed)} "
                    f"({source_links(verdict.source)}); measured {cell(number_text(verdict.measured))} "
                    f"({', '.join(evidence)}){note}."
                )
    return "\n".join(lines) or _NONE


def _quoted(printed: float | str) -> str:
    return f"“{cell(printed)}”" if isinstance(printed, str) else number_text(printed)


def _conditions_text(results: Sequence[PublishedResult], common: Mapping[str, str], folder: str) -> str:
    lines = []
    if in_part := [result.link(folder) for result in results if TRAININGS in result.conditions]:
        lines.append(f"Some trainings of these experiments are not finished: {', '.join(in_part)}.")
    if common:
        lines += ["Unless a section says otherwise, these are the conditions:", table(("", ""), common.items())]
    return "\n\n".join(lines)


def _verdict_table(experiments: Sequence[Experiment], results: Sequence[PublishedResult], folder: str) -> str:
    header = ("", "quantity", "thesis", "measured", "95 % interval over seeds", "seeds", "size", "evidence", "verdict")
    rows = {result.experiment.name: _verdict_rows(result, folder) for result in results}
    return table(
        header,
        (row for experiment in experiments for row in rows.get(experiment.name, [_missing_row(experiment)])),
    )


def _verdict_rows(result: PublishedResult, folder: str) -> list[tuple[str, ...]]:
    basis = result.basis
    if not result.verdicts:
        title = cell(result.experiment.title)
        return [(result.link(folder), title, "", "", "", "", basis.size, basis.evidence, "no claim")]
    return [
        (
            result.link(folder), cell(verdict.quantity), cell(number_text(verdict.printed)),
            cell(number_text(verdict.measured)), interval_text(verdict.interval), result.seeds_text(verdict),
            basis.size, result.evidence_of(verdict),
            f"**{verdict.outcome}**" + (f": {cell(verdict.note)}" if verdict.note else ""),
        )
        for verdict in result.verdicts
    ]  # fmt: skip


def _missing_row(experiment: Experiment) -> tuple[str, ...]:
    needs = f"needs {experiment.needs.corpus or 'no corpus'}"
    needs += "".join(
        f"; {scale}: {experiment.needs.time[scale]}" for scale in ("cpu", "thesis") if scale in experiment.needs.time
    )
    return (experiment.name, cell(experiment.title), "", "", "", "", "", "", f"not run: {cell(needs)}")
