"""A comparison as a page of Markdown."""

from collections.abc import Sequence

from bytenet.evaluation.comparison import CLEAR_DIFFERENCE, Choice, Comparison, Measure
from bytenet.evaluation.trainings_comparison import TrainingsComparison, TrainingScores
from bytenet.markdown import cell, table

_MEASURE_NAMES: dict[Measure, str] = {"chrf": "chrF2", "bleu": "thesis-BLEU"}


def comparison_page(comparison: Comparison, choices: Sequence[Choice], count: int, by: Measure, min_chars: int) -> str:
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
        lines.append([cell(system.name), *(score.rounded for score in system.scores), str(system.num_empty)])
    if comparison.differences:
        lines.append(["difference", *(score.rounded for score in comparison.differences), ""])
    text = f"{table(header, lines)}\n"
    if comparison.differences:
        a, b = (cell(system.name) for system in comparison.systems)
        for by, name in _MEASURE_NAMES.items():
            wins, losses, ties = comparison.wins(by)
            text += f"\nSentences by {name}: {a} higher in {wins}, {b} in {losses}, equal in {ties}.\n"
    return text


def trainings_page(comparison: TrainingsComparison) -> str:
    """The score of each training, the means of both systems, and the difference of the means."""
    lines = []
    for system in comparison.systems:
        values = zip(*(scores.values for scores in system.scores), strict=True)
        for training, of_training in zip(system.trainings, values, strict=True):
            lines.append([cell(system.name), cell(training), *(f"{value:.2f}" for value in of_training)])
    lines += [[cell(system.name), "mean", *map(_mean, system.scores)] for system in comparison.systems]
    lines.append(["difference", "", *(score.rounded for score in comparison.differences)])
    header = ["system", "training", *(scores.name for scores in comparison.systems[0].scores)]
    text = f"{table(header, lines)}\n\n± is the standard deviation between trainings."
    if any(difference.interval for difference in comparison.differences):
        text += (
            " The 95 % interval of a difference is over trainings and sentences. If it includes 0, the difference may "
            "be chance."
        )
    return text + (f"\n\n{comparison.warning}\n" if comparison.warning else "\n")


def _mean(scores: TrainingScores) -> str:
    deviation = scores.standard_deviation
    return f"{scores.mean:.2f}" if deviation is None else f"{scores.mean:.2f} ± {deviation:.2f}"


def _headline(choice: Choice, comparison: Comparison, by: Measure) -> str:
    a, *others = (cell(system.name) for system in comparison.systems)
    measure = _MEASURE_NAMES[by]
    if choice == "bad":
        place = f"at least {CLEAR_DIFFERENCE:g} points below {others[0]}" if others else "just below the lower quartile"
        return f"Bad: {measure} of {a} {place}"
    return f"{'Good: highest' if choice == 'good' else 'Worst: lowest'} {measure} of {a}"
