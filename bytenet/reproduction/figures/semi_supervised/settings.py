"""Beyond the thesis: effect of each setting of semi-supervised training on Synthetic Digits."""

from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean
from textwrap import fill

from bytenet.evaluation.t_intervals import student_t
from bytenet.reproduction.engine.experiment import Basis, Experiment, Needs, Scale, Table, Work
from bytenet.reproduction.engine.judging import comparison, mean_of
from bytenet.reproduction.engine.number_format import interval_text
from bytenet.reproduction.engine.statistics import by_trial, paired, paired_differences
from bytenet.reproduction.engine.verdict import Verdict
from bytenet.reproduction.figures.semi_supervised.greedy_scores import greedy_scores
from bytenet.reproduction.figures.semi_supervised.grid_runs import (
    TRIALS,
    Cell,
    final_values,
    grid_run,
    seconds_of_steps,
    thesis_rows,
)
from bytenet.reproduction.figures.shared.cells import integer_in, rows_where, text_in, texts_in
from bytenet.reproduction.figures.shared.plots import SMALL, handles_of, legend_below, new_figure, save
from bytenet.reproduction.jobs.training_run import Start, TrainingRun

_PLAIN, _NONE = "plain", "no unlabelled text"
_THESIS = "the thesis's settings"

# Not the test set of the grid, because these results decide on settings.
_VALIDATION_SEED = 12


@dataclass(frozen=True)
class _Variant:
    """A way to train that differs from the plain way.

    Attributes:
        settings: settings that differ.
        started: whether it starts from the translators trained without unlabelled text.
        against: label of the way with which it is compared.
        cost: approximate cost relative to the training of the grid that it changes.
        of: settings of that training, a key of `SETTINGS`.
        effect: the difference in words. "": the two labels, "A minus B".
    """

    settings: tuple[str, ...]
    started: bool = False
    against: str = _PLAIN
    cost: float = 1.0
    of: str = "default"
    effect: str = ""


_BOTH_SIDES = "text of both sides"
_BACK_TRANSLATION = "text of both sides, back-translation, beam 1"
_TWICE = "602 epochs"
_NARROW = "beam 1"
_STARTED = "started from supervised translators"
VARIANTS = {
    "whole weight from the first step": _Variant(("semi_supervised.ramp_steps=0",)),
    _NARROW: _Variant(("semi_supervised.beam_size=1",), cost=0.75),
    "beam 10": _Variant(("semi_supervised.beam_size=10",), cost=1.3),
    "16 texts per step": _Variant(("semi_supervised.batch_size=16",), cost=1.25),  # as many as pairs, not half
    # With the defaults, no two hypotheses are equal, because the search skips symbols that write nothing.
    f"same hypotheses merged, {_THESIS}": _Variant(
        ("semi_supervised.duplicates=merge",),
        against=_THESIS,
        of="thesis",
        effect=f"effect of merging equal hypotheses, with {_THESIS}",
    ),
    "batch statistics in the search": _Variant(("semi_supervised.batch_norm_statistics=batch",)),
    _BOTH_SIDES: _Variant(("semi_supervised.target_weight=0.2",), cost=1.6),
    # With source text alone, back-translation would only train the backward translator.
    _BACK_TRANSLATION: _Variant(
        (
            "semi_supervised.target_weight=0.2",
            "semi_supervised.objective=back_translation",
            "semi_supervised.beam_size=1",
        ),
        against=_BOTH_SIDES,
    ),
    _TWICE: _Variant(("training.epochs=602", "evaluation.every_epochs=602"), cost=2.0),
    _STARTED: _Variant((), started=True, against=_TWICE),
    f"{_STARTED}, only forward trained further": _Variant(
        ("semi_supervised.trained=forward",), started=True, against=_STARTED
    ),
}
_SMOKE = (_BACK_TRANSLATION, _STARTED)


def _labels(scale: Scale) -> list[str]:
    return [_NONE, _PLAIN, *([] if scale == "smoke" else [_THESIS]), *_variants(scale)]


def _variants(scale: Scale) -> dict[str, _Variant]:
    if scale != "smoke":
        return VARIANTS
    return {label: replace(VARIANTS[label], against=_PLAIN) for label in _SMOKE}


def _run(label: str, scale: Scale) -> TrainingRun:
    cell = Cell(64, 512, 0.2) if scale == "smoke" else Cell(128, 1024, 0.2)
    plain, none = grid_run("default", cell, scale), grid_run("default", cell.without_text, scale)
    of_grid = {_NONE: none, _PLAIN: plain, _THESIS: grid_run("thesis", cell, scale)}
    if label in of_grid:
        return of_grid[label]
    variant = VARIANTS[label]
    starts = (
        Start("semi_supervised.start_forward", none),
        Start("semi_supervised.start_backward", none, "backward"),
    )
    run = grid_run(
        variant.of, cell, scale, _name(label), (f"data.validation_seed={_VALIDATION_SEED}", *variant.settings),
        starts if variant.started else (),
    )  # fmt: skip
    return replace(run, cost=variant.cost * (run.cost or 1.0))


def _name(label: str) -> str:
    return "semi-settings-" + "".join(letter for letter in label if letter not in ",'").replace(" ", "-")


def _runs(scale: Scale) -> list[TrainingRun]:
    return [_run(label, scale) for label in _labels(scale)]


