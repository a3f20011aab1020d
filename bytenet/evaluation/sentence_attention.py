"""The attention of a model on sentence pairs."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from bytenet.datasets import EOS_ID, Pairs, Vocabulary
from bytenet.errors import InputError
from bytenet.evaluation.attention_picture import draw_attention
from bytenet.files import write_text_atomic
from bytenet.lite.characters import check_length

if TYPE_CHECKING:
    from bytenet.models import TranslationModel


@dataclass(frozen=True)
class SentenceAttention:
    """What each symbol of a translation attends to.

    Attributes:
        source: text of each source symbol, with the end symbol.
        target: text of each target symbol, with the end symbol if the translation has one.
        alignment: float32 `(T, S)`, the summary of all layers. Rows sum to 1, or to less if the model attends to
            padding.
        layers: for each layer with attention, float32 `(heads, T, S)`.
    """

    source: Sequence[str]
    target: Sequence[str]
    alignment: np.ndarray
    layers: Sequence[np.ndarray]

    def save(self, folder: Path, name: str) -> list[Path]:
        """Write `NAME.json` with all weights, and `NAME.png` with a panel for the alignment and each layer.

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
        draw_attention(self.source, self.target, self._panels(), picture_path)
        return [json_path, picture_path]

    def _panels(self) -> dict[str, np.ndarray]:
        """The alignment and each layer, `(T, S)`. One layer with one head is the alignment."""
        panels = {"alignment": self.alignment}
        if len(self.layers) > 1 or self.layers[0].shape[0] > 1:
            for number, weights in enumerate(self.layers, start=1):
                heads = f", mean of {len(weights)} heads" if len(weights) > 1 else ""
                panels[f"layer {number}{heads}"] = weights.mean(axis=0)
        return panels


def check_attention(model: "TranslationModel") -> None:
    """Raise an InputError if a model has no attention to draw."""
    if not model.has_attention:
        raise InputError(f"{model.config.kind} has no attention to draw. docs/models.md lists the models with it.")


def attention_of_pairs(
    model: "TranslationModel",
    vocabulary: Vocabulary,
    pairs: Pairs,
    trained_lengths: Sequence[int] | None = None,
    ended: Sequence[bool] | None = None,
) -> Iterator[SentenceAttention]:
    """Compute the attention of each pair by one pass over source and target.

    Args:
        model: a model with attention.
        vocabulary: the model's vocabulary.
        pairs: sentences and translations.
        trained_lengths: the lengths that pairs were padded to in training, for a model that reads padding; None for
            a model that does not.
        ended: for each translation, whether it has the end symbol. None: all have it.

    Raises:
        InputError: the model has no attention, a sentence is too long for it, or a translation has no symbols.
        ValueError: model and vocabulary have different numbers of symbols.
    """
    from keras.ops import convert_to_numpy

    from bytenet.decoding.batches.batching import BatchShapes, pad_batch
    from bytenet.models.batch_rows import previous_symbols

    check_attention(model)
    model.check_vocabulary(vocabulary.size)
    all_source_ids, all_target_ids = (vocabulary.encode_batch(texts) for texts in (pairs.source, pairs.target))
    if ended is not None:
        all_target_ids = [ids if has_end else ids[:-1] for ids, has_end in zip(all_target_ids, ended, strict=True)]
    longest = model.length_policy.longest
    shapes = BatchShapes(1, longest, trained_lengths)
    for number, (source_ids, target_ids) in enumerate(zip(all_source_ids, all_target_ids, strict=True), start=1):
        for side, ids in (("source", source_ids), ("target", target_ids)):
            check_length(len(ids), longest, f"Line {number:,} of the {side} texts")
        if not len(target_ids):
            raise InputError(f"The model wrote nothing for line {number:,}, so there is no attention to draw.")
        length = shapes.padded_length(max(len(source_ids), len(target_ids)))
        memory = model.encode(pad_batch([source_ids], 1, length))
        previous_ids = previous_symbols(pad_batch([target_ids], 1, length))
        real = (..., slice(len(target_ids)), slice(len(source_ids)))
        source, target = ([symbol_text(vocabulary, symbol_id) for symbol_id in ids] for ids in (source_ids, target_ids))
        yield SentenceAttention(
            source,
            target,
            convert_to_numpy(model.alignment(memory, previous_ids))[0][real].astype(np.float32),
            [
                convert_to_numpy(weights)[0][real].astype(np.float32)
                for weights in model.attention_weights(memory, previous_ids)
            ],
        )


def symbol_text(vocabulary: Vocabulary, symbol_id: int) -> str:
    """What an id stands for: a character, "⏎" for the end symbol, U+FFFD for an unknown character."""
    return "⏎" if symbol_id == EOS_ID else vocabulary.decode([symbol_id])


def _rounded(weights: np.ndarray) -> list:
    return np.round(weights.astype(float), 4).tolist()
