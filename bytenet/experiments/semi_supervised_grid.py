"""Figures 3.6.1 and 3.6.2: what unlabelled text does for ByteNet on Synthetic Digits, and how long it takes."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from statistics import fmean

from bytenet.experiments.attention_baseline import FORMS, PRINTED, attention_values
from bytenet.experiments.experiment import Basis, Experiment, Needs, Row, Scale, Table, Work
from bytenet.experiments.plots import SMALL, handles_of, legend_below, new_figure, save, shown_name
from bytenet.experiments.semi_supervised_runs import (
    LABELLED,
    SETTINGS,
    TRIALS,
    UNLABELLED,
    WEIGHTS,
    Cell,
    grid_labels,
    grid_runs,
    measure_grid,
    thesis_rows,
)
from bytenet.experiments.verdict import (
    Outcome,
    Verdict,
    by_trial,
    difference_of_means,
    holm,
    next_value,
    paired,
    paired_differences,
    statement,
    student_t,
)

_ERRORS = {
    "misclassification": "val_misclassification",
    "backward_misclassification": "val_backward_misclassification",
    **{name: name for name in ("val_loss", "loss", "backward_loss", "source_marginal", "seconds")},
}
ATTENTION = "attention-baseline"
_TIMES = {
    **{name: name for name in ("seconds", "wall_seconds", "side_by_side")}, "steps": "step", "step_ms": "step_ms",
    "processor": "processor",
}  # fmt: skip


def _measure_errors(work: Work) -> Table:
    return measure_grid(work, _ERRORS)


def _measure_times(work: Work) -> Table:
    return measure_grid(work, _TIMES)


def _of(table: Table, settings: str) -> Table:
    return [row for row in table if row["settings"] == settings]


def _error_verdicts(table: Table, scale: Scale, beside: dict[str, Table]) -> list[Verdict]:
    found = []
    for settings, words in SETTINGS.items():
        rows = _of(table, settings)
        reproduces = settings == "thesis"
        for sizes in (UNLABELLED[1:], UNLABELLED[:1]):
            compared = [
                _compare_cells(rows, labelled, sizes, f"{labelled} labelled, {words}", reproduces)
                for labelled in LABELLED
            ]
            found += [verdict for verdict, _ in filter(None, compared)]
            outcomes = [outcome for one in filter(None, compared) for outcome in one[1]]
            if outcomes:
                found.append(_all_cells(rows, outcomes, sizes, words, reproduces))
        found += _effect_of_text(rows, words, _FORKS if settings == "default" else "")
        found += _more_text(rows, words)
        found += _below_attention(rows, words, beside[ATTENTION])
    return found


def _values(rows: Sequence[dict], cell: Cell, column: str = "misclassification") -> dict[int, float]:
    """By trial."""
    return by_trial(rows, column, **cell._asdict())


def _published(cell: Cell) -> list[float]:
    return list(_values(thesis_rows(), cell).values())


def _outcome(ours: Sequence[float], theirs: Sequence[float], reproduces: bool) -> Outcome:
    """How errors compare with the thesis's: by Welch's interval, or, of one training, by where the next would be."""
    interval = difference_of_means(ours, theirs)
    if interval is None:
        low, high = next_value(theirs)
        interval = fmean(ours) - high, fmean(ours) - low
    if interval[0] <= 0 <= interval[1]:
        return "agrees" if reproduces else "no difference"
    return "not reproduced" if reproduces else "better" if interval[1] < 0 else "worse"


def _compare_cells(
    rows: Table, labelled: int, sizes: Sequence[int], words: str, reproduces: bool
) -> tuple[Verdict, list[Outcome]] | None:
    """The cells of a number of pairs, as one verdict; with the outcome of each cell."""
    ours, theirs, outcomes, trials = [], [], [], []
    for unlabelled in sizes:
        cells = [Cell(labelled, unlabelled, weight) for weight in WEIGHTS]
        values = [list(_values(rows, cell).values()) for cell in cells]
        published = [_published(cell) for cell in cells]
        ours.append(" ".join(_short(fmean(own)) if own else "–" for own in values))
        theirs.append(" ".join(_short(fmean(own)) for own in published))
        for own, other in zip(values, published, strict=True):
            if own:
                outcomes.append(_outcome(own, other, reproduces))
                trials.append(len(own))
    if not outcomes:
        return None
    order = ("not reproduced", "agrees") if reproduces else ("worse", "better", "no difference")
    counts = {kind: outcomes.count(kind) for kind in order}
    overall = next(kind for kind, count in counts.items() if count)
    told = ", ".join(f"{kind} in {count}" for kind, count in counts.items() if count)
    weights = " ".join(_short(weight).rstrip("0") for weight in WEIGHTS)
    verdict = Verdict(
        quantity=f"{words}: means with {', '.join(f'{size:,}' for size in sizes)} unlabelled, weights {weights} each",
        printed="; ".join(theirs), measured="; ".join(ours), seeds=min(trials), outcome=overall,
        note=f"{told} of the {len(sizes) * len(WEIGHTS)} cells (Welch, 95 %), {_trials(trials)}",
    )  # fmt: skip
    return verdict, outcomes


def _all_cells(rows: Table, outcomes: Sequence[Outcome], sizes: Sequence[int], words: str, reproduces: bool) -> Verdict:
    """In how many cells our error agrees with the thesis's, or is lower, if the settings are not the thesis's."""
    of_all = len(LABELLED) * len(sizes) * len(WEIGHTS)
    wanted = "agrees" if reproduces else "better"
    good = sum(outcome == wanted for outcome in outcomes)
    text = "with" if sizes[0] else "without"
    compared = [cell for cell in _cells_in(rows) if cell.unlabelled in sizes]
    trials = [len(_values(rows, cell)) for cell in compared]
    verdict = statement(
        f"cells {text} unlabelled text whose error {'agrees' if reproduces else 'is significantly lower'}, {words}",
        f"to be compared: {of_all} cells", holds=good == of_all, measured=good, seeds=min(trials),
        note=f"of {len(outcomes)} cells trained, {_trials(trials)}"
        + ("; chance alone makes about one cell in twenty differ" if reproduces else ""),
    )  # fmt: skip
    if not reproduces:
        return replace(verdict, printed="no statement", outcome="no claim")
    if good < len(outcomes):  # a miss stays one, whatever the other trainings give
        return verdict
    return _of_whole_grid(verdict, len(outcomes) == of_all, trials)


def _of_whole_grid(verdict: Verdict, all_cells: bool, trials: Sequence[int]) -> Verdict:
    """The verdict, which is none before all trials of all cells are there."""
    return verdict if all_cells and min(trials) >= TRIALS else replace(verdict, outcome="no claim")


def _effect_of_text(rows: Table, words: str, remark: str) -> list[Verdict]:
    """In how many cells unlabelled text lowers the error (paired, 5 %), without and with Holm's correction."""
    probabilities = _chances_of_no_gain(rows)
    if not probabilities:
        return []
    published = {cell: chance for cell, chance in _chances_of_no_gain(thesis_rows()).items() if cell in probabilities}
    trials = [len(_paired(rows, cell)) for cell in probabilities]
    what = f"of {len(probabilities)} cells with unlabelled text, in how many it lowers the error, {words}"
    found = []
    for name, test in (("", _below_level), (", with Holm's correction", holm)):
        helped, same = test(probabilities, _LEVEL), test(published, _LEVEL)
        by_weight = ", ".join(
            f"{_short(weight).rstrip('0')}: {sum(cell.weight == weight for cell in helped)}" for weight in WEIGHTS
        )
        notes = [
            "paired t-test over trials against the same weight without text, p < .05", f"by weight {by_weight}",
            _trials(trials), *([remark] if remark and not name else []),
        ]  # fmt: skip
        verdict = statement(
            what + name, "some improvement by using unlabeled observations, but nothing outstanding",
            holds=bool(helped), measured=len(helped), seeds=min(trials), source="result-semi-supervised-bytenet.tex:31",
            note="; ".join([f"{len(same)} by the same test on the author's numbers", *notes]),
        )  # fmt: skip
        found.append(_of_whole_grid(verdict, len(probabilities) == _CELLS_WITH_TEXT, trials))
    return found


