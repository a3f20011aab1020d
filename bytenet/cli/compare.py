"""`bytenet compare`: translations of one or two systems, sentence by sentence."""

import csv
import io
from collections.abc import Sequence, Set
from itertools import takewhile
from pathlib import Path

import click

_PATH = click.Path(path_type=Path)


@click.command(short_help="Show good and bad translations of one or two systems.")
@click.argument("hypothesis_files", metavar="A [B]", nargs=-1, required=True, type=_PATH)
@click.option("--reference", type=_PATH, required=True, help="The right translations, line by line.")
@click.option("--source", type=_PATH, help="What was translated, to be shown beside it.")
@click.option(
    "--table", type=click.Choice(["good", "bad", "worst", "all"]), default="all", show_default=True,
    help="Which sentences to show.",
)  # fmt: skip
@click.option("--count", type=click.IntRange(min=1), default=5, show_default=True, help="Sentences a table.")
@click.option(
    "--by", type=click.Choice(["chrf", "bleu"]), default="chrf", show_default=True,
    help="Sentence score that chooses them; bleu is the thesis's, 0 for most sentences of a weak system.",
)  # fmt: skip
@click.option(
    "--min-chars", type=click.IntRange(min=0), default=20, show_default=True,
    help="Show only sentences whose reference has so many characters.",
)  # fmt: skip
@click.option("--language", default="en", show_default=True, help="Of the translations, for the thesis's BLEU.")
@click.option(
    "--bootstrap", type=click.IntRange(min=0), default=1000, show_default=True,
    help="Resampled corpora for the 95 % intervals; 0 for none.",
)  # fmt: skip
@click.option(
    "--csv",
    "csv_path",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Also write the sentences shown into this file.",
)
def compare(
    hypothesis_files: tuple[Path, ...],
    reference: Path,
    source: Path | None,
    table: str,
    count: int,
    by: str,
    min_chars: int,
    language: str,
    bootstrap: int,
    csv_path: Path | None,
) -> None:
    """Compare the translations in the file A, and in B where given, with the lines of --reference.

    Files are plain text or .gz, a sentence a line. Prints Markdown: the scores of each system, their difference
    with its interval (A and B resampled together: where it holds 0, the difference may be chance), in how many
    sentences each is better, and tables of sentences. Good and worst are the highest and lowest scores of A; bad is
    where A is at least 10 points below B, or, without B, what lies just below the lower quartile of A.
    """
    if len(hypothesis_files) > 2:
        raise click.UsageError(f"Give one or two files of translations, not {len(hypothesis_files)}.")

    from bytenet.datasets import read_lines
    from bytenet.datasets.text.normalisation import normalise
    from bytenet.errors import InputError
    from bytenet.evaluation.comparison import CHOICES, COLUMNS, compare_translations, comparison_page
    from bytenet.files import write_text_atomic

    references = normalise(read_lines(reference))

    def read_beside(path: Path) -> list[str]:
        lines = normalise(read_lines(path))
        if len(lines) != len(references):
            raise InputError(
                f"{path} has {len(lines)} lines but {reference} has {len(references)}; expected as many, line by line."
            )
        return lines

    names = _names(hypothesis_files, {"table", *COLUMNS})
    if len(set(names)) < len(names):
        raise click.UsageError(f"{names[0]} is given twice.")
    comparison = compare_translations(
        read_beside(source) if source else None,
        references,
        {name: read_beside(path) for name, path in zip(names, hypothesis_files, strict=True)},
        language,
        bootstrap,
    )
    choices = CHOICES if table == "all" else (table,)
    click.echo(comparison_page(comparison, choices, count, by, min_chars), nl=False)
    if csv_path is not None:
        rows = [
            {"table": choice, **row}
            for choice in choices
            for row in comparison.rows(comparison.choose(choice, count, by, min_chars))
        ]
        text = io.StringIO()
        writer = csv.DictWriter(text, ["table", *comparison.rows([0])[0]], lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
        write_text_atomic(csv_path, text.getvalue())
        click.echo(f"wrote {csv_path}", err=True)


def _names(paths: Sequence[Path], taken: Set[str]) -> list[str]:
    """Names of the systems: of the files or, where those are the same, what their paths differ in."""
    names = [path.name for path in paths]
    if len(set(names)) < len(names):
        parts = [path.absolute().parts for path in paths]
        differing = [those[_num_common(parts) :] for those in parts]
        num_last = _num_common([those[::-1] for those in differing])
        names = ["/".join(those[: len(those) - num_last]) for those in differing]
    if "" in names or not taken.isdisjoint(names):
        names = [str(path.absolute()) for path in paths]
    return names


def _num_common(sequences: Sequence[tuple[str, ...]]) -> int:
    """How many items all begin with."""
    return sum(1 for _ in takewhile(lambda items: len(set(items)) == 1, zip(*sequences, strict=False)))
