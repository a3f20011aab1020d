"""The options of a search: settings of `decoding` with other values, and which options go together."""

import os
from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any

from pydantic import ValidationError

from bytenet.config import DecodingConfig
from bytenet.config.checks import problem_of
from bytenet.errors import ConfigError, shown


def problems_of_search(error: ValidationError, options: Mapping[str, Any]) -> str:
    """What is wrong with options of a search, in sentences.

    Args:
        error: what `DecodingConfig` raised.
        options: the options, by the names of settings.
    """
    problems = []
    for item in error.errors(include_url=False):
        message = problem_of(item)
        name = item["loc"][0] if item["loc"] else None
        problems.append(f"{name} is {shown(options[str(name)])}, but {message}." if name else f"{message}.")
    return f"The options of the search: {' '.join(problems)}"


def decoding_with(decoding: DecodingConfig, options: Mapping[str, Any]) -> DecodingConfig:
    """The settings of a search with other values for some of them.

    Args:
        decoding: the settings.
        options: by the names of settings. None changes nothing.

    Raises:
        ConfigError: a value is not allowed, or has no effect, because it is of a beam, of samples or of another
            ranking, or because there is one hypothesis and no ranking.
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
        raise ConfigError(problems_of_search(error, given)) from None
    # A weight or a coverage penalty of 0 turns itself off.
    of_ranking = [name for name in ("rerank_with", "rerank_weight", "coverage_penalty") if given.get(name)]
    of_length = [name for name in ("length_penalty", "length_penalty_rule") if name in given]
    for name in [*of_ranking, *of_length] if changed.mbr else ():
        solution = "Leave out one of them." if "mbr" in given else f"Leave out {name}, or turn mbr off (--no-mbr)."
        raise ConfigError(f"mbr and {name} both rank the hypotheses. {solution}")
    # A reranker with one hypothesis is refused where it is chosen. One sample may have a length penalty, for its score.
    # With a beam of 1, a length penalty is refused: it changes no translation.
    of_penalties = ["coverage_penalty", *(() if changed.samples else of_length)]
    for name in of_penalties if changed.num_hypotheses == 1 else ():
        if given.get(name):  # A penalty of 0 is none.
            number = "samples (--samples)" if changed.samples else "beam_size (--beam-size)"
            raise ConfigError(
                f"{name} is {given[name]}, but with one hypothesis it changes no translation. Set {number} to 2 or "
                f"more, or leave out {name}."
            )
    if changed.samples and "beam_size" in given:
        raise ConfigError(
            f"beam_size is {changed.beam_size}, but samples are drawn without a beam. Leave out beam_size, or set "
            "samples to 0."
        )
    for name in ("temperature", "top_k", "top_p", "seed") if not changed.samples else ():
        if name in given:
            raise ConfigError(f"{name} is {given[name]}, but no samples are drawn. Set samples to 1 or more, too.")
    return changed