def _below_level(probabilities: dict[Cell, float], level: float) -> set[Cell]:
    return {cell for cell, probability in probabilities.items() if probability < level}


_CELLS_WITH_TEXT = len(LABELLED) * len(UNLABELLED[1:]) * len(WEIGHTS)
_LEVEL = 0.05
_NO_DIFFERENCE = 0.02
_SAME_TIME = 0.1
_FORKS = (
    "these settings were chosen on validation sequences of which 68 % are test sequences, and the first full grid "
    "(16 texts a step) had 13 of 18; the preset was then changed for speed to 8 texts a step, which gave this number"
)


def _chances_of_no_gain(rows: Sequence[dict]) -> dict[Cell, float]:
    """By cell with unlabelled text, the two-sided p of its paired t-test, 1 where the error is not lower.

    Cells with fewer than two pairs of trials are left out.
    """
    from scipy.stats import ttest_1samp

    found = {}
    for cell in _cells_in(rows):
        differences = _paired(rows, cell) if cell.unlabelled else []
        if len(differences) > 1:
            found[cell] = float(ttest_1samp(differences, 0).pvalue) if fmean(differences) < 0 else 1.0
    return found


def _more_text(rows: Table, words: str) -> list[Verdict]:
    """What the second 512 texts add, over all cells: the mean difference of each trial."""
    by_trial_of: dict[int, list[float]] = {}
    few, many = UNLABELLED[1:]
    for cell in _cells_in(rows):
        if cell.unlabelled == many:
            less = _values(rows, cell._replace(unlabelled=few))
            for trial, (own, other) in paired(_values(rows, cell), less).items():
                by_trial_of.setdefault(trial, []).append(own - other)
    differences = [fmean(values) for values in by_trial_of.values()]
    interval = student_t(differences)
    if interval is None:
        return []
    return [
        Verdict(
            quantity=f"misclassification with {many:,} minus with {few} unlabelled texts, mean of the cells, {words}",
            printed="no difference between using 512 or 1024 unlabeled observations", measured=fmean(differences),
            interval=interval, seeds=len(differences),
            outcome="shown" if max(map(abs, interval)) < _NO_DIFFERENCE else "not shown",
            note=f"the test: the whole interval lies within ±{_NO_DIFFERENCE}",
            source="result-semi-supervised-bytenet.tex:35",
        )
    ]  # fmt: skip


