"""Beyond the thesis: how well the families translate after the same time of training.

ByteNet, ConvS2S, the Transformer and three recurrent translators learn Multi30k, German to English, in characters. Each
trains for the same time on two cores, with settings chosen on the validation set. The test set is used once.
"""

from pathlib import Path
from statistics import fmean

from bytenet.csv_log import read_csv_log
from bytenet.reproduction.engine.experiment import Basis, Experiment, Needs, Row, Scale, Table, Work
from bytenet.reproduction.engine.statistics import by_trial, student_t
from bytenet.reproduction.engine.verdict import Verdict
from bytenet.reproduction.figures.contest.systems import CHOSEN, MINUTES, SYSTEMS, training_of, validation_of
from bytenet.reproduction.figures.shared.cells import number_in, text_in, texts_in
from bytenet.reproduction.figures.shared.plots import handles_of, legend_below, new_figure, save
from bytenet.reproduction.jobs.training_run import TrainingRun

_SCORES = {"bleu": "BLEU", "chrf": "chrF2"}
_BEAM_SIZE = 5


def _run(system: str, scale: Scale) -> TrainingRun:
    return training_of(system, scale, CHOSEN[system], MINUTES)


def _measure(work: Work) -> Table:
    """Rows of `system`, `trial`, `kind` and `minutes`.

    Of the kind "epoch": `val_bleu` and `val_chrf` after so many minutes, translated greedily. Of the kind "test": test
    scores with bootstrap intervals, the speeds of training and translation, and the values from `validation_of`.
    """
    from bytenet.evaluation import evaluate_run, pairs_of_split

    rows: Table = []
    for system in SYSTEMS:
        for trial, folder in work.finished(_run(system, work.scale)):
            work.say(f"family-contest: translating the test set, {system}, trial {trial}")
            result = evaluate_run(folder.path, pairs_of_split(folder, "test"), "test", beam_size=_BEAM_SIZE)
            scores = {score.name: score for score in result.scores}
            row: Row = {"system": system, "trial": trial, "kind": "test", **validation_of(folder)}
            for key, name in _SCORES.items():
                low, high = scores[name].interval or ("", "")
                row |= {key: scores[name].value, f"{key}_low": low, f"{key}_high": high}
            written = sum(map(len, result.hypotheses))
            row |= {"length_ratio": scores["length-ratio"].value, "written_a_second": written / result.seconds}
            rows.append(row)
            metrics = read_csv_log(folder.metrics_path)
            rows += [
                {**dict.fromkeys(row, ""), "system": system, "trial": trial, "kind": "epoch", "minutes": seconds / 60,
                 "val_bleu": bleu, "val_chrf": chrf}
                for seconds, bleu, chrf in zip(
                    metrics["seconds"], metrics["val_bleu"], metrics["val_chrf"], strict=True
                )
                if bleu == bleu  # epochs without an evaluation
            ]  # fmt: skip
    return rows


def _tests(table: Table) -> Table:
    return [row for row in table if row["kind"] == "test"]


def _verdicts(table: Table, scale: Scale) -> list[Verdict]:
    tests = _tests(table)
    verdicts = []
    for system in texts_in(tests, "system"):
        rows = [row for row in tests if row["system"] == system]
        mean = {key: fmean(number_in(row, key) for row in rows) for key in _MEANS}
        for key, name in _SCORES.items():
            values = list(by_trial(tests, key, system=system).values())
            intervals = [f"{row[f'{key}_low']:.2f} to {row[f'{key}_high']:.2f}" for row in rows]
            verdicts.append(
                Verdict(
                    quantity=f"{name}, {system}", printed="not tried", measured=fmean(values),
                    interval=student_t(values), seeds=len(values),
                    note=f"bootstrap over sentences, by trial: {', '.join(intervals)}; validation, greedy: "
                    f"{mean[f'val_{key}']:.2f}; {mean['minutes']:.0f} min; {mean['characters_a_second']:,.0f} target "
                    f"characters/s in training, {mean['written_a_second']:,.0f} written/s with a beam of {_BEAM_SIZE}; "
                    f"{mean['length_ratio']:.2f} words for one of the references",
                )
            )  # fmt: skip
    return verdicts


_MEANS = (
    "val_bleu", "val_chrf", "minutes", "characters_a_second", "written_a_second", "length_ratio",
)  # fmt: skip


def _plot(table: Table, path: Path) -> None:
    """Draw validation chrF against time, and test BLEU with intervals."""
    systems = texts_in(_tests(table), "system")
    figure = new_figure(4.2)
    left, right = figure.subplots(1, 2)
    for place, system in enumerate(systems):
        colour = f"C{place}"
        epochs = [row for row in table if row["system"] == system and row["kind"] == "epoch"]
        for trial in dict.fromkeys(row["trial"] for row in epochs):
            points = [row for row in epochs if row["trial"] == trial]
            left.plot(
                [row["minutes"] for row in points], [row["val_chrf"] for row in points], ".-", color=colour,
                label=system, alpha=0.8,
            )  # fmt: skip
        for row in (row for row in _tests(table) if row["system"] == system):
            if row["bleu_low"] != "":
                right.plot([row["bleu_low"], row["bleu_high"]], [place, place], "-", color=colour, alpha=0.4)
            right.plot(row["bleu"], place, "o", color=colour)
    left.set(xlabel="minutes of training on two cores", ylabel="chrF on the validation set, greedy")
    right.set(xlabel="BLEU on the test set, with 95 % intervals over sentences", ylim=(len(systems) - 0.5, -0.5))
    right.set_yticks(range(len(systems)), systems)
    for axes in (left, right):
        axes.grid(alpha=0.3)
    legend_below(figure, handles_of([left]))
    save(figure, path)


def _label(system: str) -> Row:
    return {"system": system}


EXPERIMENTS = (
    Experiment(
        name="family-contest",
        is_thesis=False,
        title=f"The families of models on equal terms: Multi30k in characters, {MINUTES} minutes of two cores each",
        thesis="Not in the thesis. It compares ByteNet only with one recurrent model, on Synthetic Digits.",
        needs=Needs(
            corpus="Multi30k",
            time={"smoke": "2 min, on Synthetic Digits", "cpu": "13 h for a seed with --jobs 1", "thesis": "as cpu"},
        ),
        basis=Basis("trained, beyond the thesis", f"d = 128 to 256, {MINUTES} minutes of two cores"),
        runs=lambda scale: [_run(system, scale) for system in SYSTEMS],
        measure=_measure,
        verdicts=_verdicts,
        plot=_plot,
    ),
)
