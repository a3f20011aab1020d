"""The command `bytenet`. Each verb is a module, imported when the verb is called.

Exit codes: 0 success; 1 failure, explained by a message; 2 wrong use or a wrong setting; 130 interrupted. Results go to
stdout; messages and progress go to stderr.
"""

import io
import logging
import os
import sys
import traceback

import click

from bytenet import __version__, compile_cache
from bytenet.cli.common.backends import BACKENDS, advice_on_missing, choose_backend
from bytenet.cli.common.lazy_group import LazyGroup
from bytenet.cli.common.messages import say
from bytenet.errors import ConfigError, InputError, shortened
from bytenet.lite.native_messages import drop_remarks
from bytenet.memory_allocator import keep_freed_memory

_VERBS = {
    "data": "Look at a corpus before training, or split a large one into shards.",
    "settings": "Print all settings of a configuration, with explanations.",
    "train": "Train a model, or resume a stopped training.",
    "prepare": "Prepare a training for a machine without TensorFlow.",
    "fit": "Train in a prepared run folder, with JAX, PyTorch or TensorFlow.",
    "launch": "Train with several workers on this machine.",
    "average": "Average the last checkpoints of a run into one model.",
    "translate": "Translate lines of text.",
    "models": "List the pretrained models.",
    "attention": "Draw what each character of a translation attends to.",
    "score": "Print the log-probability of given translations.",
    "export": "Export a model for other programs, as one file or folder.",
    "evaluate": "Translate a test set and score it.",
    "compare": "Compare the translations of one or two systems.",
    "benchmark": "Measure speed and memory on this machine.",
    "profile": "Show where the time of training or decoding goes.",
    "reproduce": "Regenerate the thesis's figures and tables.",
    "serve": "Run a translation server for programs and browsers, over HTTP.",
    "report": "Write a page about a run: command, time, curves, scores.",
}


class _Warnings(logging.Handler):
    """Prints what goes through `logging`, with a mark."""

    def emit(self, record: logging.LogRecord) -> None:
        mark = "error" if record.levelno >= logging.ERROR else "warning"
        say(f"{mark}: {self.format(record)}")


class _WrongSetting(click.ClickException):
    """A mistake in the configuration."""

    exit_code = 2


class _Commands(LazyGroup):
    """The verbs. A user's mistake ends in a message and an exit code, not in a traceback."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        resolved = super().resolve_command(ctx, args)
        if not {*args} & {*ctx.help_option_names}:
            choose_backend(resolved[0])
        return resolved

    def invoke(self, ctx: click.Context) -> None:
        try:
            super().invoke(ctx)
        except KeyboardInterrupt as interrupt:
            say(str(interrupt) or "Interrupted.")
            ctx.exit(130)
        except click.ClickException as error:
            error.message = shortened(error.message)  # type: ignore[misc]  # final for type checkers only
            raise
        except BrokenPipeError:
            raise  # click ends quietly when the reader of a pipe (`| head`) is gone
        except ModuleNotFoundError as error:
            if error.name not in BACKENDS or ctx.params["traceback"]:
                raise
            raise click.ClickException(advice_on_missing(error.name, ctx.invoked_subcommand)) from error
        except (InputError, OSError) as error:
            if ctx.params["traceback"]:
                traceback.print_exc()
            failure = _WrongSetting if isinstance(error, ConfigError) else click.ClickException
            raise failure(shortened(str(error))) from error


@click.group(cls=_Commands, package=__name__, verbs=_VERBS, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="bytenet")
@click.option(
    "--traceback",
    is_flag=True,
    envvar="BYTENET_TRACEBACK",
    help="Show where in the program an error came up (also: BYTENET_TRACEBACK=1).",
)
def _group(traceback: bool) -> None:
    """Character-level translation with ByteNet and other families of models: train, translate, measure."""


def main() -> None:
    """Run the command with the arguments of this process, and exit."""
    # TensorFlow's remarks on the machine would hide the messages. Users who set the level to 0 or 1 ask for them.
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    drop_remarks()
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # its encoding may lack characters
    logging.basicConfig(format="%(message)s", handlers=[_Warnings(logging.WARNING)])
    compile_cache.turn_on()
    keep_freed_memory()
    _group(prog_name="bytenet")