def _below_attention(rows: Table, words: str, attention: Table) -> list[Verdict]:
    """How many cells with text have a lower mean than the attention baseline of as many pairs: the author's, ours.

    The thesis's statement is about its own form of the baseline; nothing is claimed of others.
    """
    cells = [cell for cell in _cells_in(rows) if cell.unlabelled]
    if not cells:
        return []
    baselines = [("the author's", PRINTED, True)]
    for form, trained in FORMS.items():
        means = {size: fmean(own) for size in LABELLED if (own := attention_values(attention, form, size))}
        if len(means) == len(LABELLED):
            baselines.append((f"ours, {trained.words}", means, form == "thesis"))
    found = []
    for name, rates, is_thesis in baselines:
        below = sum(_mean(rows, cell) < rates[cell.labelled] for cell in cells)
        verdict = statement(
            f"cells with unlabelled text whose mean is below the attention baseline ({name}), {words}",
            "improvement over ... an attention-based baseline model", holds=below == len(cells), measured=below,
            source="conclusion.tex:28", note=f"of {len(cells)}",
        )  # fmt: skip
        found.append(verdict if is_thesis else verdict.unjudged("not the thesis's baseline"))
    return found


def _mean(rows: Sequence[dict], cell: Cell) -> float:
    return fmean(_values(rows, cell).values())


