"""Figure 3.6.1: what unlabelled text does for ByteNet on Synthetic Digits."""

from collections.abc import Sequence
from dataclasses import replace
from statistics import fmean

from bytenet.datasets.corpora.digits import digits
from bytenet.evaluation.t_intervals import FEWEST_TO_COMPARE, difference_of_means, next_value, p_of_difference
from bytenet.reproduction.engine.experiment import Basis, Experiment, Scale, Table, Work
from bytenet.reproduction.engine.judging import statement
from bytenet.reproduction.engine.statistics import holm
from bytenet.reproduction.engine.verdict import Outcome, Verdict
from bytenet.reproduction.figures.semi_supervised.baseline_runs import ATTENTION
from bytenet.reproduction.figures.semi_supervised.grid_gains import (
    below_attention,
    effect_of_text,
    judged_if_grid_is_whole,
    more_text,
    trials_text,
)
from bytenet.reproduction.figures.semi_supervised.grid_plots import plot_errors
from bytenet.reproduction.figures.semi_supervised.grid_runs import (
    GRID_NEEDS,
    LABELLED,
    SETTINGS,
    TEST_SEED,
    TEST_SIZE,
    TRIALS,
    UNLABELLED,
    WEIGHTS,
    Cell,
    cells_in,
    grid_labels,
    grid_runs,
    measure_grid,
    short_number,
    thesis_rows,
    values_by_trial,
)
from bytenet.reproduction.figures.shared.cells import rows_where

_ERRORS = {
    "misclassification": "val_misclassification",
    "backward_misclassification": "val_backward_misclassification",
    **{name: name for name in ("val_loss", "loss", "backward_loss", "source_marginal", "seconds")},
}


def _measure_errors(work: Work) -> Table:
    return measure_grid(work, _ERRORS)


def _error_verdicts(table: Table, scale: Scale, beside: dict[str, Table]) -> list[Verdict]:
    verdicts = []
    for settings, words in SETTINGS.items():
        rows = rows_where(table, settings=settings)
        reproduces = settings == "thesis"
        for sizes in (UNLABELLED[1:], UNLABELLED[:1]):
            compared = [
                _compare_cells(rows, labelled, sizes, f"{labelled} labelled, {words}", reproduces)
                for labelled in LABELLED
            ]
            verdicts += [verdict for verdict, _ in filter(None, compared)]
            outcomes = [outcome for _, of_cells in filter(None, compared) for outcome in of_cells]
            if outcomes:
                verdicts.append(_all_cells(rows, outcomes, sizes, words, reproduces))
        verdicts += effect_of_text(rows, words, is_chosen=settings == "default")
        verdicts += more_text(rows, words)
        verdicts += below_attention(rows, words, beside[ATTENTION])
    return [*verdicts, _combinations_in_test_set(scale)]


def _combinations_in_test_set(scale: Scale) -> Verdict:
    """Count the different sequences of the thesis's test set."""
    drawn = set(digits(TEST_SEED, TEST_SIZE).target)
    possible = {length: 10**length for length in (2, 3)}
    counts = {length: sum(len(text) == length for text in drawn) for length in possible}
    of_each = ", ".join(f"{counts[length]} of {number:,} with {length} digits" for length, number in possible.items())
    holds = len(drawn) > sum(possible.values()) / 2
    verdict = statement(
        f"different sequences in the test set of {TEST_SIZE:,}, of {sum(possible.values()):,} possible ones",
        "this includes most digit combinations", holds=holds, measured=len(drawn), note=of_each,
        contradicts=scale != "smoke" and not holds, source="result-semi-supervised-bytenet.tex:16",
    )  # fmt: skip
    return replace(verdict, evidence="counted")


def _published(cell: Cell) -> list[float]:
    return list(values_by_trial(thesis_rows(), cell).values())


def _outcome(errors: Sequence[float], published: Sequence[float], reproduces: bool) -> Outcome:
    """How our errors compare with the thesis's.

    Welch's interval of the difference decides. With a single training of ours, it is the interval in which one more
    training of the thesis would lie.
    """
    interval = difference_of_means(errors, published)
    if interval is None:
        low, high = next_value(published) or (fmean(published),) * 2
        interval = fmean(errors) - high, fmean(errors) - low
    if interval[0] <= 0 <= interval[1]:
        return "agrees" if reproduces else "no difference"
    return "not reproduced" if reproduces else "better" if interval[1] < 0 else "worse"


