"""Beyond the thesis: does monolingual text help on natural language, and more than back-translation does?

German to English from 3,000 pairs of Multi30k, with captions of other images in either language. Settings are
chosen on the validation set (`monolingual-captions-tuning`), with as many tries for each of the ways in `TRIES`; the
others take over what was chosen for the one most like them. The test set is looked at once.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

from bytenet.csv_log import read_csv_log
from bytenet.experiments.experiment import Experiment, Needs, Row, Scale, Table, Work
from bytenet.experiments.training_runs import Start, TrainingRun
from bytenet.experiments.verdict import Verdict, student_t
from bytenet.run_folder import RunFolder

_SELECTED_BY = "val_chrf"
_VALIDATED = ("val_loss", "val_bleu", "val_chrf")
_SEEDS = 3
_PRESET = "multi30k-semi"


@dataclass(frozen=True)
class Way:
    """A way to train.

    Attributes:
        sides: of the monolingual text that is learned from.
        settings: those that make it what it is.
        steps: of training that take as long as those of the others, on one core.
        evaluations: on the validation set.
        started: whether it goes on from the two supervised translators.
    """

    sides: tuple[str, ...] = ()
    settings: tuple[str, ...] = ()
    steps: int = 0
    evaluations: int = 8
    started: bool = True


_SUPERVISED = ("semi_supervised.enabled=false",)
_BACK_TRANSLATION = ("semi_supervised.objective=back_translation", "semi_supervised.beam_size=1")
_BOTH = ("source", "target")

PAIRS, BACKWARD, CONTROL = "pairs alone", "pairs alone, English to German", "pairs alone, trained on as long"
MARGINAL, BACK = "marginal, text of both sides", "back-translation"
# Steps beyond the two supervised trainings: 20 minutes of one core, at .21 s for the pairs of both translators, 1.16 s
# with the marginal of both texts, .33 s with their back-translation, by `bytenet benchmark semi-supervised`. Where only
# the forward one is trained, they follow from the parts of these, not measured by themselves.
WAYS = {
    PAIRS: Way(settings=_SUPERVISED, steps=3200, started=False),
    BACKWARD: Way(settings=(*_SUPERVISED, "data.reversed=true"), steps=3200, started=False),
    CONTROL: Way(settings=("semi_supervised.trained=forward",), steps=11_000),
    "marginal, German text": Way(("source",), steps=1700),
    "marginal, English text": Way(("target",), steps=1700),
    MARGINAL: Way(_BOTH, steps=1000),
    BACK: Way(_BOTH, _BACK_TRANSLATION, steps=3600),
    "back-translation by the supervised translator": Way(
        ("target",), (*_BACK_TRANSLATION, "semi_supervised.trained=forward"), steps=7000
    ),
}


@dataclass(frozen=True)
class Choice:
    """What is tuned.

    Attributes:
        dropout: of both translators.
        weight: of the monolingual text, the thesis's lambda; 0 where there is none.
    """

    dropout: float
    weight: float = 0.0


#: What is tried, the same number for each, on the validation set with seed 1.
TRIES = {
    PAIRS: (Choice(0.1), Choice(0.2), Choice(0.3)),
    CONTROL: (Choice(0.2), Choice(0.3), Choice(0.4)),
    MARGINAL: (Choice(0.2, 1.0), Choice(0.2, 0.3), Choice(0.3, 1.0)),
    BACK: (Choice(0.2, 1.0), Choice(0.2, 0.3), Choice(0.3, 1.0)),
}
#: What the comparison takes; `monolingual-captions-tuning` tells whether it was the best of them.
CHOSEN = {PAIRS: Choice(0.2), CONTROL: Choice(0.4), MARGINAL: Choice(0.2, 0.3), BACK: Choice(0.2, 1.0)}
_TUNED_AS = {
    BACKWARD: PAIRS,
    "marginal, German text": MARGINAL,
    "marginal, English text": MARGINAL,
    "back-translation by the supervised translator": BACK,
}

_VALIDATION = ("evaluation.max_sentences=500",)  # of 1,014
_SCALES: dict[Scale, tuple[str, ...]] = {
    "smoke": (
        "data.corpus=digits", "data.num_train=24", "data.num_validation=8", "data.num_test=8",
        "data.num_monolingual=16", "data.batch_chars=null", "data.batch_size=8", "data.num_buckets=1",
        "semi_supervised.batch_chars=null", "semi_supervised.num_buckets=1", "model.dim=8", "model.num_sets=1",
        "training.jit_compile=false",
    ),
    "cpu": _VALIDATION,
    "thesis": _VALIDATION,
}  # fmt: skip
_SMOKE_STEPS = 4
_STEPS_AN_EPOCH = 206  # of the 3,000 pairs


def training_of(way: str, scale: Scale, choice: Choice | None = None) -> TrainingRun:
    """The training of a way with what was chosen for it, or with another choice."""
    one, choice = WAYS[way], choice or CHOSEN[_TUNED_AS.get(way, way)]
    smoke = scale == "smoke"
    steps = _SMOKE_STEPS if smoke else one.steps
    steps_an_epoch = 3 if smoke else _STEPS_AN_EPOCH
    settings = [
        f"model.dropout={choice.dropout}", f"training.max_steps={steps}",
        f"training.epochs={math.ceil(steps / steps_an_epoch)}",
        f"evaluation.every_epochs={max(1, round(steps / steps_an_epoch / one.evaluations))}",
        *(f"semi_supervised.{side}_weight={choice.weight if side in one.sides else 0.0}" for side in _BOTH),
    ]  # fmt: skip
    starts: tuple[Start, ...] = ()
    if one.started:
        settings += ["training.learning_rate=1e-3", "training.warmup_steps=100"]
        starts = (
            Start("semi_supervised.start_forward", training_of(PAIRS, scale)),
            Start("semi_supervised.start_backward", training_of(BACKWARD, scale)),
        )
    together = f"captions-{way} {choice.dropout:g}".replace(",", "").replace(" ", "-")
    return TrainingRun(
        f"{together}-{choice.weight:g}" if one.sides else together, _PRESET,
        (*settings, *_SCALES[scale], *one.settings), starts=starts, together=together, cost=2.0 if starts else 1.0,
    )  # fmt: skip


def _tries(scale: Scale) -> list[tuple[str, Choice]]:
    if scale == "smoke":
        return [(PAIRS, CHOSEN[PAIRS]), (BACK, CHOSEN[BACK])]
    return [(way, choice) for way, choices in TRIES.items() for choice in choices]


def _ways(scale: Scale) -> list[str]:
    """The ways that are compared."""
    shown = [way for way in WAYS if way != BACKWARD]
    return [PAIRS, CONTROL, MARGINAL, BACK] if scale == "smoke" else shown


def _of_training(folder: RunFolder) -> dict[str, float]:
    """Scores on the validation set, greedily translated, of the model that was kept and (`last_`) in the end; times."""
    metrics = read_csv_log(folder.metrics_path)
    scores = metrics[_SELECTED_BY]
    best = max((index for index, score in enumerate(scores) if not math.isnan(score)), key=scores.__getitem__)
    return {
        **{name: metrics[name][best] for name in _VALIDATED},
        **{f"last_{name}": metrics[name][-1] for name in _VALIDATED},
        "best_step": int(metrics["step"][best]),
        "steps": int(metrics["step"][-1]),
        "minutes": metrics["seconds"][-1] / 60,
    }


# What was tried.


def _measure_tries(work: Work) -> Table:
    """Rows of `way`, `dropout`, `weight`, `trial`, and what `_of_training` tells."""
    rows: Table = []
    for way, choice in _tries(work.scale):
        for trial, folder in work.finished(training_of(way, work.scale, choice)):
            rows.append(_label(way, choice) | {"trial": trial} | _of_training(folder))
    return rows


def _label(way: str, choice: Choice) -> Row:
    return {"way": way, "dropout": choice.dropout, "weight": choice.weight}


def _verdicts_of_tries(table: Table, scale: Scale) -> list[Verdict]:
    found = []
    for way in dict.fromkeys(row["way"] for row in table):
        rows = [row for row in table if row["way"] == way]
        best = max(rows, key=lambda row: row["val_chrf"])
        told = [
            f"dropout {row['dropout']:g}" + (f", weight {row['weight']:g}" if row["weight"] else "")
            + f": chrF {row['val_chrf']:.2f}, BLEU {row['val_bleu']:.2f}, {row['minutes']:.0f} min"
            for row in rows
        ]  # fmt: skip
        missing = [tried for tried, _ in _tries(scale)].count(way) - len(rows)
        if missing:
            told.append(f"{missing} to come")
        elif Choice(best["dropout"], best["weight"]) != CHOSEN[way]:
            told.append(f"monolingual-captions takes another: {_words(CHOSEN[way])}")
        found.append(
            Verdict(
                quantity=f"validation chrF of the best of {len(rows)} settings, {way}", printed="not tried",
                measured=float(best["val_chrf"]), note="; ".join(told),
            )
        )  # fmt: skip
    return found


def _words(choice: Choice) -> str:
    return f"dropout {choice.dropout:g}" + (f", weight {choice.weight:g}" if choice.weight else "")


def _plot_tries(table: Table, path: Path) -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 1 + 0.35 * len(table)), layout="constrained")
    axes = figure.subplots()
    labels = [f"{row['way']}: {_words(Choice(row['dropout'], row['weight']))}" for row in table]
    colours = {way: f"C{number}" for number, way in enumerate(dict.fromkeys(row["way"] for row in table))}
    for place, row in enumerate(table):
        axes.plot(row["val_chrf"], place, "o", color=colours[row["way"]])
    axes.set_yticks(range(len(labels)), labels)
    axes.invert_yaxis()
    axes.set_xlabel("chrF on the validation set, greedy")
    axes.grid(alpha=0.3)
    figure.savefig(path, dpi=100)


# What came of it.

_SCORES = {"bleu": "BLEU", "chrf": "chrF2"}


def _measure(work: Work) -> Table:
    """Rows of `way`, `trial`, test scores with bootstrap intervals, gains over `CONTROL`, and `_of_training`.

    `bleu`, `bleu_low`, `bleu_high` and the same of `chrf`; `length_ratio`; `bleu_gain`, ... are the difference to the
    same trial's `CONTROL`, with the interval of the paired bootstrap; empty where that is not finished.
    """
    from bytenet.evaluation import evaluate_run, pairs_of_split
    from bytenet.evaluation.compare import compare_translations

    rows: Table = []
    of_control: dict[int, Sequence[str]] = {}
    for way in sorted(_ways(work.scale), key=lambda way: way != CONTROL):
        for trial, folder in work.finished(training_of(way, work.scale)):
            work.say(f"monolingual-captions: translating the test set, {way}, trial {trial}")
            pairs = pairs_of_split(folder, "test")
            told = evaluate_run(folder.path, pairs, "test")
            row = {"way": way, "trial": trial}
            scores = {score.name: score for score in told.scores}
            for key, name in _SCORES.items():
                row |= _with_interval(key, scores[name].value, scores[name].interval)
            row["length_ratio"] = scores["length-ratio"].value
            if way == CONTROL:
                of_control[trial] = told.hypotheses
            gains = {}
            if trial in of_control:
                both = {way: told.hypotheses, f"control of {way}": of_control[trial]}
                found = compare_translations(None, pairs.target, both, folder.config.data.target_language)
                gains = {score.name.removesuffix(" difference"): score for score in found.differences}
            for key, name in _SCORES.items():
                gain = gains.get(name)
                row |= _with_interval(f"{key}_gain", gain and gain.value, gain and gain.interval)
            rows.append(row | _of_training(folder))
    order = {way: place for place, way in enumerate(_ways(work.scale))}
    return sorted(rows, key=lambda row: (order[row["way"]], row["trial"]))


def _with_interval(key: str, value: float | None, interval: tuple[float, float] | None) -> dict[str, float | str]:
    low, high = interval or ("", "")
    return {key: "" if value is None else value, f"{key}_low": low, f"{key}_high": high}


def _by_trial(table: Table, way: str, column: str) -> dict[int, float]:
    return {row["trial"]: float(row[column]) for row in table if row["way"] == way and row[column] != ""}


def _verdicts(table: Table, scale: Scale) -> list[Verdict]:
    ways = list(dict.fromkeys(row["way"] for row in table))
    found = []
    for way in ways:
        for key, name in _SCORES.items():
            values = list(_by_trial(table, way, key).values())
            minutes = fmean(_by_trial(table, way, "minutes").values())
            validation = fmean(_by_trial(table, way, f"val_{key}").values())
            length = fmean(_by_trial(table, way, "length_ratio").values())
            found.append(
                Verdict(
                    quantity=f"{name}, {way}", printed="not tried", measured=fmean(values),
                    interval=student_t(values), seeds=len(values),
                    note=f"{_bootstrap(table, way, key)}; validation, greedy: {validation:.2f}; "
                    f"{length:.2f} words for one of the references; {minutes:.0f} min",
                )
            )  # fmt: skip
    for way in ways:
        if way not in (PAIRS, CONTROL):
            found += [*_gains(table, way, CONTROL), *_gains(table, way, PAIRS)]
    for way in ways:
        if way.startswith("marginal"):
            found += _gains(table, way, BACK)
    return found


def _bootstrap(table: Table, way: str, key: str) -> str:
    intervals = [
        f"{row[f'{key}_low']:.2f} to {row[f'{key}_high']:.2f}"
        for row in table
        if row["way"] == way and row[f"{key}_low"] != ""
    ]
    if not intervals:  # of gains, where the translations to compare with were made elsewhere
        return "not bootstrapped over sentences"
    return f"bootstrap over sentences, by trial: {', '.join(intervals)}"


def _gains(table: Table, way: str, against: str) -> list[Verdict]:
    """How much better a way is than another, paired by trial; nothing where none has both.

    Only what took as long without text says whether text helps, and only when all seeds are there.
    """
    found = []
    for key, name in _SCORES.items():
        values, others = _by_trial(table, way, key), _by_trial(table, against, key)
        gains = [value - others[trial] for trial, value in values.items() if trial in others]
        if not gains:
            continue
        interval = student_t(gains)
        outcome, printed, notes = "no claim", "not compared", []
        if against == CONTROL:
            printed = "unlabelled text helps; natural language was not tried"
            if interval is not None and len(gains) >= _SEEDS:
                outcome = "shown" if interval[0] > 0 else "not shown"
                notes += ["it is worse: the whole interval is below 0"] * (interval[1] < 0)
            notes.append(_bootstrap(table, way, f"{key}_gain"))
        elif against == PAIRS:
            notes.append("the pairs alone, not trained further")
        found.append(
            Verdict(
                quantity=f"{name}, {way} minus {against}", printed=printed, measured=fmean(gains), interval=interval,
                seeds=len(gains), outcome=outcome, note="; ".join(notes),
            )
        )  # fmt: skip
    return found


def _plot(table: Table, path: Path) -> None:
    """A panel a score: each seed with its bootstrap interval, the mean over seeds as a line."""
    from matplotlib.figure import Figure

    ways = list(dict.fromkeys(row["way"] for row in table))
    figure = Figure(figsize=(11, 1.2 + 0.45 * len(ways)), layout="constrained")
    for axes, (key, name) in zip(figure.subplots(1, 2, sharey=True), _SCORES.items(), strict=True):
        for place, way in enumerate(ways):
            rows = [row for row in table if row["way"] == way]
            for number, row in enumerate(rows):
                shifted = place + 0.15 * (number - (len(rows) - 1) / 2)
                if row[f"{key}_low"] != "":
                    interval = [row[f"{key}_low"], row[f"{key}_high"]]
                    axes.plot(interval, [shifted, shifted], "-", color=f"C{place}", alpha=0.4)
                axes.plot(row[key], shifted, "o", color=f"C{place}", markersize=4)
            axes.plot(fmean(row[key] for row in rows), place, "|", color="k", markersize=16)
        axes.set_xlabel(f"{name} on the test set")
        axes.grid(alpha=0.3)
    figure.axes[0].set_yticks(range(len(ways)), ways)
    figure.axes[0].invert_yaxis()
    figure.savefig(path, dpi=100)


EXPERIMENTS = (
    Experiment(
        name="monolingual-captions",
        is_thesis=False,
        title="Monolingual text on natural language: 3,000 pairs of Multi30k and captions of other images",
        thesis="Semi-supervised training was shown on Synthetic Digits; for natural language it was too slow. "
        "Back-translation was not compared.",
        needs=Needs(
            corpus="Multi30k and its task 2",
            time={
                "smoke": "2 min, on Synthetic Digits",
                "cpu": "6 h for 3 seeds, two trainings at a time",
                "thesis": "as cpu, one training at a time",
            },
        ),
        runs=lambda scale: [training_of(way, scale) for way in _ways(scale)],
        measure=_measure,
        verdicts=_verdicts,
        plot=_plot,
        seeds={"cpu": _SEEDS, "thesis": _SEEDS},
        labels=lambda scale: [{"way": way} for way in _ways(scale)],
    ),
    Experiment(
        name="monolingual-captions-tuning",
        is_thesis=False,
        title="Monolingual text on natural language: the settings that were tried, on the validation set",
        thesis="Not in the thesis.",
        needs=Needs(
            corpus="Multi30k and its task 2",
            time={
                "smoke": "1 min, on Synthetic Digits",
                "cpu": "3 h, two at a time; monolingual-captions uses 4 of the 12 trainings again",
                "thesis": "as cpu, one training at a time",
            },
        ),
        runs=lambda scale: [training_of(way, scale, choice) for way, choice in _tries(scale)],
        measure=_measure_tries,
        verdicts=_verdicts_of_tries,
        plot=_plot_tries,
        one_seed=True,
        labels=lambda scale: [_label(way, choice) for way, choice in _tries(scale)],
    ),
)
