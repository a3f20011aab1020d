"""Running a server until it is told to stop."""

from collections.abc import Sequence
from typing import Any

import uvicorn

from bytenet.serving.engines.directions import Directions
from bytenet.serving.engines.engine import Engine
from bytenet.serving.http.app import make_app
from bytenet.serving.http.observation import Metrics
from bytenet.serving.http.settings import ServerSettings
from bytenet.serving.work.translating_threads import TranslatingThreads

_SECONDS_TO_ANSWER = 5  # more than the time-out of a request, for the last bytes of its answer


def serve(engines: Sequence[Engine], settings: ServerSettings, host: str = "127.0.0.1", port: int = 5000) -> None:
    """Answer requests until SIGTERM or SIGINT. Requests that run are finished then.

    Args:
        engines: the engines, loaded. No two of them have the same languages.
        settings: limits and rights.
        host: address to listen at.
        port: port to listen at; 0 takes a free one. The log says which.

    Raises:
        InputError: two engines have the same languages.
        SystemExit: the address cannot be used; with code 1, after a message in the log.
    """
    directions = Directions(engines)
    metrics = Metrics()
    threads = TranslatingThreads(settings.max_requests, metrics.note_batch, settings.num_threads)
    metrics.watch(threads, engines)
    config = uvicorn.Config(
        make_app(directions, threads, settings, metrics),
        host=host,
        port=port,
        access_log=False,  # it would have the texts and keys of query strings; `Observation` logs requests
        log_config=_log_config(),
        server_header=False,
        timeout_graceful_shutdown=round(settings.timeout_seconds) + _SECONDS_TO_ANSWER,
    )
    try:
        uvicorn.Server(config).run()
    finally:
        threads.close()


def _log_config() -> dict[str, Any]:
    """All messages to stderr, a line each."""
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"line": {"format": "%(asctime)s %(levelname)s %(message)s"}},
        "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "line", "stream": "ext://sys.stderr"}},
        "loggers": {
            name: {"handlers": ["stderr"], "level": "INFO", "propagate": False} for name in ("uvicorn", "bytenet")
        },
    }
