"""Beyond the thesis: the ablations of the ConvS2S paper, on captions in characters.

The paper removes positions and attentions, and varies kernels and depths, on news in words. Here the same changes are
made to the small ConvS2S of the contest. Numbers cannot be compared, but directions can.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

from bytenet.evaluation.t_intervals import FEWEST_TO_COMPARE, difference_of_means, p_of_difference
from bytenet.reproduction.engine.experiment import Basis, Experiment, Needs, Row, Scale, Table, Work
from bytenet.reproduction.engine.judging import mean_of
from bytenet.reproduction.engine.statistics import SCORE, by_trial, holm
from bytenet.reproduction.engine.verdict import Outcome, Verdict
from bytenet.reproduction.figures.contest.systems import (
    CHOSEN,
    CONVS2S_WIDTH,
    MINUTES,
    SYSTEMS,
    convs2s_layers,
    scores_and_speed_of,
    training_of,
)
from bytenet.reproduction.figures.shared.cells import texts_in
from bytenet.reproduction.figures.shared.plots import new_figure, save
from bytenet.reproduction.jobs.training_run import TrainingRun


@dataclass(frozen=True)
class _Ablation:
    """A change to the model.

    Attributes:
        settings: that make it.
        paper: BLEU of the paper's model with this change, and of the model that it is compared with.
    """

    settings: tuple[str, ...]
    paper: tuple[float, float]


FULL = "the whole model"
# The paper's BLEU, newstest2014 German, before the replacement of unknown words (Gehring et al. 2017, tables 4 to 7).
# Its tables have encoders of 5, 9 and 13 layers, and decoders of 3, 5 and 7. The nearest cells to the model here, which
# has 8 and 6, are taken.
_ABLATIONS: Mapping[str, _Ablation] = {
    "no source positions": _Ablation(("model.source_positions=false",), (21.3, 21.7)),
    "no target positions": _Ablation(("model.target_positions=false",), (21.5, 21.7)),
    "no positions": _Ablation(("model.source_positions=false", "model.target_positions=false"), (21.2, 21.7)),
    "attention in layer 1": _Ablation(("model.attention_layers=[1]",), (21.26, 21.63)),
    "attention in layers 1 and 2": _Ablation(("model.attention_layers=[1, 2]",), (21.47, 21.63)),
    "attention in the last layer": _Ablation(("model.attention_layers=[6]",), (20.24, 21.63)),
    "encoder kernel 3": _Ablation(convs2s_layers("encoder", 8, 3), (21.17, 21.02)),
    "encoder kernel 7": _Ablation(convs2s_layers("encoder", 8, 7), (21.30, 21.02)),
    "encoder of 4 layers": _Ablation(convs2s_layers("encoder", 4, 5), (20.80, 21.02)),
    "decoder kernel 3": _Ablation(convs2s_layers("decoder", 6, 3), (21.71, 21.63)),
    "decoder of 3 layers": _Ablation(convs2s_layers("decoder", 3, 5), (21.09, 21.63)),
}


def _run(name: str, scale: Scale) -> TrainingRun:
    base = training_of("ConvS2S", SYSTEMS["ConvS2S"], scale, CHOSEN["ConvS2S"], MINUTES[scale])
    if name == FULL:
        return base  # the same training as in the contest
    words, settings = name.replace(" ", "-"), (*base.settings, *_ABLATIONS[name].settings)
    return TrainingRun(f"ablation-{words}", base.preset, settings, together=words, cost=base.cost)


def _names(scale: Scale) -> list[str]:
    return [FULL, "no positions"] if scale == "smoke" else [FULL, *_ABLATIONS]


def _measure(work: Work) -> Table:
    """Rows of `model`, `trial`, and the values from `scores_and_speed_of`. The test set is not used."""
    return [
        {"model": name, "trial": trial, **scores_and_speed_of(folder)}
        for name in _names(work.scale)
        for trial, folder in work.finished(_run(name, work.scale))
    ]


def _verdicts(table: Table, scale: Scale) -> list[Verdict]:
    bleu = {name: list(by_trial(table, "val_bleu", model=name).values()) for name in texts_in(table, "model")}
    full = bleu.get(FULL, [])
    compared = {name: values for name, values in bleu.items() if name != FULL and full}
    p_values = {
        name: p_of_difference(values, full)
        for name, values in compared.items()
        if min(len(values), len(full)) >= FEWEST_TO_COMPARE
    }
    changed = holm({name: p_value for name, p_value in p_values.items() if p_value is not None})
    verdicts = []
    for name, values in bleu.items():
        chrf = fmean(by_trial(table, "val_chrf", model=name).values())
        note = f"validation, greedy; chrF {chrf:.2f}"
        if name not in compared:
            verdicts.append(mean_of(f"BLEU, {name}", values, limits=SCORE, printed="", note=note))
            continue
        ablated, whole = _ABLATIONS[name].paper
        change, interval = fmean(values) - fmean(full), difference_of_means(values, full)
        outcome: Outcome = "no claim"
        if name in changed:
            outcome = "shown" if (change > 0) == (ablated > whole) else "not shown"
        if interval is not None:
            note += (
                "; Welch's interval; shown if the change has the paper's sign and is significant with Holm's "
                f"correction for the changes with {FEWEST_TO_COMPARE} trainings ({len(p_values)})"
            )
        verdicts.append(
            Verdict(
                quantity=f"change of BLEU, {name}", printed=f"{ablated - whole:+.2f} in the paper", measured=change,
                interval=interval, seeds=min(len(values), len(full)), outcome=outcome, note=note,
            )
        )  # fmt: skip
    return verdicts


def _plot(table: Table, path: Path) -> None:
    names = texts_in(table, "model")
    figure = new_figure(1.2 + 0.3 * len(names))
    axes = figure.subplots()
    axes.plot([row["val_bleu"] for row in table], [names.index(str(row["model"])) for row in table], "o", alpha=0.7)
    axes.set_yticks(range(len(names)), names)
    axes.set(ylim=(len(names) - 0.5, -0.5), xlabel="BLEU on the validation set, greedy; a training each")
    axes.grid(alpha=0.3)
    save(figure, path)


def _label(name: str) -> Row:
    return {"model": name}


EXPERIMENTS = (
    Experiment(
        name="convs2s-ablations",
        is_thesis=False,
        title="ConvS2S without positions, with fewer attentions, and with other kernels and depths",
        needs=Needs(
            corpus="Multi30k",
            time={
                "smoke": "1 min, on Synthetic Digits",
                "cpu": "2 h for a seed with --jobs 2",
                "thesis": "24 h for a seed with --jobs 1",
            },
        ),
        basis=Basis(
            "trained, beyond the thesis", f"d = {CONVS2S_WIDTH}, steps of {MINUTES['cpu']} minutes on two cores"
        ),
        runs=lambda scale: [_run(name, scale) for name in _names(scale)],
        measure=_measure,
        verdicts=_verdicts,
        plot=_plot,
        seeds={"cpu": FEWEST_TO_COMPARE, "thesis": FEWEST_TO_COMPARE},
        labels=lambda scale: [_label(name) for name in _names(scale)],
    ),
)
