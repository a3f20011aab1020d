"""Figures 2.2.1, 3.3.2, 3.5.1, 3.5.3 and D.2.2, tables 3.3.2 and 3.3.3: learning NewsTest 2014 by heart."""

from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np

from bytenet.evaluation.evaluate_run import Split
from bytenet.reproduction.engine.experiment import Experiment, Scale, Table, Work
from bytenet.reproduction.engine.judging import statement
from bytenet.reproduction.engine.verdict import Verdict
from bytenet.reproduction.figures.news.memorise_runs import (
    BASIS,
    BASIS_BESIDE_SIMPLIFIED,
    CPU_LENGTHS,
    NEEDS,
    memorise_run,
)
from bytenet.reproduction.figures.news.memorise_verdicts import (
    BLEU,
    BYTENET_FIGURE,
    CROSS_ENTROPY,
    against_bytenet,
    learns_by_heart,
    rising_test_loss,
    selu_against_bytenet,
    without_normalization,
)
from bytenet.reproduction.figures.shared.corpus_files import pairs_of_lengths
from bytenet.reproduction.figures.shared.curve_plots import Panel, plot_curves
from bytenet.reproduction.figures.shared.curves import collect_curves
from bytenet.reproduction.figures.shared.thesis_curves import MEMORISED
from bytenet.reproduction.jobs.training_run import TrainingRun


def _figure(
    name: str,
    variants: tuple[str, ...],
    title: str,
    thesis: str,
    measures: tuple[str, ...],
    alpha: float,
    verdicts: Callable[..., list[Verdict]],
) -> Experiment:
    beside = (BYTENET_FIGURE,) if len(variants) > 1 else ()

    def runs(scale: Scale) -> list[TrainingRun]:
        return [memorise_run(variant, scale) for variant in variants]

    def measure(work: Work) -> Table:
        return collect_curves(work, dict(zip(variants, runs(work.scale), strict=True)), measures)

    def plot(table: Table, path: Path, others: Mapping[str, Table] | None = None) -> None:
        panels = [Panel(measure, (0, 100) if measure == BLEU else None) for measure in measures]
        colour_by = "run" if len(variants) > 1 else "split"
        published = [value for variant in variants for value in MEMORISED[variant]]
        plot_curves(table, path, panels, alpha, colour_by, published=published)

    return Experiment(
        name=name,
        title=title,
        thesis=thesis,
        needs=NEEDS,
        basis=BASIS_BESIDE_SIMPLIFIED if "simplified" in variants else BASIS,
        runs=runs,
        measure=measure,
        verdicts=verdicts,
        plot=plot,
        beside=beside,
        judges_settings="simplified" in variants,
    )


def _samples(name: str, split: Split, title: str, thesis: str) -> Experiment:
    def runs(scale: Scale) -> list[TrainingRun]:
        return [memorise_run("bytenet", scale)]

    def measure(work: Work) -> Table:
        from bytenet.evaluation import evaluate_run, pairs_of_split, thesis_bleu

        (run,) = runs(work.scale)
        folder = work.folders(run)[0]
        work.say(f"measuring {run.name}, seed {work.seeds[0]}")
        pairs = pairs_of_split(folder, split)
        if work.scale == "cpu":
            pairs = pairs_of_lengths(pairs, *CPU_LENGTHS)
        result = evaluate_run(folder, pairs, name, beam_size=10, length_penalty=0.0, bootstrap=0)
        ratio = sum(map(len, result.hypotheses)) / sum(map(len, result.references))
        shown = sorted(set(np.linspace(0, len(pairs) - 1, 6).round().astype(int).tolist()))
        return [
            {
                "source": result.sources[index], "target": result.references[index],
                "translation": result.hypotheses[index],
                "BLEU": thesis_bleu([result.hypotheses[index]], [result.references[index]], "en", bootstrap=0).value,
                "length_ratio_of_all": ratio,
            }
            for index in shown
        ]  # fmt: skip

    def verdicts(table: Table, scale: Scale) -> list[Verdict]:
        right = sum(str(row["target"]) == str(row["translation"]) for row in table)
        if split == "train":
            return [
                statement(
                    f"training samples translated exactly, of the {len(table)} printed", "primarily memorizing",
                    right >= len(table) / 2, right, source="result-bytenet.tex:104",
                )
            ]  # fmt: skip
        why = "a value of one training" if scale == "thesis" else "a value of one smaller training"
        return [
            Verdict(
                quantity="highest BLEU of the test samples", printed="0.00",
                measured=max(float(row["BLEU"]) for row in table), source="result-bytenet.tex:62", note=why,
            ),
            Verdict(
                quantity="characters of all test translations, divided by those of the references",
                printed="in general a bit longer than the target sequences",
                measured=float(table[0]["length_ratio_of_all"]), source="result-bytenet.tex:108", note=why,
            ),
        ]  # fmt: skip

    return Experiment(
        name=name, title=title, thesis=thesis, needs=NEEDS, basis=BASIS, runs=runs, measure=measure,
        verdicts=verdicts, one_seed=True,
    )  # fmt: skip


