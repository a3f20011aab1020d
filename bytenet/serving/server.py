"""Running a server until it is told to stop."""

import errno
import logging
import os
import socket
from collections.abc import Iterable
from contextlib import ExitStack
from typing import Any

import uvicorn

from bytenet.errors import InputError
from bytenet.serving.engines.directions import Directions
from bytenet.serving.engines.engine import Engine
from bytenet.serving.engines.starting_engine import StartingEngine
from bytenet.serving.http.app import make_app
from bytenet.serving.http.observation import Metrics
from bytenet.serving.http.settings import ServerSettings
from bytenet.serving.work.translating_threads import TranslatingThreads

_log = logging.getLogger(__name__)
# "localhost" may have the address ::1 on a machine without IPv6.
_NOT_OF_THIS_MACHINE = (errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT)
_SECONDS_TO_ANSWER = 5  # more than the time-out of a request, for the last bytes of its answer


def serve(engines: Iterable[Engine], settings: ServerSettings, host: str = "127.0.0.1", port: int = 5000) -> None:
    """Warm engines up, and answer requests until SIGTERM or SIGINT. Then finish the requests that run.

    Args:
        engines: not warm. No two of them have the same languages. They may be loaded one by one, as they are taken:
            the address is checked before.
        settings: limits and rights.
        host: address to listen at, or a name.
        port: port to listen at; 0 takes a free one. The log says which.

    Raises:
        InputError: two engines have the same languages, or the address cannot be used. No engine is warmed up then.
            Addresses of a name that this machine does not have are left out, if it has at least one of them.
    """
    with ExitStack() as stack:
        sockets = [stack.enter_context(opened) for opened in _listen(host, port)]
        engines = list(engines)
        directions = Directions(engines)
        metrics = Metrics()
        threads = TranslatingThreads(settings.max_requests, metrics.note_batch, settings.num_threads)
        stack.callback(threads.close)
        metrics.watch(threads, engines)
        config = uvicorn.Config(
            make_app(directions, threads, settings, metrics),
            access_log=False,  # it would have the texts and keys of query strings; `Observation` logs requests
            log_config=_log_config(),
            server_header=False,
            timeout_graceful_shutdown=round(settings.timeout_seconds) + _SECONDS_TO_ANSWER,
        )
        for engine in engines:
            engine.warm_up()
        # Python waits for these threads before it ends, so none begins before all engines work.
        for engine in engines:
            if isinstance(engine, StartingEngine):
                engine.start_tensorflow()
        shown_host = f"[{host}]" if ":" in host else host
        _log.info("The server is at http://%s:%d.", shown_host, sockets[0].getsockname()[1])
        uvicorn.Server(config).run(sockets)


def _listen(host: str, port: int) -> list[socket.socket]:
    """A socket for each address of a host that this machine has. Clients wait until it is served.

    Raises:
        InputError: the host is unknown, this machine has none of its addresses, or one of them cannot be used.
    """
    try:
        return _bound(dict.fromkeys(socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)))
    except (socket.gaierror, UnicodeError):
        raise InputError(
            f"The host {host!r} is unknown. Give --host a name or an address of this machine, such as 127.0.0.1."
        ) from None
    except OSError as error:
        advice = "Choose another --port or --host, or stop the program that listens there."
        if error.errno == errno.EACCES:
            advice = "Ports below 1024 usually need root. Choose another --port."
        raise InputError(
            f"The server cannot listen at port {port} of {host}: {os.strerror(error.errno or 0)}. {advice}"
        ) from error


def _bound(addresses: Iterable[tuple]) -> list[socket.socket]:
    """A socket for each result of `socket.getaddrinfo` that is an address of this machine. All have the same port.

    Raises:
        OSError: this machine has none of the addresses, or one of them cannot be used. No socket stays open.
    """
    sockets: list[socket.socket] = []
    with ExitStack() as opened:
        missing = None
        for family, *_, (host, port, *rest) in addresses:
            if sockets:
                port = sockets[0].getsockname()[1]  # if any port is wanted, the first socket has taken one
            try:
                bound = socket.create_server((host, port, *rest), family=family)
            except OSError as error:
                if error.errno not in _NOT_OF_THIS_MACHINE:
                    raise
                missing = error
            else:
                sockets.append(opened.enter_context(bound))
        if missing is not None and not sockets:
            raise missing
        opened.pop_all()
    return sockets


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
