"""`bytenet data back-translate`: translate monolingual text into training pairs."""

import shlex
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bytenet.cli.common.max_ratio_option import max_ratio_option
from bytenet.cli.common.messages import say
from bytenet.cli.common.search_options import search_options
from bytenet.cli.common.set_option import set_option
from bytenet.cli.common.translation_progress import translation_progress

if TYPE_CHECKING:
    from bytenet.config import DataConfig
    from bytenet.datasets import SelectedTexts
    from bytenet.model_file import ModelFile
    from bytenet.run_folder import RunFolder


@click.command()
@click.argument("model")
@click.argument("preset_or_file")
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False))
@set_option("data.num_monolingual=20000")
@max_ratio_option
@search_options
def back_translate(
    model: str, preset_or_file: str, folder: Path, overrides: tuple[str, ...], max_ratio: float, **options: Any
) -> None:
    """Translate the monolingual target text of PRESET_OR_FILE with MODEL, and save the pairs in FOLDER.

    MODEL is a run folder, a .bytenet file or the name of a pretrained model. It translates from the target language to
    the source language. The text is data.monolingual_target, or that of the corpus (with data.reversed:
    data.monolingual_source), within the limits of data.min_length, max_length and num_monolingual.

    The last line of the output has the settings for `bytenet train PRESET_OR_FILE`, which then learns from these pairs,
    too. Without --beam-size and --samples, the search is greedy. The defaults of the other search options are those of
    MODEL.

    The finished translations are in FOLDER. If the command is interrupted, the same command continues after them.
    """
    from bytenet.config.settings_text import write_value
    from bytenet.errors import InputError
    from bytenet.files import write_text_atomic
    from bytenet.folder_lock import alone_in
    from bytenet.presets.by_size import load_sized_config
    from bytenet.trained_model import open_model

    # A configuration may name the files that this command is about to make.
    overrides = (*overrides, "data.synthetic_source=", "data.synthetic_target=")
    data = load_sized_config(preset_or_file, overrides).config.data
    paths = {side: folder / f"{side}.{getattr(data, f'{side}_language')}" for side in ("source", "target")}
    partial = folder / "translations.partial"
    _refuse_to_overwrite(paths.values(), partial)
    backward = open_model(model)
    selected = _select_texts(data, backward)

    from bytenet.decoding import Translator
    from bytenet.decoding.back_translation import SavedTranslations
    from bytenet.decoding.back_translation import back_translate as make_pairs
    from bytenet.run_folder import RunFolder

    if not options["samples"]:
        options["samples"] = 0
        if options["beam_size"] is None:
            options |= {"beam_size": 1, "mbr": options["mbr"] or False}
    translator = Translator.from_run(backward.path, **options)
    reranker = translator.decoding.rerank_with
    models = [backward] if reranker is None else [backward, open_model(reranker)]
    weights = [model.model_path if isinstance(model, RunFolder) else model.path for model in models]
    folder.mkdir(parents=True, exist_ok=True)
    with alone_in(folder, "back-translates text"):
        _refuse_to_overwrite(paths.values(), partial)  # another process may have ended by now
        saved = SavedTranslations(partial, weights, translator, selected.texts)
        if saved.translations:
            say(f"Going on after {len(saved.translations):,} of {len(selected.texts):,} sentences.")
        with translation_progress(len(selected.texts)) as progress:
            result = make_pairs(translator, selected.texts, saved, max_ratio, progress)
    say(
        f"Pairs: {len(result.pairs):,}. Left out: {selected.outside_limits:,} sentences because of their length, "
        f"{selected.unknown_characters:,} with characters that {backward.path.name} does not know, "
        f"{result.num_unended:,} whose translation has no end, {result.num_uneven:,} with uneven lengths."
    )
    if not len(result.pairs):
        helpful = {
            "--max-ratio": result.num_uneven,
            "--max-length": result.num_unended and translator.decoding.max_length,
        }
        limits = " or ".join(name for name, helps in helpful.items() if helps)
        raise InputError(
            f"No pair is left: of {len(selected.texts):,} translations, {result.num_unended:,} have no end or are "
            f"blank, and {result.num_uneven:,} are much longer or shorter than the text. Use a better trained model "
            f"than {backward.path}{limits and f', or raise {limits}'}."
        )
    pairs = result.pairs.reversed() if data.reversed else result.pairs
    for side, path in paths.items():
        write_text_atomic(path, "".join(f"{line}\n" for line in getattr(pairs, side)))
    saved.remove()
    settings = (f"data.synthetic_{side}={write_value(str(path))}" for side, path in paths.items())
    click.echo(" ".join(f"--set {shlex.quote(setting)}" for setting in settings))


def _refuse_to_overwrite(paths: Iterable[Path], partial: Path) -> None:
    """Raise an InputError if a result exists, unless an interrupted command left it beside unfinished translations."""
    from bytenet.errors import InputError

    for path in paths:
        if path.exists() and not partial.exists():
            raise InputError(f"{path} exists. Give another folder, or delete it.")


def _select_texts(data: "DataConfig", backward: "RunFolder | ModelFile") -> "SelectedTexts":
    """The sentences to translate.

    Raises:
        InputError: there are none, or the model has another direction.
    """
    from bytenet.datasets import read_corpus, select_monolingual
    from bytenet.errors import InputError
    from bytenet.lite.languages import check_direction

    languages, found = data.languages[::-1], backward.config.data.languages
    wanted = str(not data.reversed).lower()
    advice = f" Train one: bytenet train PRESET_OR_FILE --set data.reversed={wanted} --run DIR"
    check_direction(
        backward.path, found, languages, f"Back-translation of text in {languages[0]}",
        advice if found == data.languages else "",
    )  # fmt: skip
    corpus = read_corpus(data)
    side = "source" if data.reversed else "target"
    if not corpus.monolingual_target:
        raise InputError(
            f"The corpus {corpus.name} has no monolingual text in {languages[0]}. Set data.monolingual_{side} to a "
            "file."
        )
    selected = select_monolingual(corpus.monolingual_target, data, backward.vocabulary)
    if not selected.texts:
        raise InputError(
            f"None of the {len(corpus.monolingual_target):,} sentences can be used: {selected.outside_limits:,} are "
            f"outside data.min_length and data.max_length, and {selected.unknown_characters:,} have characters that "
            f"{backward.path} does not know. Change the limits, or give text with known characters."
        )
    return selected
