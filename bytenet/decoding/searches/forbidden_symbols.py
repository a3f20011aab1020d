"""The symbols that no hypothesis contains."""

from bytenet.config import ModelConfig
from bytenet.datasets import PAD_ID, Vocabulary


def forbidden_symbols(model: ModelConfig, vocabulary: Vocabulary, replace_unknown: bool = False) -> tuple[int, ...]:
    """The symbols that the searches of a run never choose: padding and unknown characters.

    With the thesis's settings, they may choose unknown characters, and padding if the model reads padding.

    Args:
        model: reads `settings` and `mask_padding` from it.
        vocabulary: the run's vocabulary.
        replace_unknown: unknown symbols are allowed, since they will be replaced.
    """
    if model.settings == "thesis":
        return (PAD_ID,) if model.mask_padding else ()
    if replace_unknown or vocabulary.unknown_id is None:
        return (PAD_ID,)
    return PAD_ID, vocabulary.unknown_id
