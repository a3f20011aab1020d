"""Beyond the thesis: which settings improve the translations of a small corpus, one change at a time.

ByteNet with attention learns 3,000 pairs of Multi30k with the preset `pairs-2k`, and with one change: of a setting, or
of the training pairs. All trainings take about the same time, less than half of the preset's own. So they say little
about regularisation in longer trainings. They are compared on the validation set. The test set is not used.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

from bytenet.config import load_config
from bytenet.datasets import read_corpus
from bytenet.datasets.selection import select_training_pairs
from bytenet.reproduction.engine.experiment import Basis, Experiment, Needs, Row, Scale, Table, Work
from bytenet.reproduction.engine.judging import mean_of
from bytenet.reproduction.engine.statistics import by_trial
from bytenet.reproduction.engine.verdict import Verdict
from bytenet.reproduction.figures.contest.systems import SYSTEMS, VALIDATION, validation_of
from bytenet.reproduction.figures.shared.cells import number_in, rows_where, texts_in
from bytenet.reproduction.figures.shared.corpus_files import as_split
from bytenet.reproduction.figures.shared.plots import handles_of, legend_below, new_figure, save
from bytenet.reproduction.figures.shared.training_length import SMOKE_CORPUS, length_settings
from bytenet.reproduction.figures.shared.translation_scores import (
    SCORES,
    bootstrap_note,
    draw_trainings,
    scores_and_gains,
)
from bytenet.reproduction.jobs.training_run import TrainingRun


@dataclass(frozen=True)
class Change:
    """A change to the preset.

    Attributes:
        settings: that make it.
        time_of_step: time of a training step, divided by the time of a step of the preset. Medians of 7 turns each,
            side by side with the preset on one core of an Intel Xeon, beside other trainings. A change that does not
            change the work of a step has 1.
        steps_an_epoch: number of steps in an epoch, divided by the number for the preset.
        prepare: writes the files that the change needs, see `TrainingRun`.
    """

    settings: tuple[str, ...] = ()
    time_of_step: float = 1.0
    steps_an_epoch: float = 1.0
    prepare: Callable[[Path], list[str]] | None = None


_PAIRS = 3_000
_CORPUS = (
    "data.corpus=multi30k",
    "data.source_language=de",
    "data.target_language=en",
    f"data.max_train_pairs={_PAIRS}",
)


def _other_direction(folder: Path) -> list[str]:
    """Write the training pairs of the other direction as synthetic pairs. Returns the settings of the files.

    Training puts a tag in front of the sources of synthetic pairs.
    """
    data = load_config(PRESET, _CORPUS).data
    pairs = select_training_pairs(read_corpus(data).train, data)
    return as_split(folder, "synthetic", pairs.reversed())


PRESET = "pairs-2k"
CHANGES = {
    PRESET: Change(),
    "dropout .2 instead of .35": Change(("model.dropout=0.2",)),
    "dropout .5": Change(("model.dropout=0.5",)),
    "label smoothing .1": Change(("training.label_smoothing=0.1",)),
    "target characters hidden, .1": Change(("model.character_dropout=0.1",)),
    "R-Drop of 5": Change(("training.r_drop=5",), time_of_step=2.19),
    "weight decay .01 (AdamW)": Change(
        ("training.optimizer=adamw", "training.optimizer_arguments={weight_decay: 0.01}"), time_of_step=1.25
    ),
    "no average of the weights": Change(("training.ema_momentum=null",)),
    "learning rate 1e-3 instead of 2e-3": Change(("training.learning_rate=1e-3",)),
    "batches of 2,560 characters instead of 1,280": Change(
        ("data.batch_chars=2560",), time_of_step=2.04, steps_an_epoch=0.5
    ),
    "updates of 4 batches": Change(("training.accumulate_batches=4",)),
    "both directions in one model, with a tag": Change(steps_an_epoch=2.0, prepare=_other_direction),
    "width 64 instead of 96": Change(("model.dim=64",), time_of_step=0.67),
    "width 128": Change(("model.dim=128",), time_of_step=1.6),
    "2 sets of blocks instead of 3": Change(("model.num_sets=2",), time_of_step=0.68),
    "4 sets of blocks": Change(("model.num_sets=4",), time_of_step=1.42),
    "attention to a window of the source": Change(
        ("model.source_attention=window", "model.attention_slope=1.15"), time_of_step=1.16
    ),
    "no attention": Change(("model.source_attention=none",), time_of_step=0.94),
}
_STEPS = 3_255  # of the preset: 15 epochs
_STEPS_AN_EPOCH = 217
_EVALUATIONS = 5  # on the validation set, approximately


def _changes(scale: Scale) -> list[str]:
    return list(CHANGES)[:2] if scale == "smoke" else list(CHANGES)


def training_of(name: str, scale: Scale) -> TrainingRun:
    """The training with a change, a key of `CHANGES`."""
    change = CHANGES[name]
    length = length_settings(
        scale, round(_STEPS / change.time_of_step), round(_STEPS_AN_EPOCH * change.steps_an_epoch), _EVALUATIONS
    )
    smoke = (*SMOKE_CORPUS, *SYSTEMS["ByteNet"].smoke) if scale == "smoke" else ()
    words = "".join(letter for letter in name if letter.isalnum() or letter in " -.").strip().replace(" ", "-")
    return TrainingRun(
        f"factor-{words}",
        PRESET,
        (*_CORPUS, *length, *VALIDATION, *change.settings, *smoke),
        prepare=change.prepare,
        together=words,
        cost=1.0,
    )


def _measure(work: Work) -> Table:
    """Rows of `change`, `trial`, validation scores, gains over the preset of the same trial, and `validation_of`.

    The columns of scores and gains are those of `scores_and_gains`.
    """
    runs = {name: training_of(name, work.scale) for name in _changes(work.scale)}
    return [
        {"change": name, "trial": trial, **scores, **validation_of(folder)}
        for name, trial, folder, scores in scores_and_gains(work, runs, PRESET, "validation")
    ]


def _verdicts(table: Table, scale: Scale) -> list[Verdict]:
    """The scores of the preset, and the gain of each change."""
    verdicts, changed = [], _with_gains(table)
    for name in texts_in(table, "change"):
        rows = rows_where(table, change=name)
        means = {
            column: fmean(by_trial(rows, column).values())
            for column in ("length_ratio", "minutes", "best_step", "steps", "val_loss")
        }
        for key, score in SCORES.items():
            column = key if name == PRESET else f"{key}_gain"
            values = list(by_trial(table if name == PRESET else changed, column, change=name).values())
            if not values:
                continue
            verdicts.append(
                mean_of(
                    f"validation {score}, {name}" if name == PRESET else f"gain of {score}, {name}", values,
                    note=f"{bootstrap_note(rows, column)}; length ratio {means['length_ratio']:.2f}; the best model is "
                    f"that of step {means['best_step']:,.0f} of {means['steps']:,.0f}, with a loss of "
                    f"{means['val_loss']:.3f}; {means['minutes']:.0f} min",
                )
            )  # fmt: skip
    return verdicts


def _with_gains(table: Table) -> Table:
    """The rows of changes whose preset of the same trial is in the table, with the differences of both scores as gains.

    Joined rows have gains, too. Their preset was translated on another machine, so these gains have no bootstrap
    intervals.
    """
    preset = {int(row["trial"]): row for row in rows_where(table, change=PRESET)}
    return [
        row | {f"{key}_gain": number_in(row, key) - number_in(preset[row["trial"]], key) for key in SCORES}
        for row in table
        if row["change"] != PRESET and row["trial"] in preset
    ]


def _plot(table: Table, path: Path) -> None:
    """Draw the gains of each change over the preset, a panel for each score."""
    changed = _with_gains(table)
    names = texts_in(changed, "change")
    figure = new_figure(1.6 + 0.32 * len(names), width=10.0)
    all_axes = figure.subplots(1, 2, sharey=True)
    for axes, (key, score) in zip(all_axes, SCORES.items(), strict=True):
        axes.axvline(0, color="black", linewidth=0.8)
        for place, name in enumerate(names):
            draw_trainings(axes, rows_where(changed, change=name), f"{key}_gain", place)
        axes.set_xlabel(f"gain of {score} on the validation set")
        axes.grid(alpha=0.3)
    all_axes[0].set_yticks(range(len(names)), names)
    all_axes[0].set_ylim(max(1, len(names)) - 0.5, -0.5)
    legend_below(figure, handles_of(all_axes))
    save(figure, path)


def _label(name: str) -> Row:
    return {"change": name}


EXPERIMENTS = (
    Experiment(
        name="quality-factors",
        is_thesis=False,
        title=f"What improves ByteNet with attention on {_PAIRS:,} pairs: one change of the preset at a time",
        needs=Needs(
            corpus="Multi30k",
            time={
                "smoke": "1 min, on Synthetic Digits",
                "cpu": "4.5 h for a seed, two trainings at a time",
                "thesis": "as cpu",
            },
        ),
        basis=Basis("trained, beyond the thesis", f"{_PAIRS:,} pairs, d = 96, {_STEPS:,} steps"),
        runs=lambda scale: [training_of(name, scale) for name in _changes(scale)],
        measure=_measure,
        verdicts=_verdicts,
        plot=_plot,
        labels=lambda scale: [_label(name) for name in _changes(scale)],
    ),
)
