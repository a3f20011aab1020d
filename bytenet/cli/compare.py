"""`bytenet compare`: the translations of one or two systems, of one training each or of several."""

import csv
import io
from collections import Counter
from collections.abc import Sequence, Set
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from bytenet.cli.common.given_option import given_option
from bytenet.cli.common.json_output import print_json
from bytenet.cli.common.messages import say
from bytenet.cli.common.several_values import SeveralValuesCommand
from bytenet.cli.common.single_option import SEVERAL_REFERENCES, SingleOption

if TYPE_CHECKING:
    from bytenet.evaluation.comparison import Choice, Comparison, Measure

_PATH = click.Path(path_type=Path)
_LEAST_BOOTSTRAP = 100  # fewer do not show where 95 % of the scores lie
_FOR_SENTENCES = ("source", "table", "count", "by", "min_chars", "csv_path")


def _check_bootstrap(context: click.Context, option: click.Parameter, bootstrap: int) -> int:
    if 0 < bootstrap < _LEAST_BOOTSTRAP:
        raise click.BadParameter(f"{bootstrap} is not 0 or at least {_LEAST_BOOTSTRAP}.")
    return bootstrap


@click.command(cls=SeveralValuesCommand)
@click.argument("translations", metavar="A...", nargs=-1, required=True, type=_PATH)
@click.option(
    "--with", "others", metavar="B...", multiple=True, type=_PATH,
    help="Trainings of a second system. All A are then trainings of the first one.",
)  # fmt: skip
@click.option(
    "--reference", cls=SingleOption, advice=SEVERAL_REFERENCES, type=_PATH,
    help="The correct translations, line by line.  [default: those saved in the run folders among A and B]",
)  # fmt: skip
@click.option(
    "--name", default="test", show_default=True,
    help="Name of the evaluation to read, if A or B is a run folder (files in RUN/evaluation).",
)  # fmt: skip
@click.option(
    "--source", cls=SingleOption, type=_PATH, help="The source sentences, to show them beside the translations."
)
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
@click.option(
    "--language",
    help="Language of the translations (for BLEU).  [default: that of the first run folder; en for files]",
)
@click.option(
    "--bootstrap", type=click.IntRange(min=0), callback=_check_bootstrap, default=1000, show_default=True,
    help=f"Number of resampled corpora for the 95 % intervals, at least {_LEAST_BOOTSTRAP}; 0 for none.",
)  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print the scores as one JSON object, without sentences.")
@click.option(
    "--csv",
    "csv_path",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Also write the sentences to this file.",
)
@click.pass_context
def compare(
    context: click.Context,
    translations: tuple[Path, ...],
    others: tuple[Path, ...],
    reference: Path | None,
    name: str,
    source: Path | None,
    table: "Choice | Literal['all']",
    count: int,
    by: "Measure",
    min_chars: int,
    language: str | None,
    bootstrap: int,
    as_json: bool,
    csv_path: Path | None,
) -> None:
    """Compare the translations A, and B if given, with their references.

    \b
    bytenet compare A                 one system
    bytenet compare A B               two systems, one training each
    bytenet compare A... --with B...  two systems, several trainings each

    A and B are run folders after `bytenet evaluate`; or files, plain text or .gz, one sentence per line. If all are
    files, --reference is needed. The result is Markdown.

    One training each: the scores of each system, their difference with its interval and p-value, in how many sentences
    each system is better, the signatures of the scores, and tables of sentences. A and B are resampled together; if the
    interval includes 0, the difference may be chance. p is that of `sacrebleu --paired-bs`. Good and worst sentences
    have the highest and lowest scores of A. Bad sentences of A are at least 10 points below B or, without B, just below
    the lower quartile of A.

    Several trainings each: the score of each training, the mean and the standard deviation of each system, and the
    difference of the means. Its interval is over trainings and sentences. Give at least three trainings of each.
    """
    if not others and len(translations) > 2:
        raise click.UsageError(
            f"Found {len(translations)} sets of translations; expected one or two. Put --with before the trainings of "
            "the second system: A-1 A-2 A-3 --with B-1 B-2 B-3."
        )
    paths = [*translations, *others]
    has_trainings = len(others) > 0 and len(paths) > 2
    if has_trainings and (option := given_option(context, _FOR_SENTENCES)):
        raise click.UsageError(f"{option} is for the sentences of one training each. Leave it out.")
    run_dirs = [path for path in paths if path.is_dir()]
    if reference is None and not run_dirs:
        raise click.UsageError("--reference is missing. Only run folders have references of their own.")

    from bytenet.datasets import normalise, read_lines
    from bytenet.errors import InputError
    from bytenet.evaluation.comparison import CHOICES, COLUMNS, compare_translations
    from bytenet.evaluation.comparison_page import comparison_page, trainings_page
    from bytenet.evaluation.evaluation import hypothesis_file, reference_file
    from bytenet.evaluation.trainings_comparison import compare_trainings
    from bytenet.output_paths import check_output_file
    from bytenet.run_folder import RunFolder

    if csv_path is not None:
        check_output_file(csv_path, "--csv")
    names = _names(paths, {"table", *COLUMNS})
    repeated = [shown for shown, times in Counter(names).items() if times > 1]
    if repeated:
        raise click.UsageError(f"{repeated[0]} is given twice.")
    files = [hypothesis_file(path, name) if path in run_dirs else path for path in paths]
    if reference is None:
        reference = reference_file(run_dirs, name)
    if language is None:
        language = RunFolder(run_dirs[0]).config.data.languages[1] if run_dirs else "en"
    references = normalise(read_lines(reference))

    def read_parallel_to_references(path: Path) -> list[str]:
        lines = normalise(read_lines(path))
        if len(lines) != len(references):
            numbers = f"{path} has {len(lines)} lines but {reference} has {len(references)}"
            raise InputError(f"{numbers}; expected the same number, line by line.")
        return lines

    named = list(zip(names, map(read_parallel_to_references, files), strict=True))
    if has_trainings:
        systems = {"A": dict(named[: len(translations)]), "B": dict(named[len(translations) :])}
        trainings = compare_trainings(references, systems, language, bootstrap)
        if as_json:
            print_json(trainings.to_dict())
        else:
            click.echo(trainings_page(trainings), nl=False)
        return
    sources = read_parallel_to_references(source) if source else None
    comparison = compare_translations(sources, references, dict(named), language, bootstrap)
    choices: tuple[Choice, ...] = CHOICES if table == "all" else (table,)
    try:
        if as_json:
            print_json(comparison.to_dict())
        else:
            click.echo(comparison_page(comparison, choices, count, by, min_chars), nl=False)
    finally:  # also if the reader of a pipe is gone
        if csv_path is not None:
            chosen = [(choice, comparison.choose(choice, count, by, min_chars)) for choice in choices]
            _write_csv(csv_path, comparison, chosen)


def _write_csv(path: Path, comparison: "Comparison", chosen: Sequence[tuple[str, Sequence[int]]]) -> None:
    """Write tables of sentences, each with its name and the indices of its sentences."""
    from bytenet.files import write_text_atomic

    text = io.StringIO()
    # All texts are quoted, because a text may have a carriage return.
    columns = ["table", *comparison.rows([0])[0]]
    writer = csv.DictWriter(text, columns, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC)
    writer.writeheader()
    for table, indices in chosen:
        writer.writerows({"table": table, **row} for row in comparison.rows(indices))
    write_text_atomic(path, text.getvalue())
    say(f"Wrote {path}.")


def _names(paths: Sequence[Path], reserved: Set[str]) -> list[str]:
    """Names of the translations: those of their files or, if these are equal, the parts in which the paths differ."""
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
