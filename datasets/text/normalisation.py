"""Unicode's normal form C (NFC), the form of all text: a decomposed "ü" is one character, like the composed one.

TensorFlow Text's `normalize_utf8` makes it, both in Python and inside a graph. Sharding uses Python's `unicodedata`,
which makes the same of all characters that it knows.
"""

import unicodedata
from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import tensorflow as tf


class NormalisedTexts(list[str]):
    """Texts in NFC. `normalise` makes them and returns them as they are, so that no text is normalised twice."""

    def take(self, indices: Iterable[int]) -> "NormalisedTexts":
        """The texts at `indices`, in that order."""
        return NormalisedTexts(self[index] for index in indices)


def normalise(texts: Iterable[str]) -> NormalisedTexts:
    """Bring texts to NFC, all of them in one call of TensorFlow.

    TensorFlow is imported and started only if a text may change.

    Args:
        texts: any strings. NUL and lone surrogates stay as they are.

    Returns:
        The texts in NFC, in the same order; `texts` itself if this function has made it.
    """
    if isinstance(texts, NormalisedTexts):
        return texts
    normalised = NormalisedTexts(texts)
    may_change = [index for index, text in enumerate(normalised) if not _is_certainly_nfc(text)]
    if may_change:
        import tensorflow as tf

        strings = tf.constant([normalised[index].encode("utf-8", "surrogatepass") for index in may_change])
        for index, string in zip(may_change, normalise_graph(strings).numpy(), strict=True):
            normalised[index] = string.decode("utf-8", "surrogatepass")
    return normalised


def normalise_graph(strings: "tf.Tensor") -> "tf.Tensor":
    """Bring UTF-8 strings to NFC.

    Args:
        strings: tf.string of any shape.

    Returns:
        tf.string, shaped as `strings`.
    """
    import tensorflow_text

    return tensorflow_text.normalize_utf8(strings, "NFC")


def _is_certainly_nfc(text: str) -> bool:
    """Whether a text is in NFC by Python's version of Unicode and therefore by TensorFlow Text's.

    The versions differ only for characters that one of them does not know yet: Unicode never changes the normal forms
    of characters that it has. A printable text has only known characters.

    Reference:
        Unicode Standard Annex #15, section 3, "Versioning and Stability".
    """
    return text.isascii() or (
        unicodedata.is_normalized("NFC", text)
        and (text.isprintable() or "Cn" not in map(unicodedata.category, text))  # Cn: not assigned
    )
