"""`bytenet attention`: what the symbols of translations attend to."""

from itertools import chain
from pathlib import Path

import click

from bytenet.cli.common.unknown_characters import say_unknown


@click.command()
@click.argument("model_path", metavar="MODEL", type=click.Path(path_type=Path))
@click.argument("source", required=False, type=click.Path(path_type=Path))
@click.option("--text", "texts", multiple=True, help="A sentence, instead of a file; may be repeated.")
@click.option(
    "--target",
    type=click.Path(path_type=Path),
    help="Translations of SOURCE, line by line.  [default: the model's own]",
)
@click.option("--output", type=click.Path(path_type=Path), help="Folder for the files.  [default: RUN/attention]")
@click.option(
    "--max-sentences", type=click.IntRange(min=1), default=10, show_default=True,
    help="Largest number of sentences to draw, from the beginning.",
)  # fmt: skip
def attention(
    model_path: Path,
    source: Path | None,
    texts: tuple[str, ...],
    target: Path | None,
    output: Path | None,
    max_sentences: int,
) -> None:
    """Draw the attention of MODEL on the sentences of SOURCE and their translations.

    MODEL is a run folder, a .bytenet file, or the name of a pretrained model. For the last two, give --output.

    Each sentence gives a picture, N.png, and all weights, N.json. The first panel of a picture is the alignment: the
    mean over the heads of the last layer, or over all layers of ConvS2S. The other panels are the layers. Darkness is
    the square root of the weight. Blank lines are left out, but not with --target.
    """
    if (source is None) == (not texts):
        raise click.UsageError("Give SOURCE or --text, but not both.")
    if target is not None and source is None:
        raise click.UsageError("--target needs SOURCE.")

    from bytenet.datasets import Pairs, read_lines, read_parallel
    from bytenet.lite.white_space import is_blank, readable
    from bytenet.output_paths import check_output_folder
    from bytenet.run_folder import RunFolder
    from bytenet.trained_model import open_model

    folder = open_model(model_path)
    if output is None:
        if not isinstance(folder, RunFolder):
            raise click.UsageError(f"{model_path} is not a run folder. Give --output, the folder for the pictures.")
        output = folder.path / "attention"
    check_output_folder(output, "--output")
    given = read_parallel(source, target) if source is not None and target is not None else None

    from bytenet.decoding import Translator
    from bytenet.evaluation.sentence_attention import attention_of_pairs, check_attention

    translator = Translator.from_run(folder, rerank_weight=0.0)
    check_attention(translator.model)  # before the translation, which takes long
    ended = None
    known = translator.vocabulary.known
    if given is not None:
        taken = given.take(range(min(max_sentences, len(given))))
        pairs = Pairs([readable(line, known) for line in taken.source], taken.target)
    else:
        lines = list(texts) if source is None else read_lines(source)
        lines = [readable(line, known) for line in lines if not is_blank(line)][:max_sentences]
        if not lines:
            raise click.UsageError("There is no sentence to draw: all lines are blank.")
        translations = [best for [best] in translator.translate(lines, split_sentences=False)]
        pairs = Pairs(lines, [translation.text for translation in translations])
        ended = [translation.ended for translation in translations]
    say_unknown(translator.vocabulary, pairs.source if given is None else chain(pairs.source, pairs.target))
    attentions = attention_of_pairs(translator.model, translator.vocabulary, pairs, translator.trained_lengths, ended)
    for number, sentence in enumerate(attentions, start=1):
        _, picture = sentence.save(output, str(number))
        click.echo(str(picture))
