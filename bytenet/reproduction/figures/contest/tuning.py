"""Beyond the thesis: the settings of the contest that were tried, on the validation set."""

from pathlib import Path

from bytenet.reproduction.engine.experiment import Basis, Experiment, Needs, Row, Scale, Table, Work
from bytenet.reproduction.engine.verdict import Verdict
from bytenet.reproduction.figures.contest.systems import (
    CHOSEN,
    COMPETITORS,
    TRIES,
    TUNING_MINUTES,
    Choice,
    training_of,
    validation_of,
)
from bytenet.reproduction.figures.shared.cells import number_in, texts_in
from bytenet.reproduction.figures.shared.plots import new_figure, save
from bytenet.reproduction.figures.shared.tried_settings import best_of_tries
from bytenet.reproduction.jobs.training_run import TrainingRun


def _training(system: str, choice: Choice, scale: Scale) -> TrainingRun:
    return training_of(system, scale, choice, TUNING_MINUTES[scale])


def _tries(scale: Scale) -> list[tuple[str, Choice]]:
    choices = TRIES[:1] if scale == "smoke" else TRIES
    return [(system, choice) for system in COMPETITORS for choice in choices]


def _label(system: str, choice: Choice) -> Row:
    return {"system": system, "dropout": choice.dropout, "learning_rate": choice.learning_rate}


def _measure(work: Work) -> Table:
    """Rows of `system`, `dropout`, `learning_rate`, `trial`, and the values from `validation_of`."""
    return [
        {**_label(system, choice), "trial": trial, **validation_of(folder)}
        for system, choice in _tries(work.scale)
        for trial, folder in work.finished(_training(system, choice, work.scale))
    ]


def _choice(row: Row) -> Choice:
    return Choice(number_in(row, "dropout"), number_in(row, "learning_rate"))


def _words(choice: Choice) -> str:
    return f"dropout {choice.dropout:g}, rate {choice.learning_rate:g}"


def _verdicts(table: Table, scale: Scale) -> list[Verdict]:
    tried = [system for system, _ in _tries(scale)]
    return best_of_tries(table, "system", _choice, _words, CHOSEN, tried, "family-contest")


def _plot(table: Table, path: Path) -> None:
    systems = texts_in(table, "system")
    figure = new_figure(1.5 + 0.45 * len(systems))
    axes = figure.subplots()
    for number, choice in enumerate(dict.fromkeys(map(_choice, table))):
        rows = [row for row in table if _choice(row) == choice]
        places = [systems.index(str(row["system"])) for row in rows]
        axes.plot([row["val_chrf"] for row in rows], places, "osD^"[number % 4], label=_words(choice))
    axes.set_yticks(range(len(systems)), systems)
    axes.set(ylim=(len(systems) - 0.5, -0.5), xlabel="chrF on the validation set, 0 to 100, translated greedily")
    axes.grid(alpha=0.3)
    axes.legend(fontsize="small")
    save(figure, path)


EXPERIMENTS = (
    Experiment(
        name="family-contest-tuning",
        is_thesis=False,
        title="The families of models on equal terms: the settings that were tried, on the validation set",
        needs=Needs(
            corpus="Multi30k",
            time={
                "smoke": "1 min, on Synthetic Digits",
                "cpu": "4 h with --jobs 2",
                "thesis": "9 h with --jobs 1",
            },
        ),
        basis=Basis(
            "trained, beyond the thesis", f"d = 128 to 256, steps of {TUNING_MINUTES['cpu']} minutes on two cores"
        ),
        runs=lambda scale: [_training(system, choice, scale) for system, choice in _tries(scale)],
        measure=_measure,
        verdicts=_verdicts,
        plot=_plot,
        one_seed=True,
        labels=lambda scale: [_label(system, choice) for system, choice in _tries(scale)],
    ),
)
