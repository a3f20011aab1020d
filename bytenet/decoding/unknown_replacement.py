"""Unknown symbols of a translation, replaced by characters of the source."""

from collections.abc import Mapping

import numpy as np

from bytenet.datasets import EOS_ID, Vocabulary


def replaced_unknown(
    ids: np.ndarray,
    vocabulary: Vocabulary,
    source: str,
    alignment: np.ndarray,
    dictionary: Mapping[str, str] | None = None,
) -> str:
    """The text of a translation. Each unknown symbol becomes the source character that it attends to most.

    The end symbol of the source is never chosen.

    Args:
        ids: int `(T,)`, of the translation.
        vocabulary: that has an id for unknown characters.
        source: the source, normalised as for the model. Each of its characters is one source symbol.
        alignment: float `(T, S)`, where the last source symbol is the end symbol.
        dictionary: translations of source characters. A character without an entry is copied.

    Reference:
        Luong et al. 2015, "Addressing the Rare Word Problem in Neural Machine Translation"; Jean et al. 2015;
        Gehring et al. 2017, section 4.2.
    """
    dictionary = dictionary or {}
    text = []
    for symbol_id, weights in zip(ids, alignment, strict=True):
        if symbol_id == EOS_ID:
            break
        if symbol_id == vocabulary.unknown_id and source:
            character = source[int(np.argmax(weights[: len(source)]))]
            text.append(dictionary.get(character, character))
        else:
            text.append(vocabulary.decode([symbol_id]))
    return "".join(text)
