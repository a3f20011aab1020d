"""What a translator needs, from run folders and model files: its model, the options of its search, and a reranker."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields
from typing import Any

from bytenet.config import DecodingConfig
from bytenet.config.search_options import decoding_with
from bytenet.decoding.scoring import PairScorer
from bytenet.decoding.searches.sampling import Sampling
from bytenet.lite.languages import check_direction
from bytenet.lite.pretrained import name_or_path
from bytenet.lite.reranking import Reranker, chosen_reranker, explaining_missing_reranker
from bytenet.model_file import ModelFile
from bytenet.models import Ensemble
from bytenet.models.translation_model import TranslationModel
from bytenet.run_folder import RunFolder
from bytenet.trained_model import open_model, open_models


def translator_arguments(
    paths: Sequence[str | os.PathLike[str]], options: Mapping[str, Any], row_factor: int
) -> dict[str, Any]:
    """The arguments of a `Translator` with the models of some runs.

    Args:
        paths: run folders, `.bytenet` files, or names of pretrained models.
        options: fields of `DecodingConfig`. Those that are None or missing come from the first one's configuration.
        row_factor: as for `Translator`.

    Raises:
        ConfigError: an option has a value that it cannot have.
        InputError: as for `Translator.from_run`.
        TypeError: there is no such option.
    """
    folders = open_models(paths)
    folder = folders[0]
    decoding = decoding_with(folder.config.decoding, options)
    model = load_together(folders)
    reranker = _opened_reranker(folder, decoding, options, row_factor)
    search = asdict(decoding)
    del search["rerank_with"], search["rerank_weight"]
    sampling = {field.name: search.pop(field.name) for field in fields(Sampling)}
    return search | {
        "sampling": Sampling(**sampling) if decoding.samples else None,
        "model": model,
        "vocabulary": folder.vocabulary,
        "trained_lengths": folder.trained_lengths,
        "row_factor": row_factor,
        "reranker": reranker,
        "data": folder.config.data,
    }


def load_together(folders: Sequence[RunFolder | ModelFile]) -> TranslationModel:
    """Load the model of one folder or file, or the models of several as an `Ensemble`.

    Args:
        folders: the result of `open_models`.

    Raises:
        InputError: a model cannot be loaded.
    """
    models = [folder.load_model() for folder in folders]
    return models[0] if len(models) == 1 else Ensemble(models)


def _opened_reranker(
    folder: RunFolder | ModelFile, decoding: DecodingConfig, options: Mapping[str, Any], row_factor: int
) -> Reranker[PairScorer] | None:
    """The reranker that the options ask for, or else the configuration. Minimum Bayes risk takes its place.

    Raises:
        ConfigError: as for `chosen_reranker`.
    """
    if decoding.mbr:
        return None
    configured = folder.config.decoding
    choice = chosen_reranker(
        (configured.rerank_with, configured.rerank_weight),
        (options.get("rerank_with"), options.get("rerank_weight")),
        decoding.num_hypotheses,
    )
    if choice is None:
        return None
    path, weight = choice
    with explaining_missing_reranker():
        other = open_model(path)
    source, target = folder.config.data.languages
    check_direction(path, other.config.data.languages, (target, source), "rerank_with")
    scorer = PairScorer(
        other.load_model(),
        other.vocabulary,
        trained_lengths=other.trained_lengths,
        batch_size=decoding.batch_size,
        row_factor=row_factor,
    )
    return Reranker(scorer, weight, decoding.length_penalty, decoding.length_penalty_rule, name_or_path(path))
