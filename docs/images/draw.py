"""Draws the pictures of the README and of docs/models/bytenet.md: `python docs/images/draw.py`."""

import json
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt

HERE = Path(__file__).parent
TAPS, DILATIONS = 3, (1, 2, 4, 8)
STEPS = 1 + (TAPS - 1) * sum(DILATIONS)
BLUE, GREY = "#1f6f9f", "#c9ced3"


def draw_dilated_stack() -> None:
    """The inputs that the last output of a causal dilated stack sees, layer by layer."""
    figure, axes = plt.subplots(figsize=(9, 2.6))
    seen = {STEPS - 1}
    for layer in range(len(DILATIONS), -1, -1):
        colors = [BLUE if step in seen else GREY for step in range(STEPS)]
        axes.scatter(range(STEPS), [layer] * STEPS, s=38, c=colors, zorder=2)
        if layer == 0:
            break
        rate = DILATIONS[layer - 1]
        inputs = {(step, step - tap * rate) for step in seen for tap in range(TAPS)}
        for step, below in inputs:
            axes.plot([step, below], [layer, layer - 1], color=BLUE, linewidth=0.8, zorder=1)
        seen = {below for _, below in inputs}
    labels = ["characters so far", *(f"dilation {rate}" for rate in DILATIONS[:-1]), f"dilation {DILATIONS[-1]} → next"]
    axes.set_yticks(range(len(DILATIONS) + 1), labels)
    axes.tick_params(length=0)
    axes.set_xticks([])
    axes.set_frame_on(False)
    figure.savefig(HERE / "dilated-stack.svg", bbox_inches="tight", metadata={"Date": None})
    plt.close(figure)


METHODS = {
    "fixed length": ("whole prefix again, padded, XLA", "s", GREY),
    "growing prefix": ("whole prefix again, as it grows", "^", GREY),
    "cached": ("with the cache, XLA", "o", BLUE),
}


def draw_decoding_time() -> None:
    """Time of a sentence against its length, from what `bytenet benchmark decoding --json` printed."""
    cases = json.loads((HERE / "decoding.json").read_text(encoding="utf-8"))
    figure, axes = plt.subplots(figsize=(9, 2.8))
    for method, (label, marker, color) in METHODS.items():
        rows = [row for row in cases if row["case"]["method"] == method]
        lengths = [row["case"]["length"] for row in rows]
        low, middle, high = (
            [row["milliseconds"][name] * row["case"]["length"] / 1000 for row in rows]
            for name in ("least", "median", "most")
        )
        bars = [[b - a for a, b in zip(low, middle, strict=True)], [b - a for a, b in zip(middle, high, strict=True)]]
        axes.errorbar(lengths, middle, yerr=bars, label=label, marker=marker, color=color, capsize=2)
    axes.set(xscale="log", yscale="log", xlabel="characters of the translation", ylabel="seconds")
    axes.set_xticks(lengths, lengths)
    axes.minorticks_off()
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, loc="center left", bbox_to_anchor=(1, 0.5))
    figure.savefig(HERE / "decoding.svg", bbox_inches="tight", metadata={"Date": None})
    plt.close(figure)


if __name__ == "__main__":
    mpl.use("Agg")
    mpl.rcParams |= {"svg.hashsalt": "bytenet", "font.family": "sans-serif"}
    draw_dilated_stack()
    draw_decoding_time()
