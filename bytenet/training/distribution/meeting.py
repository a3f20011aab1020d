"""The first meeting of the workers of a run."""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from bytenet.errors import InputError
from bytenet.training.distribution import guard
from bytenet.training.distribution.cluster import Cluster

_SECONDS_BETWEEN_CHECKS = 0.5
_SECONDS_BETWEEN_NOTES = 60.0
_MOST_SECONDS = 1800.0
_SECONDS_TO_CONNECT = 40.0


def wait_for_others(cluster: Cluster) -> None:
    """Wait until all workers are there at the same moment. Standard error says for which of them.

    TensorFlow would wait, too, but in silence and without end, and Ctrl-C would do nothing, because no Python code runs
    meanwhile. So this worker listens at its address with a plain socket until all others do. A worker that ends
    meanwhile can be started again.

    Raises:
        InputError: the port of this worker is in use, or 30 minutes are over.
    """
    with _listening(cluster):
        _note(cluster, "waits for", _others(cluster))
        began = noted = time.monotonic()
        while missing := cluster.silent_workers():
            now = time.monotonic()
            if now - began > _MOST_SECONDS:
                raise InputError(
                    f"{_names(cluster, missing)} did not come within {_MOST_SECONDS / 60:.0f} minutes. Look there for "
                    "the reason, and whether the address can be reached from here. Then start all workers again."
                )
            if now - noted > _SECONDS_BETWEEN_NOTES:
                _note(cluster, "still waits for", missing)
                noted = now
            time.sleep(_SECONDS_BETWEEN_CHECKS)


@contextmanager
def time_limit(cluster: Cluster) -> Iterator[None]:
    """Kill this process, with a message, if TensorFlow does not connect the workers within 40 seconds.

    All of them were there, so one must have ended, or the network fails. TensorFlow waits without end for a worker that
    ended in this moment, and no Python code of this process runs. So another process keeps the time.
    """
    message = (
        f"Error: This is {cluster.name(cluster.index)}. TensorFlow could not connect the workers within "
        f"{_SECONDS_TO_CONNECT:.0f} seconds, because {{}} ended or cannot be reached. Look there for the reason. Then "
        "start all workers again with --resume.\n"
    )
    others = [text for index in _others(cluster) for text in (cluster.addresses[index], cluster.name(index))]
    command = [sys.executable, "-I", guard.__file__, str(os.getpid()), str(_SECONDS_TO_CONNECT), message, *others]
    # In a session of its own, it does not get the Ctrl-C of a terminal.
    with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=sys.stderr, start_new_session=True):
        yield


@contextmanager
def _listening(cluster: Cluster) -> Iterator[None]:
    """Listen at the port of this worker, so that the others see that it is there. Nothing is read."""
    port = int(cluster.addresses[cluster.index].rpartition(":")[2])
    both = socket.has_dualstack_ipv6()
    try:
        listener = socket.create_server(
            ("", port), family=socket.AF_INET6 if both else socket.AF_INET, dualstack_ipv6=both
        )
    except OSError as error:
        raise InputError(
            f"{cluster.name(cluster.index)} cannot listen at port {port} of this machine: {error.strerror or error}. "
            "Another process may use it. End that one, or give this worker another port in all workers' TF_CONFIG."
        ) from error
    with listener:
        yield


def _others(cluster: Cluster) -> list[int]:
    return [index for index in range(len(cluster.addresses)) if index != cluster.index]


def _note(cluster: Cluster, what: str, others: Sequence[int]) -> None:
    sys.stderr.write(f"{cluster.name(cluster.index)} {what} {_names(cluster, others)}\n")  # at once, not in two parts


def _names(cluster: Cluster, workers: Sequence[int]) -> str:
    return " and ".join(map(cluster.name, workers))
