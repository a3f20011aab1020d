"""Beyond the thesis: which settings improve the translations of a small corpus, one change at a time.

Two models learn 3,000 pairs of Multi30k: ByteNet with attention (the preset `pairs-2k`), and ConvS2S. Each is also
trained with one change: of a setting, or of the training pairs. All trainings take about the same time, less than half
of that of the preset. So they say little about regularisation in longer trainings. They are compared on the validation
set. The test set is not used.
"""

from functools import partial
from pathlib import Path
from statistics import fmean

from bytenet.reproduction.engine.experiment import Basis, Experiment, Needs, Row, Scale, Table, Work
from bytenet.reproduction.engine.statistics import by_trial
from bytenet.reproduction.engine.verdict import Verdict
from bytenet.reproduction.figures.contest.changes import BYTENET, CONVS2S, PAIRS, ChangedModel
from bytenet.reproduction.figures.contest.gains import gain_verdicts, plot_gains
from bytenet.reproduction.figures.contest.systems import scores_and_speed_of
from bytenet.reproduction.figures.shared.translation_scores import scores_and_gains

_KEY = "change"


def _measure(work: Work, model: ChangedModel) -> Table:
    """Rows of `change`, `trial`, validation scores, gains over the unchanged model of the trial, and more.

    The columns of scores and gains are those of `scores_and_gains`; the others come from `scores_and_speed_of`.
    """
    runs = {name: model.training(name, work.scale) for name in model.names(work.scale)}
    return [
        {_KEY: name, "trial": trial, **scores, **scores_and_speed_of(folder)}
        for name, trial, folder, scores in scores_and_gains(work, runs, model.name, "validation")
    ]


def _verdicts(table: Table, scale: Scale, model: ChangedModel) -> list[Verdict]:
    return gain_verdicts(table, _KEY, model.name, _note)


def _note(rows: Table) -> str:
    """The means of what else is known of trainings with one change."""
    columns = ("length_ratio", "minutes", "best_step", "steps", "val_loss")
    means = {column: fmean(by_trial(rows, column).values()) for column in columns}
    return (
        f"length ratio {means['length_ratio']:.2f}; the best model is that of step {means['best_step']:,.0f} of "
        f"{means['steps']:,.0f}, with a loss of {means['val_loss']:.3f}; {means['minutes']:.0f} min"
    )


def _plot(table: Table, path: Path, model: ChangedModel) -> None:
    plot_gains(table, path, _KEY, model.name)


def _labels(scale: Scale, model: ChangedModel) -> list[Row]:
    return [{_KEY: name} for name in model.names(scale)]


def _experiment(name: str, title: str, model: ChangedModel, hours: str) -> Experiment:
    return Experiment(
        name=name,
        is_thesis=False,
        title=f"What improves {title} on {PAIRS:,} pairs: one change at a time",
        needs=Needs(
            corpus="Multi30k",
            time={
                "smoke": "1 min, on Synthetic Digits",
                "cpu": f"{hours} h for a seed, two trainings at a time",
                "thesis": "as cpu",
            },
        ),
        basis=Basis(
            "trained, beyond the thesis", f"{PAIRS:,} pairs; without a change, d = {model.dim}, {model.steps:,} steps"
        ),
        runs=lambda scale: [model.training(change, scale) for change in model.names(scale)],
        measure=partial(_measure, model=model),
        verdicts=partial(_verdicts, model=model),
        plot=partial(_plot, model=model),
        labels=partial(_labels, model=model),
    )


EXPERIMENTS = (
    _experiment("quality-factors", "ByteNet with attention", BYTENET, "4.5"),
    _experiment("quality-factors-convs2s", "ConvS2S", CONVS2S, "3"),
)
