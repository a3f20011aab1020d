"""Options of the search for translations, which several commands have."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import click

from bytenet.cli.common.number_range import NumberRange

if TYPE_CHECKING:
    from bytenet.config import DecodingConfig

NOT_FOR_LITE = (
    "With --engine lite, the options of the search are those of the export, except --rerank-with and --rerank-weight. "
    "For other options, leave out --engine lite."
)
"""The message about an option of the search that LiteRT does not have."""

_RERANKING = ("rerank_with", "rerank_weight")

_OPTIONS = (
    click.option(
        "--beam-size", type=click.IntRange(min=1), help="Number of hypotheses that are kept; 1 is greedy search."
    ),
    click.option(
        "--samples",
        type=click.IntRange(min=0),
        help="Draw this many random translations of each line instead of searching; 0 is the search.",
    ),
    click.option(
        "--temperature",
        type=NumberRange(min=0, min_open=True),
        help="For --samples: below 1, likely characters are drawn more often; above 1, unlikely ones.",
    ),
    click.option(
        "--top-k", type=click.IntRange(min=0), help="For --samples: draw only the K likeliest characters; 0 is all."
    ),
    click.option(
        "--top-p",
        type=NumberRange(min=0, max=1, min_open=True),
        help="For --samples: draw only from the smallest set of likeliest characters with this probability in all.",
    ),
    click.option("--seed", type=click.IntRange(min=0), help="Seed of the random translations (--samples)."),
    click.option("--length-penalty", type=NumberRange(min=0), help="Larger values favour longer translations."),
    click.option(
        "--length-penalty-rule",
        type=click.Choice(["gnmt", "length"]),
        help="What log-probabilities are divided by: a power of (5 + length) / 6, or of the length.",
    ),
    click.option(
        "--coverage-penalty",
        type=NumberRange(min=0),
        help="Larger values favour translations that attend to all of the source. Needs a model with attention.",
    ),
    click.option("--batch-size", type=click.IntRange(min=1), help="Number of lines that are translated at once."),
    click.option("--min-length", type=click.IntRange(min=0), help="Smallest number of symbols, with the end symbol."),
    click.option("--max-length", type=click.IntRange(min=1), help="Largest number of symbols, with the end symbol."),
    click.option(
        "--replace-unknown/--no-replace-unknown",
        default=None,
        help="Replace each unknown character by the source character that it attends to most. Needs a model with "
        "attention.",
    ),
    click.option(
        "--rerank-with",
        metavar="MODEL",
        help="Rerank the hypotheses of the beam with a model of the other direction: adds the log-probability of "
        "the source, given the hypothesis.",
    ),
    click.option(
        "--rerank-weight",
        type=NumberRange(min=0),
        help="Weight of the other direction; 0 turns it off.",
    ),
    click.option(
        "--mbr/--no-mbr",
        default=None,
        help="Minimum Bayes risk: rank the hypotheses by their mean chrF, with each hypothesis as the reference; for "
        "example with --samples 32.",
    ),
    click.option(
        "--xla/--no-xla",
        "jit_compile",
        default=None,
        help="Compile the search with XLA or not.  [default: compile the shapes of batches with enough work for it]",
    ),
)


def search_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of the search to a command. Those that are not given are None."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def reranking_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """The options of the search that LiteRT has, too."""
    return {name: options[name] for name in _RERANKING}


def options_of_full_engine(options: Mapping[str, Any]) -> list[str]:
    """The given options of the search that only TensorFlow has. A file for LiteRT has those of its export."""
    return [name for name, value in options.items() if value is not None and name not in _RERANKING]


def search_with(decoding: "DecodingConfig", options: Mapping[str, Any]) -> "DecodingConfig":
    """Put the given options into the search of a model. This needs no TensorFlow, whose import takes long.

    Args:
        decoding: the search of the model's configuration.
        options: of the command.

    Returns:
        The search with the options that are given.

    Raises:
        ConfigError: an option has a value that is not allowed, or no effect.
    """
    from bytenet.config.search_options import decoding_with

    return decoding_with(decoding, {name: value for name, value in options.items() if name != "jit_compile"})
