"""`bytenet evaluate`: translate a test set and score it."""

import json
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bytenet.cli.common.search_options import search_options
from bytenet.cli.common.translation_progress import translation_progress

if TYPE_CHECKING:
    from bytenet.evaluation.evaluate_run import Split


@click.command(short_help="Translate a test set and score it.")
@click.argument("model_path", metavar="MODEL", type=click.Path(path_type=Path))
@click.option(
    "--split",
    type=click.Choice(["train", "validation", "test"]),
    default="test",
    show_default=True,
    help="Split of the corpus.",
)
@click.option("--corpus", help="A name from `bytenet data --list`.  [default: the run's own corpus]")
@click.option("--source", type=click.Path(path_type=Path), help="Translate this file instead; needs --reference.")
@click.option("--reference", type=click.Path(path_type=Path), help="Correct translations of --source, line by line.")
@click.option(
    "--output-dir",
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder of the saved files.  [default: RUN/evaluation for a run; nothing is saved for other models]",
)
@click.option(
    "--name",
    help="Name of the saved files, and in --json.  [default: --source's name, or the split, after the name of "
    "--corpus]",
)
@click.option("--max-sentences", type=click.IntRange(min=1), help="Use only this many of the first sentences.")
@search_options
@click.option("--show", type=click.IntRange(min=0), default=0, help="Also print this many of the first translations.")
@click.option("--json", "as_json", is_flag=True, help="Print the scores as one JSON object.")
def evaluate(
    model_path: Path,
    split: "Split",
    corpus: str | None,
    source: Path | None,
    reference: Path | None,
    output_dir: Path | None,
    name: str | None,
    max_sentences: int | None,
    show: int,
    as_json: bool,
    **options: Any,
) -> None:
    """Translate a test set with MODEL and print its scores, one a line.

    MODEL is a run folder, a .bytenet file, or the name of a pretrained model. In the folder of a run, or in
    --output-dir, the scores are also saved as NAME.json, all translations as NAME.hypotheses.txt, and the first twenty
    beside source and reference as NAME.samples.md. Options of the search that are not given are those of MODEL.
    """
    if (source is None) != (reference is None):
        raise click.UsageError("--source and --reference belong together. Give both or neither.")
    if corpus is not None and source is not None:
        raise click.UsageError("--corpus and --source name two test sets. Leave out one of them.")
    if name is not None and (not name or Path(name).name != name):
        raise click.UsageError(f"--name {name!r} is not the name of a file. Give a name without slashes.")

    from bytenet.datasets import read_parallel
    from bytenet.evaluation import evaluate_run, pairs_of_split
    from bytenet.run_folder import RunFolder
    from bytenet.trained_model import open_model

    model = open_model(model_path)
    if output_dir is None and isinstance(model, RunFolder):
        output_dir = model.evaluation
    if name is not None and output_dir is None and not as_json:
        raise click.UsageError(
            f"--name names saved files, and nothing is saved for {model_path}. Give --output-dir, too."
        )
    if source is not None and reference is not None:
        pairs, default_name = read_parallel(source, reference), source.name.removesuffix(".gz")
    else:
        pairs, default_name = pairs_of_split(model, split, corpus), split
        if corpus is not None:
            default_name = f"{corpus}.{split}"
    if max_sentences is not None and max_sentences < len(pairs):
        pairs = pairs.take(range(max_sentences))
        default_name += f".first-{max_sentences}"

    with translation_progress(len(pairs)) as progress:
        evaluation = evaluate_run(
            model.path,
            pairs,
            name or default_name,
            progress=progress,
            **options,
        )
    if as_json:
        click.echo(json.dumps(evaluation.to_dict(), indent=2, ensure_ascii=False))
    else:
        for score in evaluation.scores:
            click.echo(str(score))
        texts = zip(evaluation.sources, evaluation.references, evaluation.hypotheses, strict=True)
        for source_text, reference_text, hypothesis in islice(texts, show):
            wrong = "" if hypothesis == reference_text else f"   (reference: {reference_text})"
            click.echo(f"{source_text} → {hypothesis}{wrong}")
    if evaluation.num_unended:
        click.echo(f"{evaluation.num_unended} translations reached the length limit without an end.", err=True)
    if output_dir is not None:
        paths = evaluation.save(output_dir)  # last, so that the scores are printed even if the disk is full
        click.echo(f"Saved {', '.join(map(str, paths))}.", err=True)
