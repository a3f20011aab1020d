"""`bytenet evaluate`: translate a test set and score it."""

from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from bytenet.cli.common.json_output import print_json
from bytenet.cli.common.messages import say
from bytenet.cli.common.search_options import search_options, search_with
from bytenet.cli.common.single_option import SEVERAL_REFERENCES, SingleOption
from bytenet.cli.common.translation_progress import translation_progress
from bytenet.lite.lines import message_on_limit

if TYPE_CHECKING:
    from bytenet.evaluation import Evaluation
    from bytenet.evaluation.evaluate_run import Split
    from bytenet.model_file import ModelFile
    from bytenet.run_folder import RunFolder


@click.command()
@click.argument("model_paths", metavar="MODEL...", required=True, nargs=-1, type=click.Path(path_type=Path))
@click.option(
    "--split",
    type=click.Choice(["train", "validation", "test"]),
    default="test",
    show_default=True,
    help="Split of the corpus.",
)
@click.option("--corpus", help="A name from `bytenet data --list`.  [default: the corpus of the first run]")
@click.option(
    "--source", cls=SingleOption, type=click.Path(path_type=Path),
    help="Translate this file instead; needs --reference.",
)  # fmt: skip
@click.option(
    "--reference", cls=SingleOption, advice=SEVERAL_REFERENCES, type=click.Path(path_type=Path),
    help="Correct translations of --source, line by line.",
)  # fmt: skip
@click.option(
    "--output-dir",
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder of the saved files.  [default: RUN/evaluation for one run; for other models and for several, nothing "
    "is saved]",
)
@click.option(
    "--name",
    help="Name of the saved files, and in --json.  [default: file name of --source; with --corpus, CORPUS.SPLIT; "
    "else SPLIT]",
)
@click.option("--max-sentences", type=click.IntRange(min=1), help="Number of sentences to use, from the beginning.")
@search_options
@click.option(
    "--show", type=click.IntRange(min=0), default=0, help="Number of translations to print, from the beginning."
)
@click.option("--json", "as_json", is_flag=True, help="Print the scores as one JSON object.")
@click.pass_context
def evaluate(
    context: click.Context,
    model_paths: tuple[Path, ...],
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
    --output-dir, the scores are also saved as NAME.json, all translations as NAME.hypotheses.txt, their references as
    NAME.references.txt, and twenty evenly spaced translations beside source and reference as NAME.samples.md. Options
    of the search that are not given are those of MODEL.

    Several MODEL translate together, as in `bytenet translate`. Corpus and options are then those of the first one. The
    scores belong to none of the runs, so they are saved only with --output-dir. It must not be the folder
    RUN/evaluation of one of these runs.
    """
    if (source is None) != (reference is None):
        raise click.UsageError("--source and --reference belong together. Give both or neither.")
    if corpus is not None and source is not None:
        raise click.UsageError("--corpus and --source name two test sets. Leave out one of them.")
    if source is not None and context.get_parameter_source("split") is not ParameterSource.DEFAULT:
        raise click.UsageError("--split is for a corpus. Leave it out with --source.")
    if as_json and show:
        raise click.UsageError("--json prints only scores. Leave out --show, or --json.")
    if name is not None and (not name or Path(name).name != name or name.startswith(".")):
        raise click.UsageError(
            f"--name {name!r} is not the name of a file. Give a name without slashes that does not begin with a dot."
        )

    from bytenet.datasets import read_parallel
    from bytenet.evaluation import evaluate_run, pairs_of_split
    from bytenet.output_paths import check_output_folder
    from bytenet.trained_model import open_models

    models = open_models(model_paths)
    search_with(models[0].config.decoding, options)
    output_dir = _output_dir(models, output_dir)
    if name is not None and output_dir is None and not as_json:
        given = " ".join(map(str, model_paths))
        raise click.UsageError(f"--name names saved files, and nothing is saved for {given}. Give --output-dir, too.")
    if output_dir is not None:
        check_output_folder(output_dir, "--output-dir")
    if source is not None and reference is not None:
        pairs, default_name = read_parallel(source, reference), source.name.removesuffix(".gz")
    else:
        pairs, default_name = pairs_of_split(models[0], split, corpus), split
        if corpus is not None:
            default_name = f"{corpus}.{split}"
    if max_sentences is not None and max_sentences < len(pairs):
        pairs = pairs.take(range(max_sentences))
        default_name += f".first-{max_sentences}"

    with translation_progress(len(pairs)) as progress:
        evaluation = evaluate_run(
            models[0],
            pairs,
            name or default_name,
            progress=progress,
            together_with=models[1:],
            **options,
        )
    try:
        if as_json:
            print_json(evaluation.to_dict())
        else:
            _print_scores(evaluation, show)
        if evaluation.num_unended:
            say(message_on_limit(evaluation.num_unended))
    finally:
        # Scores are printed even if the disk is full, and saved even if the reader of a pipe is gone.
        if output_dir is not None:
            paths = evaluation.save(output_dir)
            say(f"Wrote {', '.join(map(str, paths))}.")


def _print_scores(evaluation: "Evaluation", show: int) -> None:
    """Print the scores, and the first `show` translations."""
    for score in evaluation.scores:
        click.echo(str(score))
    texts = zip(evaluation.sources, evaluation.references, evaluation.hypotheses, strict=True)
    for source, reference, hypothesis in islice(texts, show):
        wrong = "" if hypothesis == reference else f"   (reference: {reference})"
        click.echo(f"{source} → {hypothesis}{wrong}")


def _output_dir(models: "Sequence[RunFolder | ModelFile]", output_dir: Path | None) -> Path | None:
    """Where the scores are saved. The folder of a run is for the scores of this run alone: reports and cards show them.

    Raises:
        UsageError: `output_dir` is such a folder, but the run is not the only model.
    """
    from bytenet.run_folder import RunFolder

    own = [model.evaluation for model in models if isinstance(model, RunFolder)]
    only = own[0] if len(models) == len(own) == 1 else None
    if output_dir is None:
        return only
    run = RunFolder(output_dir.resolve().parent)
    is_of_run = output_dir.resolve() == run.evaluation and run.config_path.exists()
    if is_of_run and (only is None or only.resolve() != run.evaluation):
        raise click.UsageError(
            f"{output_dir} is for the scores of the run {run.path} alone. Give --output-dir another folder."
        )
    return output_dir
