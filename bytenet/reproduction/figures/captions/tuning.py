"""Beyond the thesis: the settings that were tried on monolingual captions, on the validation set."""

from pathlib import Path

from bytenet.reproduction.engine.experiment import Basis, Experiment, Needs, Row, Scale, Table, Work
from bytenet.reproduction.engine.verdict import Verdict
from bytenet.reproduction.figures.captions.runs import (
    BACK,
    CHOSEN,
    PAIRS,
    TRIES,
    Choice,
    training_of,
    validation_of,
)
from bytenet.reproduction.figures.shared.cells import number_in, rows_where, texts_in
from bytenet.reproduction.figures.shared.plots import new_figure, save
from bytenet.reproduction.figures.shared.tried_settings import best_of_tries


def _tries(scale: Scale) -> list[tuple[str, Choice]]:
    if scale == "smoke":
        return [(PAIRS, CHOSEN[PAIRS]), (BACK, CHOSEN[BACK])]
    return [(way, choice) for way, choices in TRIES.items() for choice in choices]


def _measure(work: Work) -> Table:
    """Rows of `way`, `dropout`, `weight`, `trial`, and the values from `validation_of`."""
    return [
        {**_label(way, choice), "trial": trial, **validation_of(folder)}
        for way, choice in _tries(work.scale)
        for trial, folder in work.finished(training_of(way, work.scale, choice))
    ]


def _label(way: str, choice: Choice) -> Row:
    return {"way": way, "dropout": choice.dropout, "weight": choice.weight}


def _verdicts(table: Table, scale: Scale) -> list[Verdict]:
    tried = [way for way, _ in _tries(scale)]
    return best_of_tries(table, "way", _choice, _words, CHOSEN, tried, "monolingual-captions")


def _choice(row: Row) -> Choice:
    return Choice(number_in(row, "dropout"), number_in(row, "weight"))


def _words(choice: Choice) -> str:
    return f"dropout {choice.dropout:g}" + (f", weight {choice.weight:g}" if choice.weight else "")


def _plot(table: Table, path: Path) -> None:
    ways = texts_in(table, "way")
    figure = new_figure(1 + 0.3 * len(table) + 0.25 * len(ways))
    all_axes = figure.subplots(len(ways), sharex=True, squeeze=False)[:, 0]
    for axes, way in zip(all_axes, ways, strict=True):
        rows = rows_where(table, way=way)
        axes.plot([row["val_chrf"] for row in rows], range(len(rows)), "o", color="C0")
        axes.set_yticks(range(len(rows)), [_words(_choice(row)) for row in rows])
        axes.set(ylim=(len(rows) - 0.5, -0.5))
        axes.set_title(way, fontsize="medium", loc="left")
        axes.grid(alpha=0.3)
    all_axes[-1].set_xlabel("chrF on the validation set, 0 to 100, translated greedily; a training each")
    save(figure, path)


EXPERIMENTS = (
    Experiment(
        name="monolingual-captions-tuning",
        is_thesis=False,
        title="Monolingual text on natural language: the settings that were tried, on the validation set",
        needs=Needs(
            corpus="Multi30k and its task 2",
            time={
                "smoke": "1 min, on Synthetic Digits",
                "cpu": "4 h, two at a time; monolingual-captions uses 5 of the 15 trainings again",
                "thesis": "as cpu, one training at a time",
            },
        ),
        basis=Basis("trained, beyond the thesis", "3,000 pairs, d = 64"),
        runs=lambda scale: [training_of(way, scale, choice) for way, choice in _tries(scale)],
        measure=_measure,
        verdicts=_verdicts,
        plot=_plot,
        one_seed=True,
        labels=lambda scale: [_label(way, choice) for way, choice in _tries(scale)],
    ),
)
