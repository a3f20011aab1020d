"""The first meeting of the workers of a run."""

import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress

from bytenet.errors import InputError
from bytenet.training.distribution import watchdog
from bytenet.training.distribution.cluster import Cluster

_SECONDS_BETWEEN_CHECKS = 0.5
_SECONDS_BETWEEN_NOTES = 60.0
_MOST_SECONDS = 1800.0
# A worker counts as present if it was seen within this time. When it goes on to TensorFlow, it cannot be reached for a
# moment.
_SECONDS_PRESENT = 10.0
_SECONDS_TO_CONNECT = 40.0


def wait_for_others(cluster: Cluster) -> None:
    """Wait until all workers are there. Write to standard error which of them are missing.

    TensorFlow would wait, too, but without a message and without a limit. Ctrl-C would do nothing, because no Python
    code runs meanwhile. So this worker listens at its address with a plain socket until all others do. A worker that
    ends meanwhile can be started again.

    Raises:
        InputError: the port of this worker is in use, or 30 minutes are over.
    """
    last_seen = dict.fromkeys(cluster.others, -_SECONDS_PRESENT)
    with _listening(cluster):
        _note(cluster, "waits for", cluster.others)
        began = noted = time.monotonic()
        while True:
            unreachable = cluster.unreachable_workers()
            now = time.monotonic()
            last_seen |= {index: now for index in cluster.others if index not in unreachable}
            missing = [index for index, seen in last_seen.items() if now - seen >= _SECONDS_PRESENT]
            if not missing:
                return
            if now - began > _MOST_SECONDS:
                raise InputError(
                    f"{cluster.names(missing)} could not be reached within {_MOST_SECONDS / 60:.0f} minutes. Look "
                    "there for the reason, and whether the address can be reached from here. Then start all workers "
                    "again."
                )
            if now - noted > _SECONDS_BETWEEN_NOTES:
                _note(cluster, "still waits for", missing)
                noted = now
            time.sleep(_SECONDS_BETWEEN_CHECKS)


@contextmanager
def connection_time_limit(cluster: Cluster) -> Iterator[None]:
    """Kill this process, with a message, if TensorFlow does not connect the workers within 40 seconds.

    All of them were there, so one must have ended, or the network fails. TensorFlow waits without end for a worker that
    ended in this moment, and no Python code of this process runs. So another process keeps the time.
    """
    message = (
        f"Error: This is {cluster.name(cluster.index)}. TensorFlow could not connect the workers within "
        f"{_SECONDS_TO_CONNECT:.0f} seconds, because {{}} ended or cannot be reached. Look there for the reason. Then "
        "start all workers again, a training with --resume.\n"
    )
    others = [text for index in cluster.others for text in (cluster.addresses[index], cluster.name(index))]
    command = [sys.executable, "-I", watchdog.__file__, str(os.getpid()), str(_SECONDS_TO_CONNECT), message, *others]
    # The watchdog gets its own session, so that Ctrl-C does not reach it.
    with subprocess.Popen(command, stdin=subprocess.PIPE, start_new_session=True):
        yield


@contextmanager
def _listening(cluster: Cluster) -> Iterator[None]:
    """Listen at the port of this worker, so that the others see that it is there. Nothing is read."""
    port = int(cluster.addresses[cluster.index].rpartition(":")[2])
    dual_stack = socket.has_dualstack_ipv6()
    family = socket.AF_INET6 if dual_stack else socket.AF_INET
    try:
        listener = socket.create_server(("", port), family=family, dualstack_ipv6=dual_stack)
    except OSError as error:
        raise InputError(
            f"{cluster.name(cluster.index)} cannot listen at port {port} of this machine: {error.strerror or error}. "
            "Another process may use it. End that one, or give this worker another port in all workers' TF_CONFIG."
        ) from error
    with listener:
        acceptor = threading.Thread(target=_accept_all, args=(listener,), daemon=True)
        acceptor.start()
        try:
            yield
        finally:
            listener.shutdown(socket.SHUT_RDWR)  # ends `accept`
            acceptor.join()


def _accept_all(listener: socket.socket) -> None:
    """Take every connection and close it. The system refuses new ones when too many wait."""
    with suppress(OSError):
        while True:
            listener.accept()[0].close()


def _note(cluster: Cluster, what: str, others: Sequence[int]) -> None:
    sys.stderr.write(f"{cluster.name(cluster.index)} {what} {cluster.names(others)}\n")  # at once, not in two parts
