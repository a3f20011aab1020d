"""Beyond the thesis: how far from its own position ByteNet's decoder attends."""

from pathlib import Path

import numpy as np

from bytenet.reproduction.engine.experiment import Basis, Experiment, Needs, Row, Scale, Table, Work
from bytenet.reproduction.engine.verdict import Verdict
from bytenet.reproduction.figures.contest.quality import label, run_of
from bytenet.reproduction.figures.contest.source_attention import MINUTES, SEEDS
from bytenet.reproduction.figures.contest.systems import ATTENTIONS
from bytenet.reproduction.figures.shared.cells import number_in, rows_where, texts_in
from bytenet.reproduction.figures.shared.plots import handles_of, legend_below, new_figure, save

_SYSTEMS = tuple(system for system, kind in ATTENTIONS.items() if kind.settings)
_PAIRS = {"smoke": 4, "cpu": 200, "thesis": 200}
_FARTHEST = 40  # symbols; what lies farther is counted there
_NEAR = 16  # the default radius of a window


def _measure(work: Work) -> Table:
    """Rows of `system` and `trial`, with the attention to the source by its offset.

    The first pairs of the validation set are read with their references. `layer_N` is a text for attention N, from
    below: the mean weight at each offset, from -40 to 40. The offset is the number of the source symbol minus the
    number of the target symbol.
    """
    from bytenet.datasets import Pairs
    from bytenet.decoding import Translator
    from bytenet.evaluation import pairs_of_split
    from bytenet.evaluation.sentence_attention import attention_of_pairs

    rows: Table = []
    for system in _SYSTEMS:
        for trial, folder in work.measuring(run_of(system, work.scale, MINUTES)):
            pairs = pairs_of_split(folder, "validation")
            count = _PAIRS[work.scale]
            translator = Translator.from_run(folder.path)
            weights: dict[int, np.ndarray] = {}
            steps = 0
            for attention in attention_of_pairs(
                translator.model, translator.vocabulary, Pairs(pairs.source[:count], pairs.target[:count])
            ):
                steps += len(attention.target)
                for number, layer in enumerate(attention.layers, start=1):
                    weights[number] = weights.get(number, 0) + by_offset(layer.mean(axis=0))
            row: Row = {"system": system, "trial": trial}
            for number, sums in weights.items():
                row[f"layer_{number}"] = " ".join(f"{weight:.5f}" for weight in sums / steps)
            rows.append(row)
    return rows


def by_offset(weights: np.ndarray) -> np.ndarray:
    """The weights summed by the offset of their source symbol from their target symbol: `(T, S)` → `(81,)`."""
    targets, sources = np.indices(weights.shape)
    places = np.clip(sources - targets, -_FARTHEST, _FARTHEST) + _FARTHEST
    return np.bincount(places.ravel(), weights.ravel(), minlength=2 * _FARTHEST + 1)


def _profiles(row: Row) -> dict[str, np.ndarray]:
    """The mean weight at each offset, by attention."""
    return {key: np.array(row[key].split(), float) for key in row if key.startswith("layer_")}


def _verdicts(table: Table, scale: Scale) -> list[Verdict]:
    verdicts = []
    for system in texts_in(table, "system"):
        for row in rows_where(table, system=system):
            profiles = _profiles(row)
            near = {
                layer: float(weights[_FARTHEST - _NEAR : _FARTHEST + _NEAR + 1].sum())
                for layer, weights in profiles.items()
            }
            notes = []
            for layer, weights in profiles.items():
                mode = int(weights[1:-1].argmax()) + 1 - _FARTHEST
                notes.append(f"{layer.replace('_', ' ')}: {near[layer]:.2f}, most at {mode:+d}")
            verdicts.append(
                Verdict(
                    quantity=f"share of the weight of the last attention layer within {_NEAR} symbols, {system}, trial "
                    f"{number_in(row, 'trial'):.0f}",
                    printed="not tried", measured=near[f"layer_{len(near)}"], note="; ".join(notes),
                )
            )  # fmt: skip
    return verdicts


def _plot(table: Table, path: Path) -> None:
    systems = texts_in(table, "system")
    figure = new_figure(3.4)
    offsets = np.arange(-_FARTHEST, _FARTHEST + 1)
    for axes, system in zip(figure.subplots(1, len(systems), sharey=True, squeeze=False)[0], systems, strict=True):
        for row in rows_where(table, system=system):
            for number, (layer, weights) in enumerate(_profiles(row).items()):
                axes.plot(offsets, weights, color=f"C{number}", label=layer.replace("_", " "), alpha=0.7)
        axes.set(xlabel="source symbol minus target symbol")
        axes.set_title(system, fontsize="medium")
        axes.grid(alpha=0.3)
    figure.axes[0].set_ylabel("mean attention")
    legend_below(figure, handles_of([figure.axes[0]]))
    save(figure, path)


EXPERIMENTS = (
    Experiment(
        name="source-attention-offsets",
        is_thesis=False,
        title="ByteNet with attention to its source: where it looks, from its own position",
        needs=Needs(
            corpus="Multi30k",
            time={"smoke": "1 min, on Synthetic Digits", "cpu": "5 min after source-attention", "thesis": "as cpu"},
        ),
        basis=Basis("trained, beyond the thesis", f"d = 128, steps of {MINUTES} minutes on two cores"),
        runs=lambda scale: [run_of(system, scale, MINUTES) for system in _SYSTEMS],
        measure=_measure,
        verdicts=_verdicts,
        plot=_plot,
        seeds={"cpu": SEEDS, "thesis": SEEDS},
        labels=lambda scale: [label(system) for system in _SYSTEMS],
        measured_with=lambda scale: {"pairs": _PAIRS[scale], "farthest_offset": _FARTHEST},
    ),
)