EXPERIMENTS = (
    _figure(
        "fig-2.2.1", ("bytenet",), "Overfitting: cross entropy of ByteNet that learns NewsTest 2014 by heart",
        "By the figure, the cross entropy on the training pairs goes to zero. On the test pairs it falls to about 120 "
        "nats per sentence and then rises to about 600.",
        (CROSS_ENTROPY,), 0.3, rising_test_loss,
    ),
    _figure(
        "fig-3.3.2", ("bytenet",), "ByteNet learns NewsTest 2014 by heart: BLEU and cross entropy",
        "After 120 epochs the BLEU score on training pairs is about 100, with dips at 80 and 100 epochs; on test pairs "
        "it stays 0. BLEU rises only when the cross entropy is near zero.",
        (BLEU, CROSS_ENTROPY), 0.3, learns_by_heart,
    ),
    _samples(
        "tab-3.3.2", "validation", "Test samples of ByteNet that learned NewsTest 2014 by heart, beam 10",
        "Two sentences of NewsTest 2015 with a BLEU of 0. The thesis says that the model understands some grammar.",
    ),
    _samples(
        "tab-3.3.3", "train", "Training samples of the same ByteNet, beam 10",
        "Two sentences of NewsTest 2014. One equals its target (BLEU 100). The other has a letter wrong, \"lerge\" "
        "(87.23).",
    ),
    _figure(
        "fig-3.5.1", ("bytenet", "no_norm"), "ByteNet without normalisation learns NewsTest 2014 by heart",
        "It never completely memorizes the training dataset. By the figure, its BLEU on training pairs is 77 to 82 "
        "after 301 epochs and its cross entropy about 1.5; ByteNet's BLEU is 100 after 121 epochs.",
        (BLEU, CROSS_ENTROPY), 0.1, without_normalization,
    ),
    _figure(
        "fig-3.5.3", ("bytenet", "selu"), "SELU ByteNet learns NewsTest 2014 by heart",
        "By the figure, its cross entropy starts at 75,000 to 89,000 nats per sentence. Its BLEU rises after 75 epochs "
        "and is 100 by epoch 130, after ByteNet's. (Here the initial weights are eq. 3.5.2 with the fan of the code.)",
        (BLEU, CROSS_ENTROPY), 0.3,
        selu_against_bytenet("after 75 epochs it improves very fast", "higher", "result-selu-bytenet.tex:55"),
    ),
    _figure(
        "fig-d.2.2", ("bytenet", "simplified"), "Simplified ByteNet learns NewsTest 2014 by heart",
        "By the figure, Simplified ByteNet gets to a BLEU of about 100 in 60 epochs, sooner than ByteNet.",
        (BLEU, CROSS_ENTROPY), 0.3,
        against_bytenet("simplified", "took fewer iterations", "lower", "result-simple-bytenet.tex:28"),
    ),
)  # fmt: skip
