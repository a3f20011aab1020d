"""The attention baseline of figure 3.6.1: the thesis's network, and the effect of its head and initial weights."""

from functools import partial
from pathlib import Path
from statistics import fmean

from bytenet.evaluation.t_intervals import FEWEST_TO_COMPARE, difference_of_means
from bytenet.reproduction.engine.experiment import Basis, Experiment, Needs, Scale, Table
from bytenet.reproduction.engine.judging import compare, mean_of
from bytenet.reproduction.engine.statistics import RATE
from bytenet.reproduction.engine.verdict import Outcome, Verdict
from bytenet.reproduction.figures.semi_supervised.baseline_runs import (
    ATTENTION,
    EPOCHS,
    FORMS,
    PRINTED,
    SHARED_SETS,
    TEST_SEEDS,
    TRIALS,
    attention_values,
    baseline_cells,
    baseline_labels,
    baseline_runs,
    measure_baseline,
    supervised_bytenet,
)
from bytenet.reproduction.figures.shared.plots import new_figure, save


def _verdicts(table: Table, scale: Scale) -> list[Verdict]:
    cells = [cell for cell in baseline_cells() if attention_values(table, *cell)]
    judges = (_against_the_thesis, _against_bytenet, partial(_against_bytenet, column="misclassification_301"))
    comparisons = [verdict for judge in judges for cell in cells if (verdict := judge(table, *cell))]
    return [*comparisons, *_causes(table), *_bound(table)]


def _against_the_thesis(table: Table, form: str, num_pairs: int) -> Verdict | None:
    if form != "thesis":
        return None
    return compare(
        f"test misclassification, {num_pairs} pairs, {FORMS[form].words}", PRINTED[num_pairs],
        attention_values(table, form, num_pairs), tolerance=0.01, limits=RATE,
        note=f"{EPOCHS['baseline']:,} epochs here; the author's may have had {EPOCHS['other version']:,}",
    )  # fmt: skip


def _against_bytenet(table: Table, form: str, num_pairs: int, column: str = "misclassification") -> Verdict | None:
    """Error of the baseline minus ByteNet without unlabelled text, on the same test set.

    The thesis has no sentence on this, only the points and the dashed line of its figure.
    """
    rates, bytenet = attention_values(table, form, num_pairs, column), supervised_bytenet(num_pairs)
    interval = difference_of_means(rates, bytenet)
    if interval is None:
        return None
    epochs = EPOCHS["bytenet" if column.endswith("301") else "baseline"]
    outcome: Outcome = "shown" if interval[0] > 0 else "not shown"
    if form != "thesis" or min(len(rates), len(bytenet)) < FEWEST_TO_COMPARE:
        outcome = "no claim"
    return Verdict(
        quantity=f"test misclassification, {num_pairs} pairs, attention ({FORMS[form].words}; {epochs:,} epochs) minus "
        f"the author's ByteNet without unlabelled text ({EPOCHS['bytenet']} epochs)",
        printed=f"above 0: {PRINTED[num_pairs]:.3f} against {fmean(bytenet):.3f} in figure 3.6.1"
        if form == "thesis"
        else "not compared",
        measured=fmean(rates) - fmean(bytenet), interval=interval, seeds=min(len(rates), len(bytenet)),
        outcome=outcome,
        source="result-semi-supervised-bytenet.tex:27" if form == "thesis" else "",
        note=f"{fmean(rates):.3f} against {fmean(bytenet):.3f}, the mean of the thesis's {len(bytenet)} trainings of "
        f"{EPOCHS['bytenet']} epochs; Welch's interval; {SHARED_SETS}"
        + ("" if interval[1] >= 0 else "; the baseline is better"),
    )  # fmt: skip


