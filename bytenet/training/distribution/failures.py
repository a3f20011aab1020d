"""What a worker says when another one has ended."""

import re
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager

import tensorflow as tf

from bytenet.errors import InputError
from bytenet.training.distribution.cluster import Cluster
from bytenet.training.distribution.watchdog import SECONDS_TO_STAY, UNKNOWN_WORKER

# In the list of those that have stopped sending heartbeats, a line each.
_UNHEALTHY = re.compile(r"^/job:worker/replica:\d+/task:(\d+)$", re.MULTILINE)
# Errors of TensorFlow when another worker has ended.
_OF_OTHERS = (
    tf.errors.AbortedError, tf.errors.CancelledError, tf.errors.DeadlineExceededError, tf.errors.UnavailableError,
)  # fmt: skip
# The same, but it may also be a failure of this worker.
_AMBIGUOUS = (tf.errors.FailedPreconditionError, tf.errors.InternalError)


@contextmanager
def explaining_ends(cluster: Cluster | None, run_dir: object) -> Iterator[None]:
    """Turn TensorFlow's error after the end of another worker into an InputError that says which one, if it is known.

    Args:
        cluster: of this process; None if it trains alone.
        run_dir: of the run, for the message.
    """
    try:
        yield
    except (*_OF_OTHERS, *_AMBIGUOUS) as error:
        if cluster is None:
            raise
        ended = cluster.unreachable_workers() or _unhealthy(cluster, str(error))
        if not ended and isinstance(error, _AMBIGUOUS):
            raise
        if len(ended) < len(cluster.others):
            time.sleep(SECONDS_TO_STAY)
        _release_locals(error)
        names = cluster.names(ended) or UNKNOWN_WORKER
        raise InputError(
            f"This is {cluster.name(cluster.index)}. It cannot go on, because {names} ended or cannot be reached. Look "
            "there for the reason. Then start all workers again with --resume: they go on from the latest checkpoint "
            f"in {run_dir}, or from the beginning if there is none."
        ) from error


def _release_locals(error: BaseException | None) -> None:
    """Let go of the local variables of the calls that failed.

    One of them may be a pool of threads of TensorFlow, for a sum over the workers. TensorFlow does not close it after a
    failure (`cross_device_ops.py`, line 1207 in 2.21), and at the end of the process it would print a traceback.
    """
    while error is not None:
        for frame, _ in traceback.walk_tb(error.__traceback__):
            for caller, _ in traceback.walk_stack(frame):  # Keras takes TensorFlow's own frames out of the traceback
                try:
                    caller.clear()
                except RuntimeError:  # it is still running
                    break
        error = error.__cause__ or error.__context__


def _unhealthy(cluster: Cluster, message: str) -> list[int]:
    """The other workers that, according to TensorFlow's error, no longer send heartbeats."""
    return sorted({int(index) for index in _UNHEALTHY.findall(message)} - {cluster.index})
