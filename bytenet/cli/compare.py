"""`bytenet compare`: the translations of one or two systems, sentence by sentence."""

import csv
import io
from collections.abc import Sequence, Set
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

if TYPE_CHECKING:
    from bytenet.evaluation.comparison import Choice, Measure

_PATH = click.Path(path_type=Path)


@click.command(short_help="Show good and bad translations of one or two systems.")
@click.argument("hypothesis_files", metavar="A [B]", nargs=-1, required=True, type=_PATH)
@click.option("--reference", type=_PATH, required=True, help="The correct translations, line by line.")
@click.option("--source", type=_PATH, help="The source sentences, to show them beside the translations.")
@click.option(
    "--table", type=click.Choice(["good", "bad", "worst", "all"]), default="all", show_default=True,
    help="Which sentences to show.",
)  # fmt: skip
@click.option("--count", type=click.IntRange(min=1), default=5, show_default=True, help="Sentences in a table.")
@click.option(
    "--by", type=click.Choice(["chrf", "bleu"]), default="chrf", show_default=True,
    help="Sentence score that chooses them. bleu is the thesis's BLEU, 0 for most sentences of a weak system.",
)  # fmt: skip
@click.option(
    "--min-chars", type=click.IntRange(min=0), default=20, show_default=True,
    help="Show only sentences with a reference of at least this many characters.",
)  # fmt: skip
@click.option("--language", default="en", show_default=True, help="Language of the translations (for thesis-BLEU).")
@click.option(
    "--bootstrap", type=click.IntRange(min=0), default=1000, show_default=True,
    help="Number of resampled corpora for the 95 % intervals; 0 for none.",
)  # fmt: skip
@click.option(
    "--csv",
    "csv_path",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Also write the sentences to this file.",
)
def compare(
    hypothesis_files: tuple[Path, ...],
    reference: Path,
    source: Path | None,
    table: "Choice | Literal['all']",
    count: int,
    by: "Measure",
    min_chars: int,
    language: str,
    bootstrap: int,
    csv_path: Path | None,
) -> None:
    """Compare the translations in the file A, and in B if given, with the lines of --reference.

    Files are plain text or .gz, one sentence a line. The result is Markdown: the scores of each system, their
    difference with its interval, in how many sentences each system is better, and tables of sentences. A and B are
    resampled together; if the interval includes 0, the difference may be chance. Good and worst sentences have the
    highest and lowest scores of A. Bad sentences of A are at least 10 points below B or, without B, just below the
    lower quartile of A.
    """
    if len(hypothesis_files) > 2:
        raise click.UsageError(f"Found {len(hypothesis_files)} files of translations; expected one or two.")

    from bytenet.datasets import normalise, read_lines
    from bytenet.errors import InputError
    from bytenet.evaluation.comparison import CHOICES, COLUMNS, compare_translations
    from bytenet.evaluation.comparison_page import comparison_page
    from bytenet.files import write_text_atomic

    references = normalise(read_lines(reference))

    def read_parallel_to_references(path: Path) -> list[str]:
        lines = normalise(read_lines(path))
        if len(lines) != len(references):
            numbers = f"{path} has {len(lines)} lines but {reference} has {len(references)}"
            raise InputError(f"{numbers}; expected the same number, line by line.")
        return lines

    names = _names(hypothesis_files, {"table", *COLUMNS})
    if len(set(names)) < len(names):
        raise click.UsageError(f"{names[0]} is given twice.")
    comparison = compare_translations(
        read_parallel_to_references(source) if source else None,
        references,
        {name: read_parallel_to_references(path) for name, path in zip(names, hypothesis_files, strict=True)},
        language,
        bootstrap,
    )
    choices: tuple[Choice, ...] = CHOICES if table == "all" else (table,)
    click.echo(comparison_page(comparison, choices, count, by, min_chars), nl=False)
    if csv_path is not None:
        rows = [
            {"table": choice, **row}
            for choice in choices
            for row in comparison.rows(comparison.choose(choice, count, by, min_chars))
        ]
        text = io.StringIO()
        # All texts are quoted, because a text may have a carriage return.
        columns = ["table", *comparison.rows([0])[0]]
        writer = csv.DictWriter(text, columns, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC)
        writer.writeheader()
        writer.writerows(rows)
        write_text_atomic(csv_path, text.getvalue())
        click.echo(f"wrote {csv_path}", err=True)


def _names(paths: Sequence[Path], reserved: Set[str]) -> list[str]:
    """Names of the systems: the names of their files or, if these are equal, the parts in which the paths differ."""
    names = [path.name for path in paths]
    if len(set(names)) < len(names):
        parts = [path.absolute().parts for path in paths]
        without_start = [path_parts[_num_common(parts) :] for path_parts in parts]
        num_end = _num_common([path_parts[::-1] for path_parts in without_start])
        names = ["/".join(path_parts[: len(path_parts) - num_end]) for path_parts in without_start]
    if "" in names or not reserved.isdisjoint(names):
        names = [str(path.absolute()) for path in paths]
    return names


def _num_common(sequences: Sequence[tuple[str, ...]]) -> int:
    """The number of first items that all sequences have in common."""
    return sum(1 for _ in takewhile(lambda items: len(set(items)) == 1, zip(*sequences, strict=False)))