def _compare_cells(
    rows: Table, labelled: int, sizes: Sequence[int], words: str, reproduces: bool
) -> tuple[Verdict, list[Outcome]] | None:
    """One verdict on the cells of a number of pairs, and the outcome of each cell; None if no cell is trained."""
    means, printed_means, outcomes, trials = [], [], [], []
    for unlabelled in sizes:
        cells = [Cell(labelled, unlabelled, weight) for weight in WEIGHTS]
        values = [list(values_by_trial(rows, cell).values()) for cell in cells]
        published = [_published(cell) for cell in cells]
        means.append(" ".join(short_number(fmean(own)) if own else "–" for own in values))
        printed_means.append(" ".join(short_number(fmean(own)) for own in published))
        for own, other in zip(values, published, strict=True):
            if own:
                outcomes.append(_outcome(own, other, reproduces))
                trials.append(len(own))
    if not outcomes:
        return None
    order: tuple[Outcome, ...] = ("not reproduced", "agrees") if reproduces else ("worse", "better", "no difference")
    counts = {kind: outcomes.count(kind) for kind in order}
    overall = next(kind for kind, count in counts.items() if count)
    counts_text = ", ".join(f"{kind} in {count}" for kind, count in counts.items() if count)
    weights = " ".join(short_number(weight).rstrip("0") for weight in WEIGHTS)
    verdict = Verdict(
        quantity=f"{words}: means with {', '.join(f'{size:,}' for size in sizes)} unlabelled, weights {weights} each",
        printed="; ".join(printed_means), measured="; ".join(means), seeds=min(trials),
        outcome=overall if min(trials) >= FEWEST_TO_COMPARE else "no claim",
        note=f"{counts_text} of the {len(sizes) * len(WEIGHTS)} cells (Welch, 95 %; trainings with the same training "
        f"set count as independent), {trials_text(trials)}",
    )  # fmt: skip
    return verdict, outcomes


def _all_cells(rows: Table, outcomes: Sequence[Outcome], sizes: Sequence[int], words: str, reproduces: bool) -> Verdict:
    """Number of cells in which our error agrees with the thesis's. With other settings: in which it is lower.

    The errors agree as a whole if they differ in no cell, with Holm's correction for the number of cells.
    """
    of_all = len(LABELLED) * len(sizes) * len(WEIGHTS)
    good_outcome = "agrees" if reproduces else "better"
    good = sum(outcome == good_outcome for outcome in outcomes)
    text = "with" if sizes[0] else "without"
    compared = [cell for cell in cells_in(rows) if cell.unlabelled in sizes]
    values = {cell: list(values_by_trial(rows, cell).values()) for cell in compared}
    trials = list(map(len, values.values()))
    p_values = {cell: p_of_difference(errors, _published(cell)) for cell, errors in values.items()}
    differing = holm({cell: p_value for cell, p_value in p_values.items() if p_value is not None})
    note = (
        "; chance alone makes about one cell in twenty differ; shown if none differs with Holm's correction, which "
        "does not prove that the errors are equal"
    )
    verdict = statement(
        f"cells {text} unlabelled text whose error {'agrees' if reproduces else 'is significantly lower'}, {words}",
        f"to be compared: {of_all} cells", holds=not differing, measured=good, seeds=min(trials),
        note=f"of {len(outcomes)} cells trained, {trials_text(trials)}" + (note if reproduces else ""),
    )  # fmt: skip
    if not reproduces:
        return replace(verdict, printed="no statement", outcome="no claim")
    return judged_if_grid_is_whole(verdict, len(outcomes) == of_all, trials)


EXPERIMENTS = (
    Experiment(
        name="fig-3.6.1",
        title="Semi-supervised ByteNet on Synthetic Digits: misclassification",
        thesis="27 cells: 64, 128 or 256 labelled sequences, 0, 512 or 1,024 unlabelled ones, and three weights. "
        "Unlabelled text lowers the error, for example from .29 to .21 with 128 pairs and weight .2. All cells are "
        "below the attention baseline.",
        needs=GRID_NEEDS,
        basis=Basis("trained, same size", "64 to 256 pairs, d = 20"),
        runs=grid_runs,
        measure=_measure_errors,
        verdicts=_error_verdicts,
        plot=plot_errors,
        beside=(ATTENTION,),
        seeds={"cpu": TRIALS, "thesis": TRIALS},
        labels=grid_labels,
    ),
)
