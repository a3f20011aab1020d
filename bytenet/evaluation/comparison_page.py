"""A comparison as a page of Markdown."""

from collections.abc import Sequence

from bytenet.evaluation.comparison import CLEARLY, Choice, Comparison, Measure
from bytenet.evaluation.metrics.scores import Score
from bytenet.markdown import cell, table

_MEASURE_NAMES: dict[Measure, str] = {"chrf": "chrF2", "bleu": "thesis-BLEU"}


def comparison_page(
    comparison: Comparison, choices: Sequence[Choice], count: int = 5, by: Measure = "chrf", min_chars: int = 20
) -> str:
    """Scores of all sentences, then a table of sentences for each choice; for the arguments see `Comparison.choose`."""
    text = scores_table(comparison)
    for choice in choices:
        rows = comparison.rows(comparison.choose(choice, count, by, min_chars))
        text += f"\n## {_headline(choice, comparison, by)}\n\n"
        if not rows:
            longest = max(map(len, comparison.references))
            too_short = f" No reference has {min_chars} characters; the longest has {longest}."
            text += f"None.{too_short if longest < min_chars else ''}\n"
            continue
        values = [[cell(str(value)) for value in row.values()] for row in rows]
        text += table([cell(name) for name in rows[0]], values) + "\n"
    return text


def scores_table(comparison: Comparison) -> str:
    """The scores of all sentences, and in how many sentences each system is better."""
    header = ["system", *(score.name for score in comparison.systems[0].scores), "empty"]
    lines = []
    for system in comparison.systems:
        empty = sum(not text.strip() for text in system.hypotheses)
        lines.append([cell(system.name), *map(_value, system.scores), str(empty)])
    if comparison.differences:
        lines.append(["difference", *map(_value, comparison.differences), ""])
    text = f"{table(header, lines)}\n"
    if comparison.differences:
        a, b = (cell(system.name) for system in comparison.systems)
        for by, name in _MEASURE_NAMES.items():
            wins, losses, ties = comparison.wins(by)
            text += f"\nSentences by {name}: {a} higher in {wins}, {b} in {losses}, equal in {ties}.\n"
    return text


def _headline(choice: Choice, comparison: Comparison, by: Measure) -> str:
    a, *others = (cell(system.name) for system in comparison.systems)
    measure = _MEASURE_NAMES[by]
    if choice == "bad":
        place = f"at least {CLEARLY:g} points below {others[0]}" if others else "just below the lower quartile"
        return f"Bad: {measure} of {a} {place}"
    return f"{'Good: highest' if choice == 'good' else 'Worst: lowest'} {measure} of {a}"


def _value(score: Score) -> str:
    interval = "" if score.interval is None else f" [{score.interval[0]:.2f}, {score.interval[1]:.2f}]"
    return f"{score.value:.2f}{interval}"
