"""`bytenet data back-translate`: make synthetic pairs of text without translations."""

import sys
from pathlib import Path
from typing import Any

import click

from bytenet.cli.common.search_options import search_options
from bytenet.cli.common.set_option import set_option


@click.command(short_help="Make pairs of text without translations, with a model of the other direction.")
@click.argument("model")
@click.argument("preset_or_file")
@click.argument("folder", type=click.Path(path_type=Path))
@set_option("data.num_monolingual=20000")
@click.option(
    "--max-ratio",
    type=click.FloatRange(min=1),
    default=3,
    show_default=True,
    help="Most characters of the longer side for each one of the shorter side; inf for no limit.",
)
@search_options
def back_translate(
    model: str, preset_or_file: str, folder: Path, overrides: tuple[str, ...], max_ratio: float, **options: Any
) -> None:
    """Translate the target-language text of PRESET_OR_FILE with MODEL, and save the pairs in FOLDER.

    MODEL translates in the other direction: from the target language to the source language. It is a run folder, a
    .bytenet file or the name of a model that ships. The text is data.monolingual_target, or that of the corpus, within
    the limits of data.min_length, max_length and num_monolingual.

    \b
    Then train on these pairs beside the real ones:
      bytenet train PRESET_OR_FILE --run RUN \\
        --set data.synthetic_source=FOLDER/synthetic.de \\
        --set data.synthetic_target=FOLDER/synthetic.en

    Options of the search that are not given are those of MODEL, but the search is greedy.
    """
    from bytenet.config import load_config
    from bytenet.datasets import read_corpus, select_monolingual
    from bytenet.errors import InputError
    from bytenet.files import write_text_atomic
    from bytenet.model_file import open_model

    data = load_config(preset_or_file, overrides).data
    backward = open_model(model)
    if backward.config.data.languages != data.languages[::-1]:
        raise InputError(
            f"{backward.path} translates {' to '.join(backward.config.data.languages)}. Back-translation of the text "
            f"of {preset_or_file} needs a model from {' to '.join(data.languages[::-1])}."
        )
    corpus = read_corpus(data)
    if not corpus.monolingual_target:
        raise InputError(
            f"The corpus {corpus.name} has no text without translations on its target side. Set "
            "data.monolingual_target to a file."
        )
    selected = select_monolingual(corpus.monolingual_target, data, backward.vocabulary)
    if not selected.texts:
        raise InputError("No sentence of the text is within the limits of data.min_length and data.max_length.")

    from bytenet.decoding import Translator
    from bytenet.decoding.back_translation import back_translate as make_pairs

    options["beam_size"] = options["beam_size"] or 1
    translator = Translator.from_run(backward.path, **options)
    with click.progressbar(length=len(selected.texts), label="Translating", file=sys.stderr) as bar:
        result = make_pairs(translator, selected.texts, max_ratio, lambda done: bar.update(done - bar.pos))
    folder.mkdir(parents=True, exist_ok=True)
    paths = {key: folder / f"synthetic.{getattr(data, f'{key}_language')}" for key in ("source", "target")}
    pairs = result.pairs.reversed() if data.reversed else result.pairs
    for key, path in paths.items():
        write_text_atomic(path, "".join(f"{line}\n" for line in getattr(pairs, key)))
    click.echo(
        f"{len(result.pairs):,} pairs. Left out: {selected.outside_limits:,} sentences because of their length, "
        f"{selected.unknown_characters:,} with characters that {backward.path.name} does not know, "
        f"{result.num_unended:,} whose translation has no end, {result.num_odd:,} with odd lengths.",
        err=True,
    )
    click.echo(f"--set data.synthetic_source={paths['source']} --set data.synthetic_target={paths['target']}")
