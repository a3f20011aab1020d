"""Figure 3.4.1: the residual blocks of ByteNet and Simplified ByteNet, and how many weights they make."""

import re
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Any

import numpy as np

from bytenet.reproduction.engine.experiment import Basis, Experiment, Needs, Scale, Table, Work
from bytenet.reproduction.engine.verdict import Verdict, compare, statement
from bytenet.reproduction.figures.shared.plots import SMALL, new_figure, save, shown_name

if TYPE_CHECKING:
    from bytenet.layers import ResidualBlock

_DIMS = {"bytenet": 400, "simplified": 200}
_NETWORKS = (  # variant, width, number of ids: on digits and on Europarl
    ("bytenet", 20, 28),
    ("simplified", 20, 28),
    ("bytenet", 400, 300),
    ("simplified", 200, 300),
)


def _measure_blocks(work: Work) -> Table:
    """The maps of a block of each kind, in the order in which they are called, and the weights of whole networks."""
    from bytenet.config.families.bytenet import ByteNetConfig
    from bytenet.models import build_model

    rows: Table = []
    for variant, dim, vocab_size in _NETWORKS:
        model = build_model(ByteNetConfig(variant=variant, settings="thesis", dim=dim), vocab_size)
        for part in ("encoder", "decoder"):
            blocks = getattr(model, part).blocks
            if dim == _DIMS[variant]:
                for place, layer in enumerate(_called_layers(blocks[1]), start=1):
                    rows.append({"model": variant, "dim": dim, "part": f"{part} block", "place": place, **layer})
            rows.append(_total(variant, dim, f"{part}, {len(blocks)} blocks", blocks))
        rows.append(_total(variant, dim, "network", [model]))
    return rows


def _total(variant: str, dim: int, part: str, layers: Sequence) -> dict[str, Any]:
    return {
        "model": variant, "dim": dim, "part": part, "place": "", "layer": "", "kind": "", "width": "", "taps": "",
        "dilation": "", "kernel_weights": sum(map(_kernel_weights, layers)),
        "trained_weights": sum(int(np.prod(weight.shape)) for layer in layers for weight in layer.trainable_weights),
    }  # fmt: skip


def _kernel_weights(layer: Any) -> int:
    """Weights of the kernels alone: what the thesis's formulas count."""
    kernels = [weight for weight in layer.trainable_weights if weight.name == "kernel"]
    return sum(int(np.prod(kernel.shape)) for kernel in kernels)


def _called_layers(block: "ResidualBlock") -> list[dict[str, Any]]:
    """What a block does to an input: its layers in the order of the calls, read from its graph."""
    import tensorflow as tf

    from bytenet.layers import DilatedConvolution

    layers = {layer.name: layer for layer in vars(block).values() if hasattr(layer, "trainable_weights")}
    inputs = tf.TensorSpec((1, 4, block.get_config()["dim"]))
    operations = tf.function(block).get_concrete_function(inputs).graph.get_operations()
    # TensorFlow numbers names that it has given before: "reduce_dim_1".
    scopes = (re.sub(r"_\d+$", "", scope) for operation in operations for scope in operation.name.split("/"))
    rows = []
    for layer in (layers[scope] for scope in dict.fromkeys(scopes) if scope in layers):
        is_map = isinstance(layer, DilatedConvolution)
        kind = "convolution" if is_map else f"{layer.kind} norm, {layer.activation_name}"
        rows.append(
            {
                "layer": layer.name, "kind": kind, "width": layer.trainable_weights[0].shape[-1],
                "taps": layer.kernel_size if is_map else "",
                "dilation": layer.dilation_rate if is_map else "", "kernel_weights": _kernel_weights(layer),
                "trained_weights": sum(int(np.prod(weight.shape)) for weight in layer.trainable_weights),
            }
        )  # fmt: skip
    return rows