def _paired(rows: Sequence[dict], cell: Cell) -> list[float]:
    """By trial, the error with unlabelled text minus that without."""
    return paired_differences(_values(rows, cell), _values(rows, cell.without_text))


def _cells_in(rows: Sequence[dict]) -> list[Cell]:
    return list(dict.fromkeys(Cell(*(row[name] for name in Cell._fields)) for row in rows))


def _trials(counts: Sequence[int]) -> str:
    few, many = min(counts), max(counts)
    return f"{few} trial{'s' if few > 1 else ''} each" if few == many else f"{few} to {many} trials each"


def _short(value: float) -> str:
    return f"{value:.3f}".removeprefix("0")


def _time_verdicts(table: Table, scale: Scale) -> list[Verdict]:
    verdicts = []
    for settings, words in SETTINGS.items():
        rows = _of(table, settings)
        if rows:
            verdicts += [_hours(rows, words), *_cost_of_text(rows, words), *_cost_of_more_texts(rows, words)]
    return verdicts


def _cost_of_text(rows: Table, words: str) -> list[Verdict]:
    """The time of a step with unlabelled text over one without, if any trial has both."""
    ratios = _ratios_by_size(rows, "step_ms", UNLABELLED[1:], 0)
    values = _trial_means(ratios)
    if not values:
        return []
    published = _ratios_by_size(thesis_rows(), "seconds", UNLABELLED[1:], 0)
    mean = fmean(fmean(published[labelled].values()) for labelled in ratios)
    by_size = ", ".join(f"{size}: {fmean(of_trials.values()):.2f}" for size, of_trials in ratios.items())
    return [
        Verdict(
            quantity=f"time of a step with unlabelled text over one without, {words}",
            printed="10 times expected, in practice closer to 3", measured=fmean(values),
            interval=student_t(values), seeds=len(values), evidence="measured, other hardware", source=_TIME_SOURCE,
            note=f"the author's data: {mean:.2f}, of whole trainings; by number of pairs here {by_size}",
        )
    ]  # fmt: skip


def _cost_of_more_texts(rows: Table, words: str) -> list[Verdict]:
    """The time of a step with 1,024 unlabelled texts over one with 512."""
    few, many = UNLABELLED[1:]
    values = _trial_means(_ratios_by_size(rows, "step_ms", [many], few))
    interval = student_t(values)
    if interval is None:
        return []
    published = fmean(_trial_means(_ratios_by_size(thesis_rows(), "seconds", [many], few)))
    return [
        Verdict(
            quantity=f"time of a step with {many:,} unlabelled texts over one with {few}, {words}",
            printed="independent of the number unlabeled observations (as long as some are used)",
            measured=fmean(values), interval=interval, seeds=len(values), evidence="measured, other hardware",
            outcome="shown" if max(abs(end - 1) for end in interval) < _SAME_TIME else "not shown",
            source=_TIME_SOURCE,
            note=f"the test: the whole interval lies within 1 ± {_SAME_TIME}; the author's data: {published:.2f}, of "
            "whole trainings",
        )
    ]  # fmt: skip


_TIME_SOURCE = "result-semi-supervised-bytenet.tex:44"


