"""`bytenet serve`: a translation server."""

import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bytenet.cli.common.messages import say
from bytenet.cli.common.number_range import NumberRange
from bytenet.cli.common.search_options import NOT_FOR_LITE, options_of_full_engine, reranking_options, search_options
from bytenet.serving.http.settings import ServerSettings

if TYPE_CHECKING:
    from bytenet.serving.engines.engine import Engine

_KEYS_VARIABLE = "BYTENET_API_KEYS"
_MOST_THREADS = 4
_MOST_SECONDS = 24 * 60 * 60
_POSITIVE = click.IntRange(min=1)
_ORIGIN = re.compile(r"[a-z][a-z0-9+.-]*://([a-z0-9._-]+|\[[0-9a-f:.]+\])(:[0-9]+)?")
_DEFAULT_PORT = re.compile("(http://.+):80|(https://.+):443")  # browsers leave it out


def _origins_as_browsers_send(
    context: click.Context, option: click.Parameter, origins: tuple[str, ...]
) -> tuple[str, ...]:
    """The origins in lower case, without a slash at the end and without the default port."""
    written = tuple(_without_default_port(origin.lower().removesuffix("/")) for origin in origins)
    for origin, given in zip(written, origins, strict=True):
        if origin != "*" and not _ORIGIN.fullmatch(origin):
            raise click.BadParameter(f"{given!r} is not an origin such as https://example.org.")
    return written


def _without_default_port(origin: str) -> str:
    match = _DEFAULT_PORT.fullmatch(origin)
    return (match[1] or match[2]) if match else origin


@click.command()
@click.argument("models", metavar="MODEL...", required=True, nargs=-1, type=click.Path(path_type=Path))
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen at; 0.0.0.0 for all networks.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=5000,
    show_default=True,
    help="Port to listen at; 0 for a free port.",
)
@click.option(
    "--max-chars", type=_POSITIVE, default=ServerSettings.max_chars, show_default=True,
    help="Largest number of characters in a request.",
)  # fmt: skip
@click.option(
    "--max-texts", type=_POSITIVE, default=ServerSettings.max_texts, show_default=True,
    help="Largest number of texts in a request.",
)  # fmt: skip
@click.option(
    "--max-requests", type=_POSITIVE, default=ServerSettings.max_requests, show_default=True,
    help="Largest number of requests that are translated or wait. Others get status 429.",
)  # fmt: skip
@click.option(
    "--timeout", type=NumberRange(min=0, min_open=True, max=_MOST_SECONDS), default=ServerSettings.timeout_seconds,
    show_default=True,
    help="Seconds until a request is stopped with status 504.",
)  # fmt: skip
@click.option(
    "--threads", "num_threads", type=_POSITIVE,
    help="Batches that are translated at the same time.  [default: number of processor cores, at most 4]",
)  # fmt: skip
@click.option(
    "--api-keys", type=click.Path(path_type=Path, dir_okay=False),
    help=f"File with one key per line. Requests need one of them as api_key. {_KEYS_VARIABLE} may hold keys instead, "
    "separated by blanks.",
)  # fmt: skip
@click.option(
    "--allow-origin", "allowed_origins", multiple=True, callback=_origins_as_browsers_send,
    help='Website whose scripts may ask this server, such as https://example.org, or "*". May be given several times.',
)  # fmt: skip
@click.option(
    "--engine", "engine_name", type=click.Choice(["full", "lite"]), default="full", show_default=True,
    help="Engine: TensorFlow (full); or for .bytenet files LiteRT (lite), which starts at once and needs "
    "little memory. A file for LiteRT alone always uses LiteRT.",
)  # fmt: skip
@click.option("--split/--no-split", default=True, help="Split lines into sentences or not.  [default: split]")
@search_options
def serve(
    models: tuple[Path, ...],
    host: str,
    port: int,
    max_chars: int,
    max_texts: int,
    max_requests: int,
    timeout: float,
    num_threads: int | None,
    api_keys: Path | None,
    allowed_origins: tuple[str, ...],
    engine_name: str,
    split: bool,
    **options: Any,
) -> None:
    """Answer requests for translations with the models MODEL, one for each pair of languages.

    MODEL is a run folder, a .bytenet file that `bytenet export` wrote, or the name of a pretrained model (see
    `bytenet models`).

    The server has the interface of LibreTranslate, so its clients work. A browser shows a page for people. Options of
    the search that are not given come from the section `decoding` of each model's configuration. With LiteRT, they
    are those of the export, except --rerank-with and --rerank-weight. --rerank-with is for a single model; with
    several, set decoding.rerank_with of each.
    """
    if len(models) > 1 and options["rerank_with"]:
        raise click.UsageError(
            "--rerank-with is for a server with one model. With several, set decoding.rerank_with in the configuration "
            "of each run. Pretrained models name their own."
        )
    from bytenet.errors import InputError
    from bytenet.trained_model import open_model

    try:
        from bytenet.serving.engines.directions import check_pairs_of_languages
        from bytenet.serving.server import serve as run_server
    except ModuleNotFoundError as error:
        raise InputError(
            f"{error.name} is not installed. The server needs it: pip install '.[serve]' in the folder of bytenet's "
            "source."
        ) from None
    settings = ServerSettings(
        max_chars=max_chars,
        max_texts=max_texts,
        max_requests=max_requests,
        timeout_seconds=timeout,
        api_keys=_read_keys(api_keys),
        allowed_origins=allowed_origins,
        into_sentences=split,
        num_threads=num_threads or min(len(os.sched_getaffinity(0)), _MOST_THREADS),
    )
    check_pairs_of_languages(open_model(model).config.data.languages for model in models)
    try:
        run_server(_engines(engine_name, models, options), settings, host, port)
    except KeyboardInterrupt:
        say("Interrupted.")
        # Python would first wait for the thread in which TensorFlow starts, for minutes. SIGTERM does not wait either.
        os._exit(130)


