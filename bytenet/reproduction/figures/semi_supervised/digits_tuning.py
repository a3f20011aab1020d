"""Beyond the thesis: the settings of the digit presets, checked on sequences in no test or training set of the grid."""

from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from statistics import fmean

from bytenet.datasets.corpora.digits import NAMES, digits
from bytenet.datasets.parallel import Pairs
from bytenet.evaluation.t_intervals import student_t
from bytenet.reproduction.engine.experiment import Basis, Experiment, Needs, Row, Scale, Table, Work
from bytenet.reproduction.engine.judging import mean_of
from bytenet.reproduction.engine.number_format import interval_text
from bytenet.reproduction.engine.statistics import RATE, by_trial, paired_differences
from bytenet.reproduction.engine.verdict import Verdict
from bytenet.reproduction.figures.semi_supervised.greedy_scores import greedy_scores_on
from bytenet.reproduction.figures.semi_supervised.grid_runs import LABELLED, TRIALS, UNLABELLED, Cell, grid_run
from bytenet.reproduction.figures.shared.cells import text_in
from bytenet.reproduction.figures.shared.plots import new_figure, save
from bytenet.reproduction.jobs.training_run import TrainingRun

_PRESET = "the preset"
_TEST_SEEDS = ((2, 1024), (11, 128))
"""Seed and size of two test sets: of figure 3.6.1, and of figures 3.3.1, D.2.1 and D.3.1."""


@dataclass(frozen=True)
class _Problem:
    """A problem for which a preset is tuned.

    Attributes:
        preset: name of the preset.
        candidates: settings by label; the preset itself has none.
    """

    preset: str
    candidates: dict[str, tuple[str, ...]]


_DROPOUTS = (0.0, 0.1, 0.2, 0.3)
PROBLEMS = {
    "pairs alone": _Problem("digits", {
        _PRESET: (),
        **{
            f"dropout {dropout}, {schedule} rate": (f"model.dropout={dropout}", f"training.schedule={schedule}")
            for schedule in ("cosine", "constant") for dropout in _DROPOUTS if (schedule, dropout) != ("cosine", 0.2)
        },
    }),
    "with unlabelled text": _Problem("digits-semi", {
        _PRESET: (),
        "rate 3e-3": ("training.learning_rate=3e-3",),
        "dropout 0.2": ("model.dropout=0.2",),
        "rate 3e-3, dropout 0.2": ("training.learning_rate=3e-3", "model.dropout=0.2"),
        "whole weight from the first step": ("semi_supervised.ramp_steps=0",),
        "16 texts per step": ("semi_supervised.batch_size=16",),
    }),
}  # fmt: skip
"""All have 128 labelled pairs, as in figure 3.3.1 and in the middle of the grid."""

_SCALES: dict[Scale, tuple[str, ...]] = {
    "smoke": ("training.epochs=2", "training.jit_compile=false", "model.num_sets=1", "model.dim=8"),
    "cpu": ("evaluation.every_epochs=301",),
    "thesis": ("evaluation.every_epochs=301",),
}


@cache
def unseen_pairs() -> Pairs:
    """The sequences of two or three digits that are in no test set and in no training set of the grid's trials.

    Training sets are the labelled pairs and the unlabelled words of all five trials at their largest.
    """
    used: set[str] = set()
    for seed, size in _TEST_SEEDS:
        used |= set(digits(seed, size).target)
    for trial in range(1, 1 + TRIALS):
        used |= set(digits(10 * trial, max(LABELLED)).target) | set(digits(10 * trial + 1, max(UNLABELLED)).target)
    numerals = [f"{number:0{length}d}" for length in (2, 3) for number in range(10**length)]
    unseen = [numeral for numeral in numerals if numeral not in used]
    return Pairs([" ".join(NAMES[int(digit)] for digit in numeral) for numeral in unseen], unseen)


def _candidates(scale: Scale) -> list[tuple[str, str]]:
    """Problem and label of each candidate."""
    candidates = [(name, label) for name, problem in PROBLEMS.items() for label in problem.candidates]
    return [pair for pair in candidates if pair[1] == _PRESET] if scale == "smoke" else candidates