def _hours(rows: Table, words: str) -> Verdict:
    theirs_by_training = {_training_of(row): row["seconds"] for row in thesis_rows()}
    rows = [row for row in rows if _training_of(row) in theirs_by_training]  # more trials have nothing beside them
    theirs = sum(theirs_by_training[_training_of(row)] for row in rows)
    at_once = sorted({int(row["side_by_side"] or 1) for row in rows})
    processors = dict.fromkeys(row["processor"] for row in rows)
    ours = sum(max(row["seconds"], row["wall_seconds"] or 0) / (row["side_by_side"] or 1) for row in rows)
    of_steps = sum(row["steps"] * row["step_ms"] / 1000 / (row["side_by_side"] or 1) for row in rows)
    return Verdict(
        quantity=f"hours for {len(rows)} trainings of the grid's {len(theirs_by_training)}, {words}",
        printed=theirs / 3600, measured=ours / 3600, seeds=len({row["trial"] for row in rows}),
        evidence="measured, other hardware",
        note=f"{' or '.join(map(str, at_once))} at a time on {' and '.join(processors)}; the thesis: one on two "
        f"GPUs; the steps alone, by their median time, {of_steps / 3600:.2f}",
    )  # fmt: skip


def _training_of(row: Row) -> tuple:
    return *(row[name] for name in Cell._fields), row["trial"]


def _ratios_by_size(rows: Sequence[dict], column: str, sizes: Sequence[int], fewer: int) -> dict[int, dict[int, float]]:
    """By number of pairs and trial, the mean time of the cells with `sizes` unlabelled texts over those with `fewer`.

    A number of pairs without any trial of both is left out. Times of different processors are not compared.
    """
    ratios: dict[int, dict[int, list[float]]] = {}
    for processor in dict.fromkeys(row.get("processor") for row in rows):
        of_processor = [row for row in rows if row.get("processor") == processor]
        for cell in (Cell(labelled, size, weight) for labelled in LABELLED for size in sizes for weight in WEIGHTS):
            times, others = (_values(of_processor, one, column) for one in (cell, cell._replace(unlabelled=fewer)))
            for trial, (time, other) in paired(times, others).items():
                ratios.setdefault(cell.labelled, {}).setdefault(trial, []).append(time / other)
    return {
        labelled: {trial: fmean(values) for trial, values in of_trials.items()}
        for labelled, of_trials in ratios.items()
    }


def _trial_means(ratios: dict[int, dict[int, float]]) -> list[float]:
    """The mean over the numbers of pairs, of each trial that all of them have."""
    trials = sorted(set.intersection(*map(set, ratios.values()))) if ratios else []
    return [fmean(of_trials[trial] for of_trials in ratios.values()) for trial in trials]


def _plot_errors(table: Table, path: Path, beside: dict[str, Table]) -> None:
    figure = new_figure(6)
    grid = figure.subplots(len(SETTINGS), len(LABELLED), sharex=True, sharey=True)
    for line, settings in zip(grid, SETTINGS, strict=True):
        for axes, labelled in zip(line, LABELLED, strict=True):
            for number, weight in enumerate(WEIGHTS):
                for rows, whose, place, style in (
                    (thesis_rows(), "thesis", -0.06, {"mfc": "white", "ls": ":", "alpha": 0.75}),
                    (_of(table, settings), "here", 0.06, {"ls": "-"}),
                ):
                    values = [list(_values(rows, Cell(labelled, size, weight)).values()) for size in UNLABELLED]
                    label = f"weight {weight}, {whose}"
                    _draw(axes, values, 0.2 * (number - 1) + place, label, color=f"C{number}", **style)
            axes.axhline(PRINTED[labelled], color="black", ls="--", lw=1, label="attention baseline, thesis")
            for form, style in (("thesis", "-."), ("dense", ":")):
                if own := attention_values(beside[ATTENTION], form, labelled):
                    label = f"attention baseline here, {FORMS[form].words}"
                    axes.axhline(fmean(own), color="black", ls=style, lw=1, label=label)
            axes.grid(alpha=0.3)
        line[0].set_ylabel(f"{shown_name(settings)}\nmisclassification rate", fontsize=SMALL)
    grid[0][0].set_ylim(0, 1.05 * grid[0][0].get_ylim()[1])
    _finish(figure, grid, path)


