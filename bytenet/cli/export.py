"""`bytenet export`: save a trained model for other programs."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bytenet.cli.common.messages import say
from bytenet.cli.common.search_options import search_options, search_with

if TYPE_CHECKING:
    from bytenet.decoding.export import Engines, Format, Precision

_MOST_CARD_BYTES = 1 << 20


@click.command()
@click.argument("run", metavar="MODEL", type=click.Path(path_type=Path))
@click.argument("out", metavar="OUT", type=click.Path(path_type=Path))
@click.option(
    "--format", "form", type=click.Choice(["bytenet", "saved-model", "litert"]),
    help="What to write.  [default: follows from the ending of OUT: .bytenet, none, .tflite]",
)  # fmt: skip
@click.option(
    "--precision", type=click.Choice(["float32", "float16", "int8"]), default="float32", show_default=True,
    help="Precision of the weights in a file. float16 halves the file. int8 is smaller than float16 only with "
    "--engine lite, and changes more translations.",
)  # fmt: skip
@click.option(
    "--engine", "engines", type=click.Choice(["both", "full", "lite"]), default="both", show_default=True,
    help="What reads a .bytenet file: TensorFlow (full), LiteRT (lite), or both.",
)  # fmt: skip
@click.option(
    "--card", "card_path", type=click.Path(path_type=Path, dir_okay=False),
    help="A text about the model, Markdown, for a .bytenet file. {facts} in it becomes the list of what the run folder "
    "says.  [default: this list]",
)  # fmt: skip
@search_options
def export(
    run: Path,
    out: Path,
    form: "Format | None",
    precision: "Precision",
    engines: "Engines",
    card_path: Path | None,
    **options: Any,
) -> None:
    """Export MODEL, with its vocabulary and its search, as OUT. MODEL is a run folder, a .bytenet file, or the name of
    a pretrained model.

    \b
    bytenet export MODEL de-en.bytenet   one file to send: for `bytenet translate` and for bytenet-lite
    bytenet export MODEL saved-model     a folder for TensorFlow and TensorFlow Serving: text in, text out
    bytenet export MODEL search.tflite   the search alone, for LiteRT on small machines: ids in, ids out

    The options of the search become part of OUT. Those that are not given come from the configuration of MODEL. --xla
    is for a SavedModel, and is off by default.
    """
    from bytenet.output_paths import check_file, check_new_folder
    from bytenet.saved.export_forms import check_name, form_of, problem_of_arguments
    from bytenet.trained_model import open_model

    folder = open_model(run)
    jit_compile = bool(options.pop("jit_compile"))
    form = form or form_of(out)
    if problem := problem_of_arguments(form, precision, engines, jit_compile, None, None, card_path):
        raise click.UsageError(problem)
    check_name(out, form)
    if form == "saved-model":
        check_new_folder(out)
    else:
        check_file(out)
    search_with(folder.config.decoding, options)
    text = _read_card(card_path) if card_path else ""

    from bytenet.decoding import Translator
    from bytenet.decoding.export.card import model_card

    card = model_card(folder, precision, text) if form == "bytenet" else None
    translator = Translator.from_run(folder, **options)
    say(f"Converting {run} ...")  # for LiteRT, this takes most of a minute
    done = "Replaced" if out.exists() else "Wrote"
    translator.export(out, form=form, precision=precision, engines=engines, jit_compile=jit_compile, card=card)
    num_bytes = (
        sum(path.stat().st_size for path in out.rglob("*") if path.is_file()) if out.is_dir() else out.stat().st_size
    )
    say(f"{done} {out}: {num_bytes / 1e6:.1f} MB.")


def _read_card(path: Path) -> str:
    from bytenet.errors import InputError, MissingFileError
    from bytenet.limits import read_limited

    try:
        return read_limited(path, _MOST_CARD_BYTES, "the text of a card").decode("utf-8")
    except MissingFileError:
        raise MissingFileError(f"There is no file {path}. Give --card the path of a Markdown text.") from None
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not UTF-8 at byte {error.start}. Save the card as UTF-8.") from None
