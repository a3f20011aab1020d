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
from bytenet.reproduction.figures.shared.cells import number_in, texts_in
from bytenet.reproduction.figures.shared.plots import new_figure, save


def _tries(scale: Scale) -> list[tuple[str, Choice]]:
    if scale == "smoke":
        return [(PAIRS, CHOSEN[PAIRS]), (BACK, CHOSEN[BACK])]
    return [(way, choice) for way, choices in TRIES.items() for choice in choices]


def _measure_tries(work: Work) -> Table:
    """Rows of `way`, `dropout`, `weight`, `trial`, and the values from `validation_of`."""
    rows: Table = []
    for way, choice in _tries(work.scale):
        for trial, folder in work.finished(training_of(way, work.scale, choice)):
            rows.append({**_label(way, choice), "trial": trial, **validation_of(folder)})
    return rows


def _label(way: str, choice: Choice) -> Row:
    return {"way": way, "dropout": choice.dropout, "weight": choice.weight}


def _verdicts_of_tries(table: Table, scale: Scale) -> list[Verdict]:
    verdicts = []
    for way in texts_in(table, "way"):
        rows = [row for row in table if row["way"] == way]
        best = max(rows, key=lambda row: number_in(row, "val_chrf"))
        notes = [
            f"{_words(_choice(row))}: chrF {row['val_chrf']:.2f}, BLEU {row['val_bleu']:.2f}, {row['minutes']:.0f} min"
            + ("" if row["best_step"] else ", what it started from was kept")
            for row in rows
        ]  # fmt: skip
        missing = [tried for tried, _ in _tries(scale)].count(way) - len(rows)
        if missing:
            notes.append(f"{missing} to come")
        elif _choice(best) != CHOSEN[way]:
            notes.append(f"monolingual-captions takes another: {_words(CHOSEN[way])}")
        verdicts.append(
            Verdict(
                quantity=f"validation chrF of the best of {len(rows)} settings, {way}", printed="not tried",
                measured=float(best["val_chrf"]), note="; ".join(notes),
            )
        )  # fmt: skip
    return verdicts


def _choice(row: Row) -> Choice:
    return Choice(number_in(row, "dropout"), number_in(row, "weight"))


def _words(choice: Choice) -> str:
    return f"dropout {choice.dropout:g}" + (f", weight {choice.weight:g}" if choice.weight else "")


def _plot_tries(table: Table, path: Path) -> None:
    ways = texts_in(table, "way")
    figure = new_figure(1 + 0.3 * len(table) + 0.25 * len(ways))
    all_axes = figure.subplots(len(ways), sharex=True, squeeze=False)[:, 0]
    for axes, way in zip(all_axes, ways, strict=True):
        rows = [row for row in table if row["way"] == way]
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
        thesis="Not in the thesis.",
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
        measure=_measure_tries,
        verdicts=_verdicts_of_tries,
        plot=_plot_tries,
        one_seed=True,
        labels=lambda scale: [_label(way, choice) for way, choice in _tries(scale)],
    ),
)