def _causes(table: Table) -> list[Verdict]:
    """Effects of the initial weights and of the test set on the thesis's rates."""
    num_pairs = FORMS["bounded"].sizes[0]
    own, weights = (attention_values(table, form, num_pairs) for form in ("thesis", "bounded"))
    verdicts = []
    if own and weights:
        verdicts.append(
            Verdict(
                quantity=f"test misclassification, {num_pairs} pairs, the thesis's initial weights minus Keras's",
                printed="not compared", measured=fmean(own) - fmean(weights),
                interval=difference_of_means(own, weights), seeds=min(len(own), len(weights)),
                note=f"{fmean(own):.3f} and {fmean(weights):.3f}, both with the thesis's bounded head; from "
                f"{min(own):.3f} to {max(own):.3f} and from {min(weights):.3f} to {max(weights):.3f}; Welch's interval",
            )
        )  # fmt: skip
    for num_pairs in PRINTED:
        both = [
            attention_values(table, "thesis", num_pairs, column)
            for column in ("misclassification_12", "misclassification")
        ]
        if both[0]:
            differences = [other - own for other, own in zip(*both, strict=True)]
            verdicts.append(
                mean_of(
                    f"test misclassification, {num_pairs} pairs, test set of seed {TEST_SEEDS[1]} minus that of seed "
                    f"{TEST_SEEDS[0]}",
                    differences, printed="not compared",
                )
            )  # fmt: skip
    return verdicts


def _bound(table: Table) -> list[Verdict]:
    losses = [attention_values(table, "thesis", num_pairs, "loss") for num_pairs in PRINTED]
    if not all(losses):
        return []
    return [
        Verdict(
            quantity="least test cross entropy with bounded logits, nats per character",
            printed="not said: with logits between -1 and 1 and 28 symbols it cannot go below 1.537",
            measured=min(map(fmean, losses)), seeds=min(map(len, losses)),
        )
    ]  # fmt: skip


def _plot(table: Table, path: Path) -> None:
    figure = new_figure(4.8)
    axes = figure.subplots()
    sizes = list(PRINTED)
    axes.plot(sizes, list(PRINTED.values()), "k--s", label="attention, thesis (one training each)")
    bytenet = [fmean(supervised_bytenet(num_pairs)) for num_pairs in sizes]
    axes.plot(sizes, bytenet, "-^", color="grey", label="ByteNet without unlabelled text, thesis (mean of 15)")
    for number, (name, form) in enumerate(FORMS.items()):
        cells = {num_pairs: own for num_pairs in form.sizes if (own := attention_values(table, name, num_pairs))}
        label = f"attention here, {form.words} (trainings and mean)"
        axes.plot(list(cells), [fmean(own) for own in cells.values()], "-", marker="_", color=f"C{number}", label=label)
        for num_pairs, own in cells.items():
            place = num_pairs * 2 ** (0.06 * (number - 1))
            axes.plot([place] * len(own), own, "o", color=f"C{number}", alpha=0.5, markersize=4)
    axes.set_xscale("log", base=2)
    axes.set_xticks(sizes, list(map(str, sizes)))
    axes.minorticks_off()
    axes.set(xlabel="labelled pairs", ylabel="misclassification rate, test set of seed 2", ylim=(0, 1))
    axes.grid(alpha=0.3)
    axes.legend(fontsize="small")
    save(figure, path)


EXPERIMENTS = (
    Experiment(
        name=ATTENTION,
        title="Attention baseline on Synthetic Digits (the line in figure 3.6.1)",
        thesis="A recurrent model with attention. In figure 3.6.1 and the author's data, its share of wrong symbols is "
        ".555, .510 and .332 with 64, 128 and 256 pairs (one training each). ByteNet's is lower. The text gives only "
        "the .51.",
        needs=Needs(
            time={
                "smoke": "2 min",
                "cpu": "1.5 h for 10 trainings of 7 cells; the thesis's own size",
                "thesis": "as cpu, one training at a time",
            }
        ),
        basis=Basis("trained, same size", "64 to 256 pairs, d = 20"),
        runs=baseline_runs,
        measure=measure_baseline,
        verdicts=_verdicts,
        plot=_plot,
        seeds={"cpu": TRIALS, "thesis": TRIALS},
        labels=baseline_labels,
        measured_with=lambda scale: {"second_test_seed": TEST_SEEDS[1]},  # the first one is a setting
    ),
)
