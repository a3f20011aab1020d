"""The attention of a model on sentence pairs, as pictures and as JSON."""

import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from bytenet.datasets import EOS_ID, Pairs, Vocabulary
from bytenet.errors import InputError
from bytenet.files import atomic_path, write_text_atomic

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from bytenet.models import TranslationModel

_INCHES_A_SYMBOL = 0.12  # less if the picture would become too large
_LEGIBLE_INCHES = 0.06  # symbols that are closer are not written
_LEAST_INCHES = 1.6
_MOST_INCHES = 60.0  # of a picture; at 150 dots an inch, it takes 320 MB while it is drawn
_MARGIN = 0.8  # inches of a panel for its labels
_SIGNS = {" ": "␣", "\t": "⇥"}


@dataclass(frozen=True)
class SentenceAttention:
    """What each symbol of a translation attends to.

    Attributes:
        source: text of each source symbol, with the end symbol.
        target: text of each target symbol, with the end symbol if the translation has one.
        alignment: float `(T, S)`, the summary of all layers. Rows sum to 1, or to less if the model attends to padding.
        layers: for each layer with attention, float `(heads, T, S)`.
    """

    source: Sequence[str]
    target: Sequence[str]
    alignment: np.ndarray
    layers: Sequence[np.ndarray]

    def save(self, folder: Path, name: str) -> list[Path]:
        """Write `NAME.json` with all weights and `NAME.png` with a panel for the alignment and each layer.

        The darkness of a panel is the square root of the weight. Long sentences have smaller cells, with the numbers
        of the symbols instead of their texts.

        Returns:
            The two paths.
        """
        folder.mkdir(parents=True, exist_ok=True)
        json_path, picture_path = folder / f"{name}.json", folder / f"{name}.png"
        content = {
            "source": list(self.source),
            "target": list(self.target),
            "alignment": _rounded(self.alignment),
            "layers": [_rounded(weights) for weights in self.layers],
        }
        write_text_atomic(json_path, json.dumps(content, ensure_ascii=False) + "\n")
        self._draw(picture_path)
        return [json_path, picture_path]

    def _draw(self, path: Path) -> None:
        from matplotlib.figure import Figure

        panels = [("alignment", self.alignment)]
        if len(self.layers) > 1 or self.layers[0].shape[0] > 1:
            for number, weights in enumerate(self.layers, start=1):
                heads = f", mean of {len(weights)} heads" if len(weights) > 1 else ""
                panels.append((f"layer {number}{heads}", weights.mean(axis=0)))
        columns = min(len(panels), 3)
        rows = math.ceil(len(panels) / columns)
        inches = [
            min(_INCHES_A_SYMBOL, (_MOST_INCHES / panels_beside - _MARGIN) / len(symbols))
            for symbols, panels_beside in ((self.source, columns), (self.target, rows))
        ]
        width, height = (
            max(_MARGIN + each * len(symbols), _LEAST_INCHES)
            for each, symbols in zip(inches, (self.source, self.target), strict=True)
        )
        figure = Figure(figsize=(columns * width, rows * height), layout="constrained")
        axes_of_panels = [*figure.subplots(rows, columns, squeeze=False).flat]
        for axes, (title, weights) in zip(axes_of_panels, panels, strict=False):
            self._draw_panel(axes, title, weights, inches)
        for axes in axes_of_panels[len(panels) :]:
            axes.set_axis_off()
        with atomic_path(path) as temporary:
            figure.savefig(temporary, dpi=150)

    def _draw_panel(self, axes: "Axes", title: str, weights: np.ndarray, inches: Sequence[float]) -> None:
        from matplotlib.colors import PowerNorm

        # By the square root of the weights, because a weight of .1 would hardly be seen.
        axes.imshow(weights, cmap="Greys", norm=PowerNorm(0.5, 0, 1), aspect="auto")
        axes.set_title(title, fontsize="small")
        for axis, symbols, each in zip((axes.xaxis, axes.yaxis), (self.source, self.target), inches, strict=True):
            if each >= _LEGIBLE_INCHES:
                axis.set_ticks(range(len(symbols)), [_SIGNS.get(symbol, symbol) for symbol in symbols], fontsize=6)
                axis.set_tick_params(length=0)
        axes.set_xlabel("source", fontsize="small")
        axes.set_ylabel("translation", fontsize="small")


def check_attention(model: "TranslationModel") -> None:
    """Raise an InputError if a model has no attention to draw."""
    if not model.has_attention:
        raise InputError(f"{model.config.kind} has no attention to draw. docs/models.md lists the models with it.")


def attention_of_pairs(
    model: "TranslationModel", vocabulary: Vocabulary, pairs: Pairs, trained_lengths: Sequence[int] | None = None
) -> Iterator[SentenceAttention]:
    """Compute the attention of each pair by one pass over source and target.

    Args:
        model: a model with attention.
        vocabulary: the model's vocabulary.
        pairs: sentences and translations.
        trained_lengths: the lengths that pairs were padded to in training, for a model that reads padding; None for
            a model that does not.

    Raises:
        InputError: the model has no attention, or a sentence is too long for it.
    """
    from keras.ops import convert_to_numpy

    from bytenet.decoding.batching import batches_by_length, pad_batch
    from bytenet.models.translation_model import previous_symbols

    check_attention(model)
    encoded = zip(*(vocabulary.encode_batch(texts) for texts in (pairs.source, pairs.target)), strict=True)
    longest = model.length_policy.longest
    for source_ids, target_ids in encoded:
        if longest is not None and len(target_ids) == longest + 1:
            target_ids = target_ids[:-1]  # a translation of the greatest length has no end symbol
        lengths = [max(len(source_ids), len(target_ids))]
        model.length_policy.check(*lengths)
        ((_, _, length),) = batches_by_length([0], lengths, 1, trained_lengths, longest)
        memory = model.encode(pad_batch([source_ids], 1, length))
        previous_ids = previous_symbols(pad_batch([target_ids], 1, length))
        real = (..., slice(len(target_ids)), slice(len(source_ids)))
        source, target = ([symbol_text(vocabulary, symbol_id) for symbol_id in ids] for ids in (source_ids, target_ids))
        yield SentenceAttention(
            source,
            target,
            convert_to_numpy(model.alignment(memory, previous_ids))[0][real],
            [convert_to_numpy(weights)[0][real] for weights in model.attention_weights(memory, previous_ids)],
        )


def symbol_text(vocabulary: Vocabulary, symbol_id: int) -> str:
    """What an id stands for: a character, "⏎" for the end symbol, U+FFFD for an unknown character."""
    return "⏎" if symbol_id == EOS_ID else vocabulary.decode([symbol_id])


def _rounded(weights: np.ndarray) -> list:
    return np.round(weights.astype(float), 4).tolist()
