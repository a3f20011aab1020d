"""Beyond the thesis: the settings that were tried on monolingual captions, on the validation set."""

from pathlib import Path

from bytenet.reproduction.engine.experiment import Needs, Scale, Table
from bytenet.reproduction.figures.captions.runs import (
    BACK,
    CHOSEN,
    PAIRS,
    TRIES,
    Choice,
    kept_and_last_scores_of,
    training_of,
)
from bytenet.reproduction.figures.shared.cells import rows_where, texts_in
from bytenet.reproduction.figures.shared.plots import new_figure, save
from bytenet.reproduction.figures.shared.tried_settings import Tries, tuning_experiment
from bytenet.reproduction.jobs.training_run import TrainingRun


def _training(way: str, choice: Choice, scale: Scale) -> TrainingRun:
    return training_of(way, scale, choice)


def _tries_at(scale: Scale) -> list[tuple[str, Choice]]:
    if scale == "smoke":
        return [(PAIRS, CHOSEN[PAIRS]), (BACK, CHOSEN[BACK])]
    return [(way, choice) for way, choices in TRIES.items() for choice in choices]


def _words(choice: Choice) -> str:
    return f"dropout {choice.dropout:g}" + (f", weight {choice.weight:g}" if choice.weight else "")


_TRIES = Tries("way", Choice, _words, _tries_at, _training, kept_and_last_scores_of, CHOSEN, "monolingual-captions")


def _plot(table: Table, path: Path) -> None:
    ways = texts_in(table, "way")
    figure = new_figure(1 + 0.3 * len(table) + 0.25 * len(ways))
    all_axes = figure.subplots(len(ways), sharex=True, squeeze=False)[:, 0]
    for axes, way in zip(all_axes, ways, strict=True):
        rows = rows_where(table, way=way)
        axes.plot([row["val_chrf"] for row in rows], range(len(rows)), "o", color="C0")
        axes.set_yticks(range(len(rows)), [_words(_TRIES.choice_of(row)) for row in rows])
        axes.set(ylim=(len(rows) - 0.5, -0.5))
        axes.set_title(way, fontsize="medium", loc="left")
        axes.grid(alpha=0.3)
    all_axes[-1].set_xlabel("chrF on the validation set, 0 to 100, translated greedily; a training each")
    save(figure, path)


EXPERIMENTS = (
    tuning_experiment(
        "monolingual-captions-tuning",
        "Monolingual text on natural language: the settings that were tried, on the validation set",
        Needs(
            corpus="Multi30k and its task 2",
            time={
                "smoke": "1 min, on Synthetic Digits",
                "cpu": "4 h, two at a time; monolingual-captions uses 5 of the 15 trainings again",
                "thesis": "as cpu, one training at a time",
            },
        ),
        "3,000 pairs, d = 64",
        _TRIES,
        _plot,
    ),
)
