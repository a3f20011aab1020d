"""The engine without TensorFlow, for model files: LiteRT."""

import os
from collections.abc import Iterator

from bytenet.model_file import ModelFile
from bytenet.serving.engines.engine import Alignment
from bytenet.serving.engines.translator_engine import TranslatorEngine


class LiteEngine(TranslatorEngine):
    """Translates with the LiteRT model in a `.bytenet` file, one sentence after the other.

    It starts at once and needs little memory, but it has no drafts and no attention, and many sentences take longer
    than with TensorFlow.

    Args:
        path: of the file.
        rerank_with, rerank_weight: as for `bytenet.lite.Translator`.

    Raises:
        InputError: as for `bytenet.lite.Translator`.
    """

    batch_sizes = (1,)
    has_attention = False

    def __init__(
        self,
        path: str | os.PathLike[str],
        rerank_with: str | os.PathLike[str] | None = None,
        rerank_weight: float | None = None,
    ):
        from bytenet.lite import Translator

        model, translator = ModelFile(path), Translator(path, 1, rerank_with, rerank_weight)
        super().__init__(model, translator, translator.beam_size, translator.longest)

    def draft(self, sentence: str) -> Iterator[str]:
        """No drafts: the search gives its result only at its end."""
        return iter(())

    def align(self, sentence: str, translation: str) -> Alignment:
        """Must not be called, because `has_attention` is false."""
        raise NotImplementedError("The LiteRT model has no attention.")
