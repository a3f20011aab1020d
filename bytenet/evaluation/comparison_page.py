"""A comparison as a page of Markdown."""

from collections.abc import Sequence

from bytenet.evaluation.comparison import CLEAR_DIFFERENCE, Choice, Comparison, Difference, Measure
from bytenet.evaluation.metrics.scores import Score
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
    """The scores of all sentences, whether their differences may be chance, and in how many sentences each system is
    better."""
    header = ["system", *(score.name for score in comparison.systems[0].scores), "empty"]
    lines = []
    for system in comparison.systems:
        lines.append([cell(system.name), *(score.rounded for score in system.scores), str(system.num_empty)])
    if comparison.differences:
        lines.append(["difference", *(score.rounded for score in comparison.differences), ""])
    text = f"{table(header, lines)}\n"
    if comparison.differences:
        text += _verdicts(comparison.differences)
        a, b = (cell(system.name) for system in comparison.systems)
        for by, name in _MEASURE_NAMES.items():
            wins, losses, ties = comparison.wins(by)
            text += f"\nSentences by {name}: {a} higher in {wins}, {b} in {losses}, equal in {ties}.\n"
    return text + _signatures(comparison.systems[0].scores)


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
        text += " The 95 % interval of a difference is over trainings and sentences."
    text += f"\n{_verdicts(comparison.differences)}{_signatures(comparison.systems[0].scores)}"
    return text + (f"\n{comparison.warning}\n" if comparison.warning else "")


def _verdicts(differences: Sequence[Score]) -> str:
    """A list that says whether each difference may be chance; empty without intervals. A blank line comes first."""
    lines = []
    for difference in differences:
        if difference.interval is None:
            continue
        low, high = difference.interval
        verdict = "the interval does not include 0"
        if low <= 0 <= high:
            verdict = "the interval includes 0, so the difference may be chance"
        if isinstance(difference, Difference) and difference.p_value is not None:
            verdict += f"; p = {difference.p_value:.4f}"
        lines.append(f"- {difference.name}: {verdict}.\n")
    return "".join(["\n", *lines]) if lines else ""


def _signatures(scores: Sequence[Score | TrainingScores]) -> str:
    """A list of the settings of scores. A blank line comes first."""
    return "".join(["\nSignatures:\n\n", *(f"- {score.name}: `{score.settings}`\n" for score in scores)])


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
