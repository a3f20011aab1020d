"""What a translator needs, from run folders and model files: its model, the options of its search, and a reranker."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields, replace
from typing import Any

from pydantic import ValidationError

from bytenet.config import DecodingConfig
from bytenet.config.checks import problem_of
from bytenet.decoding.sampling import Sampling
from bytenet.decoding.scoring import PairScorer
from bytenet.decoding.translation import forbidden_symbols
from bytenet.errors import ConfigError, InputError, shown
from bytenet.lite.languages import check_direction
from bytenet.lite.pretrained import pretrained_name
from bytenet.lite.reranking import Reranker, chosen_reranker, explaining_missing_reranker
from bytenet.model_file import ModelFile, open_model
from bytenet.models import Ensemble
from bytenet.run_folder import RunFolder


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
    folders = [open_model(path) for path in paths]
    _check_members(folders)
    folder = folders[0]
    decoding = decoding_with(folder.config.decoding, options)
    models = [member.load_model() for member in folders]
    reranker = _opened_reranker(folder, decoding, options, row_factor)
    search = asdict(decoding)
    del search["rerank_with"], search["rerank_weight"]
    sampling = {field.name: search.pop(field.name) for field in fields(Sampling)}
    return search | {
        "sampling": Sampling(**sampling) if decoding.samples else None,
        "model": models[0] if len(models) == 1 else Ensemble(models),
        "vocabulary": folder.vocabulary,
        "forbidden_ids": forbidden_symbols(folder.config.model, folder.vocabulary, decoding.replace_unknown),
        "trained_lengths": folder.trained_lengths,
        "row_factor": row_factor,
        "reranker": reranker,
        "data": folder.config.data,
    }


def decoding_with(decoding: DecodingConfig, options: Mapping[str, Any]) -> DecodingConfig:
    """The settings of a search with other values for some of them.

    Args:
        decoding: the settings.
        options: by the names of settings. None changes nothing.

    Raises:
        ConfigError: a value is not allowed, or has no effect, because it is of a beam or of samples.
        TypeError: there is no such setting.
    """
    given = {
        name: os.fspath(value) if name == "rerank_with" else value
        for name, value in options.items()
        if value is not None
    }
    if unknown := given.keys() - {field.name for field in fields(decoding)}:
        raise TypeError(f"The search has no option {', '.join(sorted(unknown))}.")
    try:
        changed = replace(decoding, **given)
    except ValidationError as error:
        problems = []
        for item in error.errors(include_url=False):
            message = problem_of(item)
            name = item["loc"][0] if item["loc"] else None
            problems.append(f"{name} is {shown(given[str(name)])}, but {message}." if name else f"{message}.")
        raise ConfigError(f"The options of the search: {' '.join(problems)}") from None
    if changed.samples and "beam_size" in given:
        raise ConfigError(
            f"beam_size is {changed.beam_size}, but samples are drawn without a beam. Leave out beam_size, or set "
            "samples to 0."
        )
    for name in ("temperature", "top_k", "top_p", "seed") if not changed.samples else ():
        if name in given:
            raise ConfigError(f"{name} is {given[name]}, but no samples are drawn. Set samples to 1 or more, too.")
    return changed


def _check_members(folders: Sequence[RunFolder | ModelFile]) -> None:
    """Check that models can translate together.

    Raises:
        InputError: there are none, or several that do not belong together.
    """
    if not folders:
        raise InputError("There is no model to translate with. Give at least one.")
    first, *others = folders
    for other in others:
        check_direction(
            other.path, other.config.data.languages, first.config.data.languages,
            f"It cannot translate together with {first.path}",
            " If only the names of the languages are wrong, correct them in its config.yaml.",
        )  # fmt: skip
        if other.vocabulary != first.vocabulary:
            raise InputError(
                f"The runs {first.path} and {other.path} have different vocabularies, so they cannot translate "
                "together. Train them on the same corpus."
            )
    if others:
        for folder in folders:
            if folder.config.model.length_policy.reads_padding:
                raise InputError(
                    f"{folder.path} reads padding (model.mask_padding is false), so it cannot translate together with "
                    "other models. Translate with it alone."
                )


def _opened_reranker(
    folder: RunFolder | ModelFile, decoding: DecodingConfig, options: Mapping[str, Any], row_factor: int
) -> Reranker[PairScorer] | None:
    """The reranker that the options ask for, or else the configuration. Minimum Bayes risk takes its place.

    Raises:
        ConfigError: the options ask for both, or as for `chosen_reranker`.
    """
    if decoding.mbr:
        if options.get("rerank_with") is not None:
            raise ConfigError("mbr and rerank_with both rank the hypotheses. Leave out one of them.")
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
    name = pretrained_name(path) or os.fspath(path)
    return Reranker(scorer, weight, decoding.length_penalty, decoding.length_penalty_rule, name)