def _measure(work: Work) -> Table:
    """Rows of `run`, `trial`, `misclassification` and `loss` (nats per symbol) on validation pairs, and times.

    `seconds` is the whole training with compilation. `steps` times `step_ms` is the time of its steps alone.
    """
    rows: Table = []
    for label in _labels(work.scale):
        for trial, folder in work.measuring(_run(label, work.scale)):
            values = final_values(folder.path)
            rows.append(
                {
                    "run": label, "trial": trial, **greedy_scores(folder, _VALIDATION_SEED, work.scale),
                    "seconds": values["seconds"], "steps": values["step"], "step_ms": values["step_ms"],
                    "processor": folder.environment()["machine"]["processor"],
                }
            )  # fmt: skip
    return rows


def _seconds_of_steps(table: Table, label: str) -> dict[tuple[int, str], float]:
    """Time of the steps by trial and processor. It includes the translators from which a training started."""
    own = {
        (integer_in(row, "trial"), text_in(row, "processor")): seconds_of_steps(row)
        for row in rows_where(table, run=label)
    }
    if label not in VARIANTS or not VARIANTS[label].started:
        return own
    before = _seconds_of_steps(table, _NONE)
    return {key: seconds + before[key] for key, seconds in own.items() if key in before}


def _verdicts(table: Table, scale: Scale) -> list[Verdict]:
    verdicts = []
    for label, against in {
        _PLAIN: _NONE,
        **{label: variant.against for label, variant in _variants(scale).items()},
    }.items():
        values = by_trial(table, "misclassification", run=label)
        others = by_trial(table, "misclassification", run=against)
        differences = paired_differences(values, others)
        if not differences:
            continue
        notes = [" and ".join(f"{fmean(side):.3f}" for side in zip(*paired(values, others).values(), strict=True))]
        if against not in (_NONE, _THESIS) and (
            gains := paired_differences(values, by_trial(table, "misclassification", run=_NONE))
        ):
            interval = interval_text(student_t(gains))
            notes.append(f"minus {_NONE} {fmean(gains):.3f}" + (f" ({interval})" if interval else ""))
        times = paired(_seconds_of_steps(table, label), _seconds_of_steps(table, against))
        if times:
            notes.append(f"its steps take {fmean(own / other for own, other in times.values()):.2f} times as long")
        effect = VARIANTS[label].effect if label in VARIANTS else ""
        quantity = f"validation misclassification, {effect or f'{label} minus {against}'}"
        if label == _NARROW:
            notes.append("with our settings; the thesis compares no beams")
            verdicts.append(
                comparison(
                    quantity, "for bad translations, “a wide beam in the BeamSearch will definitely contribute”",
                    differences, "higher", note="; ".join(notes), source="result-semi-supervised-bytenet.tex:33",
                )
            )  # fmt: skip
            continue
        verdicts.append(mean_of(quantity, differences, note="; ".join(notes)))
    return verdicts


# The thesis's cell with the same pairs, text and weight. It was scored on the thesis's own test set.
_THESIS_CELL = Cell(128, 1024, 0.2)


def _plot(table: Table, path: Path) -> None:
    labels = texts_in(table, "run")
    figure = new_figure(1.6 + 0.42 * len(labels))
    axes = figure.subplots()
    for place, label in enumerate(labels):
        values = list(by_trial(table, "misclassification", run=label).values())
        axes.plot(values, [place] * len(values), "o", color="C0", alpha=0.4, markersize=4, label="a training")
        interval = student_t(values)
        if interval is not None:
            axes.plot(interval, [place, place], "-", color="C0", label="95 % interval")
        axes.plot(fmean(values), place, "|", color="C0", markersize=14, label="mean")
    for cell, style in ((_THESIS_CELL.without_text, ":"), (_THESIS_CELL, "--")):
        printed = fmean(by_trial(thesis_rows(), "misclassification", **cell._asdict()).values())
        words = f"with {cell.unlabelled:,} texts" if cell.unlabelled else "without unlabelled text"
        label = f"thesis, 128 pairs, {words}, on its test set: {printed:.3f}"
        axes.axvline(printed, color="black", linestyle=style, linewidth=1.1, label=label)
    names = [fill(f"{label}, here" if label == _THESIS else label, 40) for label in labels]
    axes.set_yticks(range(len(labels)), names, fontsize=SMALL)
    axes.invert_yaxis()
    axes.set_xlabel("misclassification rate on validation pairs")
    axes.grid(alpha=0.3)
    legend_below(figure, handles_of([axes]))
    save(figure, path)


EXPERIMENTS = (
    Experiment(
        name="semi-supervised-settings",
        is_thesis=False,
        title="Settings of semi-supervised training on Synthetic Digits (128 pairs, 1,024 unlabelled, weight .2)",
        thesis="The thesis names a start from supervised translators as future work. It does not compare these: the "
        "full weight from the first step on, other beams, merging equal hypotheses, the statistics of batch "
        "normalisation in the search, and text of both sides.",
        needs=Needs(
            time={
                "smoke": "2 min",
                "cpu": "hours for 70 trainings, 15 of them shared with fig-3.6.1",
                "thesis": "as cpu, one training at a time",
            }
        ),
        basis=Basis("trained, beyond the thesis", "128 pairs, d = 20"),
        runs=_runs,
        measure=_measure,
        verdicts=_verdicts,
        plot=_plot,
        seeds={"cpu": TRIALS, "thesis": TRIALS},
        labels=lambda scale: [{"run": label} for label in _labels(scale)],
        measured_with=lambda scale: {"validation_seed": _VALIDATION_SEED},
    ),
)
