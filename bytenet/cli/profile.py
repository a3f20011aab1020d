"""`bytenet profile`: where the time of a training step or of a search goes."""

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bytenet import compile_cache
from bytenet.cli.common.messages import say
from bytenet.cli.common.set_option import set_option
from bytenet.cli.common.sized_config import check_is_named, read_sized_config

if TYPE_CHECKING:
    from bytenet.config import Config


_NUMBER = re.compile("[0-9]{1,18}")


class _Steps(click.ParamType):
    """Two step numbers, such as 10:14."""

    name = "FIRST:LAST"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[int, int]:
        if isinstance(value, tuple):
            return value
        first, _, last = value.partition(":")
        if not (_NUMBER.fullmatch(first) and _NUMBER.fullmatch(last) and 1 <= int(first) <= int(last)):
            self.fail(
                f"{value!r} is not two step numbers such as 10:14. They must be in order, and at least 1.", param, ctx
            )
        return int(first), int(last)


@click.command()
@click.argument("preset_or_file", required=False)
@set_option()
@click.option("--out", type=click.Path(path_type=Path), help="New folder for the trace, the tables and the pictures.")
@click.option(
    "--steps",
    type=_Steps(),
    help="Training steps to capture, counted from 1.  [default: early steps without a new batch shape]",
)
@click.option(
    "--xla/--no-xla",
    default=None,
    help="Compile with XLA, or not.  [default: as in training; with --decode, not]",
)
@click.option("--decode", is_flag=True, help="Capture searches instead of training steps.")
@click.option("--beam-size", type=click.IntRange(min=1), help="With --decode: hypotheses; 1 is greedy.  [default: 1]")
@click.option("--batch-size", type=click.IntRange(min=1), help="With --decode: sentences at once.  [default: 1]")
@click.option(
    "--length", type=click.IntRange(min=1),
    help="With --decode: characters of each translation; the sources are the first sentences of the corpus.  "
    "[default: 100]",
)  # fmt: skip
@click.option(
    "--trace",
    type=click.Path(path_type=Path),
    help="Do not capture; read this .xplane.pb file, or the newest one in this folder.",
)
@click.option("--json", "as_json", is_flag=True, help="Print all values as JSON instead of the tables.")
def profile(
    preset_or_file: str | None,
    overrides: tuple[str, ...],
    out: Path | None,
    steps: tuple[int, int] | None,
    xla: bool | None,
    decode: bool,
    beam_size: int | None,
    batch_size: int | None,
    length: int | None,
    trace: Path | None,
    as_json: bool,
) -> None:
    """Capture some steps of real training, and show where their time goes, by part of the model.

    PRESET_OR_FILE is as in `bytenet train`, and can be left out with --set data.corpus=NAME. It may also be the folder
    of a run, whose configuration is then used. The tables are printed. The folder --out keeps them as text, JSON and
    CSV, with two pictures and the trace, which TensorBoard can show.
    """
    if not decode and (beam_size or batch_size or length):
        raise click.UsageError(
            "--beam-size, --batch-size and --length are for decoding; add --decode, or leave them out."
        )
    if trace is None:
        name, logdir = ("decoding" if decode else "training"), out
        search = (beam_size or 1, batch_size or 1, length or 100) if decode else None
        trace = _capture(preset_or_file, overrides, out, name, steps, xla, search)
    elif preset_or_file is not None:
        raise click.UsageError("Give either PRESET_OR_FILE, to capture a trace, or --trace, to read one.")
    elif overrides or steps or decode or xla is not None:
        raise click.UsageError("--trace captures nothing: --set, --steps, --decode and --xla have no meaning with it.")
    else:
        name, logdir = "trace", None

    from bytenet.profiling.traces.breakdown import breakdown
    from bytenet.profiling.traces.breakdown_report import save_report, to_json, to_text
    from bytenet.profiling.traces.trace import read_trace

    say("reading the trace ...")
    contents = read_trace(trace)
    result = breakdown(contents)
    try:
        click.echo(to_json(result) if as_json else to_text(result), nl=False)
    finally:  # also if the reader of a pipe is gone
        if out is not None:
            paths = save_report(contents, result, out, name)
            say(f"Wrote {', '.join(map(str, paths))}.")
    _say_how_to_look(contents.path, logdir)


def _capture(
    preset_or_file: str | None,
    overrides: tuple[str, ...],
    out: Path | None,
    name: str,
    steps: tuple[int, int] | None,
    xla: bool | None,
    search: tuple[int, int, int] | None,
) -> Path:
    """Capture a trace in the folder `name` of `out`, and return its path.

    Args:
        preset_or_file, overrides, out, steps, xla: of the command.
        name: of the folder for the trace.
        search: beam size, batch size and length of the searches to capture; None captures training steps.
    """
    example = "bytenet profile multi30k --out profiles/multi30k; or, to read a trace: bytenet profile --trace FOLDER"
    check_is_named(preset_or_file, overrides, example)
    if out is None:
        raise click.UsageError("Missing --out, a new folder for the trace, for example: --out profiles/multi30k")
    if steps is not None and search is not None:
        raise click.UsageError("--steps is for training. With --decode three searches are captured.")
    compile_cache.turn_off()  # before TensorFlow is imported; programs from the cache have lost their names
    config = _config(preset_or_file, overrides, xla)
    from bytenet.profiling.traces.capture import Search, capture_decoding_of, capture_training

    if search is not None:
        return capture_decoding_of(config, out / name, Search(*search, jit_compile=bool(xla)))
    return capture_training(config, out / name, steps, say=say)


def _config(preset_or_file: str | None, overrides: tuple[str, ...], xla: bool | None) -> "Config":
    from bytenet.config import preset_names

    if preset_or_file is not None and preset_or_file not in preset_names() and Path(preset_or_file).is_dir():
        from bytenet.run_folder import RunFolder

        preset_or_file = str(RunFolder.open(preset_or_file).config_path)
    compiled = () if xla is None else (f"training.jit_compile={str(xla).lower()}",)
    return read_sized_config(preset_or_file, (*overrides, *compiled))


def _say_how_to_look(trace: Path, logdir: Path | None) -> None:
    """Print the command that opens the trace in TensorBoard, or what is missing for it.

    Args:
        trace: the trace file.
        logdir: TensorBoard's --logdir; None finds it from the path of the file.
    """
    from bytenet.errors import InputError
    from bytenet.profiling.traces.tensorboard import check_profile_plugin, logdir_of, tensorboard_command

    folder = logdir_of(trace)
    if folder is None:
        say(
            f"To see {trace} in TensorBoard, move it to FOLDER/plugins/profile/NAME/, and run: "
            "tensorboard --logdir FOLDER"
        )
        return
    try:
        check_profile_plugin()
    except InputError as error:
        say(str(error))
    else:
        say(f"To see it in a browser (tab Profile): {tensorboard_command(logdir or folder)}")