def _plot_times(table: Table, path: Path) -> None:
    figure = new_figure(4)
    (line,) = grid = figure.subplots(1, len(LABELLED), sharex=True, sharey=True, squeeze=False)
    drawn = {"thesis, two GPUs": thesis_rows()}
    for name in SETTINGS:
        rows = _of(table, name)
        drawn[f"{shown_name(name)}, {' and '.join(dict.fromkeys(row['processor'] for row in rows))}"] = rows
    for axes, labelled in zip(line, LABELLED, strict=True):
        for number, (label, rows) in enumerate(drawn.items()):
            minutes = [
                [
                    value / 60
                    for weight in WEIGHTS
                    for value in _values(rows, Cell(labelled, size, weight), "seconds").values()
                ]
                for size in UNLABELLED
            ]
            colour = f"C{number - 1}" if number else "grey"
            _draw(axes, minutes, 0.1 * (number - 1), label, color=colour, ls="-" if number else ":")
        axes.set(yscale="log")
        axes.grid(alpha=0.3, which="both")
    line[0].yaxis.set_major_formatter("{x:g}")
    line[0].set_ylabel("minutes a training")
    _finish(figure, grid, path)


def _draw(axes, values: Sequence[Sequence[float]], place: float, label: str, **style) -> None:
    """Mean and 95 % interval of the values of each size; a size without values is left out."""
    points = [(place + index, fmean(own), student_t(own)) for index, own in enumerate(values) if own]
    if points:
        errors = [
            (0, 0) if interval is None else (mean - interval[0], interval[1] - mean) for _, mean, interval in points
        ]
        axes.errorbar(
            [x for x, _, _ in points], [mean for _, mean, _ in points], yerr=list(zip(*errors, strict=True)),
            marker="o", markersize=4.5, capsize=2, linewidth=1.2, label=label, **style,
        )  # fmt: skip


def _finish(figure, grid, path: Path) -> None:
    for axes, labelled in zip(grid[0], LABELLED, strict=True):
        axes.set_title(f"{labelled} labelled pairs", fontsize="medium")
    for axes in grid[-1]:
        axes.set_xticks(range(len(UNLABELLED)), [f"{size:,}" for size in UNLABELLED])
        axes.set_xlabel("unlabelled sequences")
    legend_below(figure, handles_of(grid.flat), "points: means over trainings, bars: 95 % intervals")
    save(figure, path)


_NEEDS = Needs(
    time={
        "smoke": "2 min",
        "cpu": "9 h for 270 trainings, shared by both figures; the thesis's own size",
        "thesis": "as cpu, one training at a time",
    }
)

EXPERIMENTS = (
    Experiment(
        name="fig-3.6.1",
        title="Semi-supervised ByteNet on Synthetic Digits: misclassification",
        thesis="27 cells of 64, 128, 256 labelled and 0, 512, 1,024 unlabelled sequences and three weights: unlabelled "
        "text lowers the error, from .29 to .21 at 128 pairs. All are below the attention baseline.",
        needs=_NEEDS,
        basis=Basis("trained, same size", "64 to 256 pairs, d = 20"),
        runs=grid_runs,
        measure=_measure_errors,
        verdicts=_error_verdicts,
        plot=_plot_errors,
        beside=(ATTENTION,),
        seeds={"cpu": TRIALS, "thesis": TRIALS},
        labels=grid_labels,
    ),
    Experiment(
        name="fig-3.6.2",
        title="Semi-supervised ByteNet on Synthetic Digits: time",
        thesis="Training with unlabelled text was expected to take 10 times as long; the text says “closer to 3” in "
        "the last version that we could read. The author's data give 5.4 to 5.7 times.",
        needs=_NEEDS,
        basis=Basis("trained, same size", "64 to 256 pairs, d = 20"),
        runs=grid_runs,
        measure=_measure_times,
        verdicts=_time_verdicts,
        plot=_plot_times,
        seeds={"cpu": TRIALS, "thesis": TRIALS},
        labels=grid_labels,
    ),
)
