"""Options of the search for translations, which several commands have."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import click

NOT_FOR_LITE = (
    "With --engine lite, the options of the search are those of the export, except --rerank-with and --rerank-weight. "
    "For other options, leave out --engine lite."
)
"""The message about an option of the search that LiteRT does not have."""

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
        type=click.FloatRange(min=0, min_open=True),
        help="For --samples: below 1, likely characters are drawn more often; above 1, unlikely ones.",
    ),
    click.option(
        "--top-k", type=click.IntRange(min=0), help="For --samples: draw only the K likeliest characters; 0 is all."
    ),
    click.option(
        "--top-p",
        type=click.FloatRange(min=0, max=1, min_open=True),
        help="For --samples: draw only from the smallest set of likeliest characters with this probability in all.",
    ),
    click.option("--seed", type=click.IntRange(min=0), help="Seed of the random translations (--samples)."),
    click.option("--length-penalty", type=click.FloatRange(min=0), help="Larger values favour longer translations."),
    click.option(
        "--length-penalty-rule",
        type=click.Choice(["gnmt", "length"]),
        help="What log-probabilities are divided by: a power of (5 + length) / 6, or of the length.",
    ),
    click.option(
        "--coverage-penalty",
        type=click.FloatRange(min=0),
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
        type=click.FloatRange(min=0),
        help="Weight of the other direction; 0 turns it off.",
    ),
    click.option(
        "--mbr/--no-mbr",
        default=None,
        help="Minimum Bayes risk: rank the hypotheses by their mean similarity (chrF) to the others, for example with "
        "--samples 32.",
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


def read_dictionary(path: Path | None) -> Mapping[str, str] | None:
    """Read a dictionary for the replacement of unknown characters: a line for each entry, "character TAB translation".

    Characters are normalised (NFC), as those of the sentences are.

    Raises:
        InputError: a line has another form.
    """
    if path is None:
        return None
    from bytenet.datasets import read_lines
    from bytenet.datasets.text.normalisation import normalise
    from bytenet.errors import InputError

    entries: dict[str, str] = {}
    for number, line in enumerate(normalise(read_lines(path)), start=1):
        character, tab, translation = line.partition("\t")
        if not tab or len(character) != 1:
            raise InputError(f"{path}:{number}: expected one character, a tab and its translation; found {line!r}.")
        entries[character] = translation
    return entries
