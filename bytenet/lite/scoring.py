"""Log-probabilities of given translations, with LiteRT."""

import os
from collections.abc import Sequence

import numpy as np

from bytenet.errors import ModelError
from bytenet.lite.characters import PAD_ID, fits
from bytenet.lite.model import LiteModel
from bytenet.lite.white_space import readable


class LitePairScorer:
    """Computes the log-probability of each target given its source, with the LiteRT model in a `.bytenet` file.

    Args and errors are those of `LiteModel`. Some files of earlier versions cannot score.
    """

    def __init__(self, path: str | os.PathLike[str], num_threads: int = 1):
        self.model = LiteModel(path, "score", ("source_ids", "target_ids"), num_threads)

    def fits(self, text: str) -> bool:
        """Whether the model can read and write a text: it is not too long, and no character is refused."""
        return fits(text, self.model.characters.encode, self.model.longest)

    def __call__(self, sources: Sequence[str], targets: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
        """Score the translations of sources.

        Returns:
            float64 `(pairs,)`: log P(target | source) in nats; int64 `(pairs,)`: symbols of the target. The end symbol
            counts.

        Raises:
            InputError: a text has an unknown character, and the vocabulary's rule refuses it.
            ModelError: LiteRT fails, or a log-probability is not a number; the file is damaged.
        """
        scores = np.zeros(len(sources), np.float64)
        lengths = np.zeros(len(sources), np.int64)
        encode, known = self.model.characters.encode, self.model.characters.known
        for row, (source, target) in enumerate(zip(sources, targets, strict=True)):
            source_ids, target_ids = encode(readable(source, known)), encode(target)
            # As in training, both sides have the same length.
            length = max(len(source_ids), len(target_ids))
            result = self.model(source_ids=_padded(source_ids, length), target_ids=_padded(target_ids, length))
            scores[row], lengths[row] = float(result["log_probabilities"][0]), len(target_ids)
        return check_log_probabilities(scores), lengths


def check_log_probabilities(log_probabilities: np.ndarray) -> np.ndarray:
    """Return the log-probabilities as they are.

    Raises:
        ModelError: one of them is not a number.
    """
    if np.isnan(log_probabilities).any():
        raise ModelError(
            "The model gives a text a probability that is not a number: its weights are damaged, or its training "
            "diverged. Export or train it again."
        )
    return log_probabilities


def _padded(ids: np.ndarray, length: int) -> np.ndarray:
    """Ids as a batch of one row, int32 `(1, length)`."""
    return np.pad(ids, (0, length - len(ids)), constant_values=PAD_ID)[None]