def _verdicts(table: Table, scale: Scale) -> list[Verdict]:
    def weights(variant: str, dim: int, part: str, column: str = "kernel_weights") -> int:
        return sum(
            int(row[column])
            for row in table
            if row["model"] == variant and row["dim"] == dim and str(row["part"]).startswith(part)
        )

    def blocks(variant: str, dim: int) -> int:
        return weights(variant, dim, "encoder,") + weights(variant, dim, "decoder,")

    def unmasked(variant: str, dim: int) -> float:
        """As `blocks`, were the decoder's convolutions as wide as the encoder's."""
        rows = [row for row in table if row["model"] == variant and row["layer"] == "conv_dilated"]
        encoder, decoder = sorted(rows, key=lambda row: row["part"], reverse=True)
        more = int(decoder["kernel_weights"]) * (int(encoder["taps"]) / int(decoder["taps"]) - 1)
        return blocks(variant, dim) + _NUM_BLOCKS * more

    def layers(variant: str) -> int:
        return sum(row["model"] == variant and row["part"] == "encoder block" for row in table)

    dim, taps = 400, 5
    ratio = blocks("simplified", 200) / blocks("bytenet", 400)
    unmasked_ratio = unmasked("simplified", 200) / unmasked("bytenet", 400)
    kernels = weights("bytenet", 20, "network")
    small, full = (blocks(variant, 20) for variant in ("simplified", "bytenet"))
    whole_small, whole_full = (
        weights(variant, 20, "network", "trained_weights") for variant in ("simplified", "bytenet")
    )
    millions = weights("bytenet", 400, "network", "trained_weights") / 1e6
    return [
        compare(
            "thousand kernel weights of ByteNet's encoder block, d = 400 (eq. 2.6.1)",
            (taps / 4 + 1) * dim**2 / 1000,
            [weights("bytenet", dim, "encoder block") / 1000],
        ),
        compare(
            "thousand of its decoder block (eq. 2.6.2)",
            ((taps + 1) / 8 + 1) * (2 * dim) ** 2 / 1000,
            [weights("bytenet", dim, "decoder block") / 1000],
        ),
        compare(
            "weights of Simplified to ByteNet, blocks of d = 200 and 400, by section 3.4 (5/9 times fewer)",
            4 / 9,
            [ratio],
            tolerance=0.02,
            source="result-simple-bytenet.tex:26",
        ),
        compare(
            "weights of Simplified to ByteNet, blocks of d = 200 and 400, by the conclusion (5/9 the weights)",
            5 / 9,
            [ratio],
            tolerance=0.02,
            note=f"{unmasked_ratio:.3f} if the decoder's masked taps are counted, too",
            contradicts=abs(ratio - 5 / 9) > 0.02,
            source="conclusion.tex:12",
        ),
        compare(
            "layers of a block of Simplified to those of ByteNet",
            1 / 3,
            [layers("simplified") / layers("bytenet")],
            tolerance=0.005,
            note=f"{layers('simplified')} against {layers('bytenet')}: normalisations with their activation, and maps",
            source="conclusion.tex:12",
        ),
        compare(
            "millions of weights of ByteNet, d = 400",
            27,
            [millions],
            tolerance=0.5,
            note=f"{unmasked('bytenet', 400) / 1e6:.1f} in the blocks if the decoder's masked taps are counted, too",
            contradicts=abs(millions - 27) > 0.5,
            source="gradient-based-optimization.tex:6",
        ),
        compare(
            "weights of ByteNet, d = 20, convolution and dense layers",
            73_500,
            [kernels],
            note=f"{full:,} without the last layer; {whole_full:,} with embeddings, offsets and biases",
            contradicts=kernels != 73_500,
            source="result-bytenet.tex:12",
        ),
        statement(
            "weights of Simplified to ByteNet, both of d = 20, as on Synthetic Digits",
            "likely because the simplified ByteNet model has fewer parameters and non-linear transformations",
            holds=small < full,
            measured=small / full,
            note=f"{whole_small:,} against {whole_full:,} in the whole networks; both have d = 20 in the scripts",
            contradicts=small >= full,
            source="result-simple-bytenet.tex:28",
        ),
    ]


_NUM_BLOCKS = 15
_COLOURS = {"convolution": "C0", "batch": "C2", "layer": "C1"}


# Kernel weights of a block of input width D by the thesis's equations 2.6.1 and 2.6.2, k = 5.
_FORMULAS = {
    "encoder block": ("(k/4 + 1) D²", lambda width: (5 / 4 + 1) * width**2),
    "decoder block": ("((k + 1)/8 + 1) D²", lambda width: ((5 + 1) / 8 + 1) * width**2),
}


