"""Scores of a finished training on Synthetic Digits, with greedy decoding as in the thesis."""

import math
from typing import TYPE_CHECKING

from bytenet.reproduction.engine.experiment import Scale

if TYPE_CHECKING:
    from bytenet.datasets import Pairs
    from bytenet.run_folder import RunFolder


def greedy_scores(folder: "RunFolder", seed: int, scale: Scale) -> dict[str, float]:
    """Scores of a finished training on the 1,024 sequences of a seed, as in the thesis. See `greedy_scores_on`."""
    from bytenet.datasets.corpora.digits import digits

    return greedy_scores_on(folder, digits(seed, 16 if scale == "smoke" else 1024), f"seed {seed}")


def greedy_scores_on(folder: "RunFolder", pairs: "Pairs", name: str) -> dict[str, float]:
    """Scores of a finished training on pairs, with greedy decoding.

    Args:
        folder: run folder of the training.
        pairs: at least one pair.
        name: name of the pairs.

    Returns:
        `misclassification` (mean over sentences) and `loss` (nats per character).
    """
    from bytenet.evaluation import evaluate_run

    result = evaluate_run(folder, pairs, name, beam_size=1, batch_size=128, bootstrap=0)
    scores = {score.name: score.value for score in result.scores}
    return {"misclassification": scores["misclassification"], "loss": scores["bits-per-character"] * math.log(2)}