def _engines(engine_name: str, models: Iterable[Path], options: dict[str, Any]) -> "Iterator[Engine]":
    """Load the models one by one."""
    for model in models:
        engine = _load(engine_name, model, options)
        say(f"{model} translates {' to '.join(engine.languages)}.")
        yield engine


def _load(engine_name: str, model: Path, options: dict[str, Any]) -> "Engine":
    """The engine of a name for a model."""
    from bytenet.lite.archive import is_model_file
    from bytenet.model_file import ModelFile
    from bytenet.serving.engines.lite_engine import LiteEngine
    from bytenet.serving.engines.run_engine import RunEngine
    from bytenet.serving.engines.starting_engine import StartingEngine
    from bytenet.trained_model import find_model

    path = find_model(model)
    needs_full, reranking = bool(options_of_full_engine(options)), reranking_options(options)
    if engine_name == "lite":
        if path.is_dir():
            raise click.UsageError(
                "--engine lite takes .bytenet files, which `bytenet export RUN FILE.bytenet` writes."
            )
        if needs_full:
            raise click.UsageError(NOT_FOR_LITE)
        return LiteEngine(path, **reranking)
    if is_model_file(path) and not needs_full:
        if not ModelFile(path).has_weights:
            return LiteEngine(path, **reranking)
        if all(value is None for value in reranking.values()) and StartingEngine.can_read(path):
            return StartingEngine(path)
    return RunEngine(path, **options)


def _read_keys(path: Path | None) -> frozenset[str]:
    """The keys in a file or in the environment. They are not arguments, because every user can read arguments."""
    from bytenet.errors import InputError

    if path is None:
        value = os.environ.get(_KEYS_VARIABLE)
        if value is not None and not value.split():
            raise InputError(f"{_KEYS_VARIABLE} has no key. Write a key into it, or unset it to serve everybody.")
        return frozenset((value or "").split())
    from bytenet.datasets import read_lines

    keys = frozenset(line.strip() for line in read_lines(path)) - {""}
    if not keys:
        raise InputError(f"{path} has no key. Write a key on each line, or leave out --api-keys.")
    return keys
