"""Scores of a finished training's translations, and their gains over other translations, as columns of a table."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from bytenet.reproduction.engine.experiment import Row, Table, Work
from bytenet.reproduction.figures.shared.cells import number_in, rows_where
from bytenet.reproduction.jobs.training_run import TrainingRun

if TYPE_CHECKING:
    from bytenet.evaluation import Evaluation
    from bytenet.run_folder import RunFolder

SCORES = {"bleu": "BLEU", "chrf": "chrF2"}
"""The scores by their columns."""
_SAME_GAIN = 0.05
"""If a saved gain and the computed one differ by more than this, the control was translated again."""


def score_columns(result: "Evaluation") -> Row:
    """`bleu`, `bleu_low`, `bleu_high`, the same for `chrf`, and `length_ratio`; the bounds are bootstrap intervals."""
    scores = {score.name: score for score in result.scores}
    row: Row = {}
    for key, name in SCORES.items():
        row |= _with_interval(key, scores[name].value, scores[name].interval)
    return row | {"length_ratio": scores["length-ratio"].value}


def gain_columns(result: "Evaluation", control: Sequence[str] | None, language: str) -> Row:
    """`bleu_gain`, `bleu_gain_low`, ... over the translations of a control, with intervals of the paired bootstrap.

    Args:
        result: the evaluated translations.
        control: the translations of the same sentences by the control; None leaves the columns empty.
        language: of the translations.
    """
    from bytenet.evaluation import compare_translations

    gains = {}
    if control is not None:
        both = {"changed": result.hypotheses, "control": control}
        comparison = compare_translations(None, result.references, both, language)
        gains = {score.name.removesuffix(" difference"): score for score in comparison.differences}
    row: Row = {}
    for key, name in SCORES.items():
        gain = gains.get(name)
        row |= _with_interval(f"{key}_gain", gain.value if gain else None, gain.interval if gain else None)
    return row


def scores_and_gains(
    work: Work, runs: Mapping[str, TrainingRun], control: str, split: Literal["validation", "test"]
) -> "Iterator[tuple[str, int, RunFolder, Row]]":
    """Translate a split with all finished trainings, those of the control first.

    Args:
        work: the work of the experiment.
        runs: the trainings by name.
        control: the name of the one that the others are compared with.
        split: the part of the corpus.

    Yields:
        The name, the trial, the run folder, and the columns of `score_columns` and of `gain_columns`. The gains are
        over the control of the same trial. They are empty if it is not finished.
    """
    from bytenet.evaluation import evaluate_run, pairs_of_split

    of_control: dict[int, Sequence[str]] = {}
    for name in sorted(runs, key=lambda name: name != control):
        for trial, folder in work.measuring(runs[name]):
            result = evaluate_run(folder.path, pairs_of_split(folder, split), split)
            if name == control:
                of_control[trial] = result.hypotheses
            gains = gain_columns(result, of_control.get(trial), folder.config.data.languages[1])
            yield name, trial, folder, score_columns(result) | gains


def with_gains(table: Table, key: str, control: str) -> Table:
    """The rows without the control, with the differences of both scores to the control of the same trial as gains.

    Rows of a trial without a control are left out. A saved gain belongs to the control that was in the table then.
    Results that are joined may bring another control. So each gain is computed again. If it differs from the saved one
    by more than `_SAME_GAIN`, or if none is saved, it has no bootstrap interval. Otherwise it keeps the saved interval.

    Args:
        table: rows with the column `trial` and those of `scores_and_gains`.
        key: the column that names what is compared.
        control: the name of the control.
    """
    controls = {row["trial"]: row for row in rows_where(table, **{key: control})}
    return [
        row | _gains_over(controls[row["trial"]], row)
        for row in table
        if row[key] != control and row["trial"] in controls
    ]


def _gains_over(control: Row, row: Row) -> Row:
    gains: Row = {}
    for score in SCORES:
        column, gain = f"{score}_gain", number_in(row, score) - number_in(control, score)
        is_same = row[column] != "" and abs(number_in(row, column) - gain) <= _SAME_GAIN
        gains |= {column: gain} if is_same else _with_interval(column, gain, None)
    return gains


def bootstrap_note(rows: Table, column: str) -> str:
    """The bootstrap intervals of a column in words, for the note of a verdict."""
    intervals = [
        f"{row[f'{column}_low']:.2f} to {row[f'{column}_high']:.2f}" for row in rows if row[f"{column}_low"] != ""
    ]
    if not intervals:  # gains, if the translations of the control were made on another machine
        return "not bootstrapped over sentences"
    return f"bootstrap over sentences, by trial: {', '.join(intervals)}"


def bootstrap_of_one(rows: Table, column: str) -> tuple[float, float] | None:
    """The bootstrap interval of a column if there is only one row; None for several, or without an interval."""
    if len(rows) != 1 or rows[0][f"{column}_low"] == "":
        return None
    return number_in(rows[0], f"{column}_low"), number_in(rows[0], f"{column}_high")


def draw_trainings(axes: Any, rows: Table, column: str, place: int) -> None:
    """Draw the values of a column with their bootstrap intervals, a point for each row, around a height."""
    for number, row in enumerate(rows):
        shifted = place + 0.15 * (number - (len(rows) - 1) / 2)
        if row[f"{column}_low"] != "":
            interval = [row[f"{column}_low"], row[f"{column}_high"]]
            axes.plot(interval, [shifted, shifted], "-", color="C0", alpha=0.4, label="95 % interval over sentences")
        axes.plot(row[column], shifted, "o", color="C0", markersize=4, label="a training")


def _with_interval(key: str, value: float | None, interval: tuple[float, float] | None) -> Row:
    low, high = interval or ("", "")
    return {key: "" if value is None else value, f"{key}_low": low, f"{key}_high": high}