def _plot(table: Table, path: Path) -> None:
    kinds = [(variant, part) for part in ("encoder block", "decoder block") for variant in _DIMS]
    figure = new_figure(7)
    for axes, (variant, part) in zip(figure.subplots(1, len(kinds)), kinds, strict=True):
        rows = [row for row in table if row["model"] == variant and row["part"] == part]
        axes.set_title(f"{shown_name(variant)},\n{part}", fontsize="medium")
        axes.set(xlim=(-1.02, 1.3), ylim=(-1.5, 7.4))
        axes.axis("off")
        _draw_block(axes, rows)
        told = [f"{sum(int(row['kernel_weights']) for row in rows):,}", "kernel weights here"]
        if variant == "bytenet":
            formula, weights = _FORMULAS[part]
            told += [f"thesis: {weights(_input_width(part)):,.0f}", formula]
        axes.text(0, -0.45, "\n".join(told), ha="center", va="top", fontsize=SMALL)
    figure.supxlabel(_ratio_text(table), fontsize=SMALL)
    save(figure, path)


def _input_width(part: str) -> int:
    """Of ByteNet's blocks; the decoder's have the encoder's output beside the target."""
    return _DIMS["bytenet"] * (2 if part == "decoder block" else 1)


def _ratio_text(table: Table) -> str:
    """The kernel weights of all blocks of Simplified over ByteNet's."""
    sums = {
        variant: sum(
            int(row["kernel_weights"])
            for row in table
            if (row["model"], row["dim"]) == (variant, dim) and str(row["part"]).startswith(("encoder,", "decoder,"))
        )
        for variant, dim in _DIMS.items()
    }
    ratio = sums["simplified"] / sums["bytenet"]
    return f"All blocks, weights of Simplified ByteNet (d = 200) over ByteNet's (d = 400): {ratio:.3f}; thesis: 5/9"


def _draw_block(axes: Any, rows: Table) -> None:
    """Boxes from the bottom up, with the input's way around them."""
    width = rows[0]["width"]
    heights = np.linspace(0, 7, len(rows) + 2) if len(rows) > 3 else np.array([0, 2.2, 4.8, 7])
    _draw_box(axes, heights[0], f"input, {width}", "white")
    for height, row in zip(heights[1:-1], rows, strict=True):
        if row["kind"] == "convolution":
            single = row["taps"] == 1
            shape = "1 tap" if single else f"{row['taps']} taps, dilation r"
            text = f"{_layer_text(row)}\n{shape} → {row['width']}"
            colour = _COLOURS["convolution"]
        else:
            norm, activation = str(row["kind"]).split(" norm, ")
            text = f"{_layer_text(row)}\n{norm} norm, {activation}"
            colour = _COLOURS[norm]
        _draw_box(axes, height, text, colour)
    arrow = {"arrowstyle": "-|>", "color": "black", "shrinkA": 0, "shrinkB": 0}
    for below, above in pairwise(heights):
        gap = _PLUS if above == heights[-1] else _HALF
        axes.annotate("", (0, above - gap), (0, below + _HALF), arrowprops=arrow)
    axes.text(0, heights[-1], "+", ha="center", va="center", fontsize=14,
              bbox={"boxstyle": "circle,pad=0.15", "facecolor": "white"})  # fmt: skip
    side = 1.2
    axes.plot([0.95, side, side], [heights[0], heights[0], heights[-1]], color="black", linewidth=1)
    axes.annotate("", (0.17, heights[-1]), (side, heights[-1]), arrowprops=arrow)


def _layer_text(row: dict[str, Any]) -> str:
    """The name of a layer, in two lines where it is long."""
    return fill(str(row["layer"]).replace("_", " "), 20)


# Half the height of a box, and the radius of the plus, in the units of the axes.
_HALF, _PLUS = 0.36, 0.18


def _draw_box(axes: Any, height: float, text: str, colour: str) -> None:
    from matplotlib.patches import FancyBboxPatch

    axes.add_patch(
        FancyBboxPatch(
            (-0.95, height - _HALF), 1.9, 2 * _HALF, boxstyle="round,pad=0,rounding_size=0.08",
            facecolor="white" if colour == "white" else (colour, 0.25), edgecolor="black",
        )
    )  # fmt: skip
    axes.text(0, height, text, ha="center", va="center", fontsize=8)


EXPERIMENTS = (
    Experiment(
        name="fig-3.4.1",
        title="The residual blocks of Simplified ByteNet beside ByteNet's, and the weights of the networks",
        thesis="Simplified ByteNet keeps the dilated convolution and the normalisation before it, and leaves out the "
        "two maps that narrow and widen. Section 3.4 has 5/9 times fewer weights and a third of the operations, the "
        "conclusion 5/9 the weights and 1/3 the layers.",
        needs=Needs(time={"smoke": "15 s", "cpu": "15 s", "thesis": "15 s"}),
        basis=Basis("computed"),
        measure=_measure_blocks,
        verdicts=_verdicts,
        plot=_plot,
    ),
)
