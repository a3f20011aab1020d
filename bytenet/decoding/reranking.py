"""Opening of the model of the other direction that reranks translations."""

import os
from typing import Any

from bytenet.decoding.scoring import PairScorer
from bytenet.lite.length_penalty import LengthPenaltyRule
from bytenet.lite.pretrained import pretrained_name
from bytenet.lite.reranking import Reranker, check_other_direction
from bytenet.model_file import open_model


def open_reranker(
    path: str | os.PathLike[str],
    languages: tuple[str, str],
    weight: float,
    length_penalty: float,
    length_penalty_rule: LengthPenaltyRule,
    **options: Any,
) -> Reranker[PairScorer]:
    """Load the model of the other direction.

    Args:
        path: run folder, `.bytenet` file, or name of a pretrained model.
        languages: that the translator reads and writes.
        weight, length_penalty, length_penalty_rule: as for `Reranker`.
        **options: of the `PairScorer`.

    Raises:
        InputError: there is no such model, it cannot be loaded, or it does not translate back.
    """
    folder = open_model(path)
    check_other_direction(path, languages, folder.config.data.languages)
    scorer = PairScorer(folder.load_model(), folder.vocabulary, trained_lengths=folder.trained_lengths, **options)
    return Reranker(scorer, weight, length_penalty, length_penalty_rule, pretrained_name(path) or os.fspath(path))
