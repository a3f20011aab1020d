"""Beyond the thesis: the settings of the contest that were tried, on the validation set."""

from pathlib import Path

from bytenet.reproduction.engine.experiment import Needs, Scale, Table
from bytenet.reproduction.figures.contest.systems import (
    ALL_SYSTEMS,
    CHOSEN,
    COMPETITORS,
    TRIES,
    TUNING_MINUTES,
    Choice,
    scores_and_speed_of,
    training_of,
)
from bytenet.reproduction.figures.shared.cells import texts_in
from bytenet.reproduction.figures.shared.plots import new_figure, save
from bytenet.reproduction.figures.shared.tried_settings import Tries, tuning_experiment
from bytenet.reproduction.jobs.training_run import TrainingRun


def _training(system: str, choice: Choice, scale: Scale) -> TrainingRun:
    return training_of(system, ALL_SYSTEMS[system], scale, choice, TUNING_MINUTES[scale])


def _tries_at(scale: Scale) -> list[tuple[str, Choice]]:
    choices = TRIES[:1] if scale == "smoke" else TRIES
    return [(system, choice) for system in COMPETITORS for choice in choices]


def _words(choice: Choice) -> str:
    return f"dropout {choice.dropout:g}, rate {choice.learning_rate:g}"


_TRIES = Tries("system", Choice, _words, _tries_at, _training, scores_and_speed_of, CHOSEN, "family-contest")


def _plot(table: Table, path: Path) -> None:
    systems = texts_in(table, "system")
    figure = new_figure(1.5 + 0.45 * len(systems))
    axes = figure.subplots()
    for number, choice in enumerate(dict.fromkeys(map(_TRIES.choice_of, table))):
        rows = [row for row in table if _TRIES.choice_of(row) == choice]
        places = [systems.index(str(row["system"])) for row in rows]
        axes.plot([row["val_chrf"] for row in rows], places, "osD^"[number % 4], label=_words(choice))
    axes.set_yticks(range(len(systems)), systems)
    axes.set(ylim=(len(systems) - 0.5, -0.5), xlabel="chrF on the validation set, 0 to 100, translated greedily")
    axes.grid(alpha=0.3)
    axes.legend(fontsize="small")
    save(figure, path)


EXPERIMENTS = (
    tuning_experiment(
        "family-contest-tuning",
        "The families of models on equal terms: the settings that were tried, on the validation set",
        Needs(
            corpus="Multi30k",
            time={
                "smoke": "1 min, on Synthetic Digits",
                "cpu": "4 h with --jobs 2",
                "thesis": "9 h with --jobs 1",
            },
        ),
        f"d = 128 to 256, steps of {TUNING_MINUTES['cpu']} minutes on two cores",
        _TRIES,
        _plot,
    ),
)