def _run(name: str, label: str, scale: Scale) -> TrainingRun:
    problem = PROBLEMS[name]
    settings = problem.candidates[label]
    run = f"tuning-{problem.preset}-{label}".replace(" ", "-").replace(",", "")
    if problem.preset == "digits-semi":
        cell = Cell(128, 1024, 0.2)
        # The preset itself is trained in the grid.
        return grid_run("default", cell, scale, "" if label == _PRESET else run, settings)
    return TrainingRun(
        run, problem.preset, (*settings, "evaluation.continuous_every_seconds=null", *_SCALES[scale]),
        by_seed=_settings_of_trial, together=run, cost=128,
    )  # fmt: skip


def _settings_of_trial(trial: int) -> tuple[str, ...]:
    return f"data.train_seed={10 * trial}", f"training.seed={10 * trial}"


def _runs(scale: Scale) -> list[TrainingRun]:
    return [_run(*candidate, scale) for candidate in _candidates(scale)]


def _measure(work: Work) -> Table:
    """Rows of `problem`, `settings`, `trial`, and `misclassification` and `loss` (nats per character), unseen pairs."""
    return [
        {"problem": name, "settings": label, "trial": trial, **greedy_scores_on(folder, unseen_pairs(), "unseen")}
        for name, label in _candidates(work.scale)
        for trial, folder in work.measuring(_run(name, label, work.scale))
    ]


def _verdicts(table: Table, scale: Scale) -> list[Verdict]:
    verdicts = []
    values = partial(by_trial, table, "misclassification")
    for name, label in _candidates(scale):
        own, preset = values(problem=name, settings=label), values(problem=name, settings=_PRESET)
        if not own:
            continue
        notes = [f"{len(unseen_pairs())} sequences that are in no test set and no training set of the grid"]
        if label != _PRESET and (differences := paired_differences(own, preset)):
            interval = interval_text(student_t(differences))
            notes.insert(0, f"minus the preset {fmean(differences):.3f}" + (f" ({interval})" if interval else ""))
        quantity = f"validation misclassification, {name}: {label}"
        verdicts.append(mean_of(quantity, list(own.values()), limits=RATE, note="; ".join(notes)))
    return verdicts


def _plot(table: Table, path: Path) -> None:
    labels = list(dict.fromkeys((text_in(row, "problem"), text_in(row, "settings")) for row in table))
    figure = new_figure(1 + 0.35 * len(labels))
    axes = figure.subplots()
    for place, (name, label) in enumerate(labels):
        own = list(by_trial(table, "misclassification", problem=name, settings=label).values())
        colour = f"C{list(PROBLEMS).index(name)}"
        axes.plot(own, [place] * len(own), "o", color=colour, alpha=0.4, markersize=4)
        axes.plot(fmean(own), place, "|", color=colour, markersize=14)
    axes.set_yticks(range(len(labels)), [f"{name}: {label}" for name, label in labels])
    axes.invert_yaxis()
    axes.set_xlabel("misclassification rate on unseen sequences\n(points: trainings, bar: mean)")
    axes.grid(alpha=0.3)
    save(figure, path)


def _labels(scale: Scale) -> list[Row]:
    return [{"problem": name, "settings": label} for name, label in _candidates(scale)]


EXPERIMENTS = (
    Experiment(
        name="digits-tuning",
        is_thesis=False,
        title="Settings of the digit presets, checked on the 20 sequences in no test or training set of the grid",
        needs=Needs(
            time={
                "smoke": "1 min",
                "cpu": "1 h for 70 trainings, 5 of them shared with fig-3.6.1",
                "thesis": "as cpu, one training at a time",
            }
        ),
        basis=Basis("trained, beyond the thesis", "128 pairs, d = 20, scored on 20 sequences"),
        runs=_runs,
        measure=_measure,
        verdicts=_verdicts,
        plot=_plot,
        seeds={"cpu": TRIALS, "thesis": TRIALS},
        labels=_labels,
    ),
)
