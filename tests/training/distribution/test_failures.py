"""What a worker says when another one has ended."""

import socket
import time

import pytest
import tensorflow as tf

from bytenet.errors import InputError
from bytenet.training.distribution.cluster import Cluster
from bytenet.training.distribution.failures import explaining_ends
from bytenet.training.distribution.watchdog import SECONDS_TO_STAY

HEARTBEATS = """The following tasks are unhealthy (stopped sending heartbeats):
/job:worker/replica:0/task:2
The tasks have crashed. Check the task logs for an earlier error."""
RESET = "recvmsg:Connection reset by peer, while calling /job:worker/replica:0/task:1"


@pytest.fixture
def cluster():
    """Worker 0 of three workers that all listen."""
    with socket.create_server(("localhost", 0)) as one, socket.create_server(("localhost", 0)) as two:
        ports = [one.getsockname()[1], two.getsockname()[1]]
        yield Cluster(("localhost:1", *(f"localhost:{port}" for port in ports)), 0)


@pytest.fixture(autouse=True)
def pauses(monkeypatch):
    """The seconds that were slept, as nobody waits here."""
    seconds = []
    monkeypatch.setattr(time, "sleep", seconds.append)
    return seconds


def message_after(error, cluster):
    with pytest.raises(InputError) as raised, explaining_ends(cluster, "runs/x"):
        raise error
    assert "--resume" in str(raised.value)
    assert "runs/x" in str(raised.value)
    return str(raised.value)


def test_a_worker_that_does_not_answer_is_named(cluster):
    silent = Cluster((*cluster.addresses[:2], "localhost:1"), 0)
    message = message_after(tf.errors.UnavailableError(None, None, RESET), silent)
    assert "because worker 2 (localhost:1) ended or cannot be reached" in message


@pytest.mark.parametrize("kind", [tf.errors.UnavailableError, tf.errors.InternalError])
def test_a_worker_without_heartbeats_is_named(cluster, kind):
    message = message_after(kind(None, None, HEARTBEATS), cluster)
    assert f"because {cluster.name(2)} ended or cannot be reached" in message


def test_a_worker_stays_while_others_look_for_the_one_that_ended(cluster, pauses):
    silent = Cluster((*cluster.addresses[:2], "localhost:1"), 0)
    message_after(tf.errors.UnavailableError(None, None, RESET), silent)
    assert pauses == [SECONDS_TO_STAY]


def test_the_last_worker_does_not_stay(pauses):
    message_after(tf.errors.UnavailableError(None, None, RESET), Cluster(("localhost:2", "localhost:1"), 0))
    assert not pauses


def test_a_worker_that_only_passed_on_the_error_is_not_named(cluster):
    message = message_after(tf.errors.UnavailableError(None, None, RESET), cluster)
    assert "because another worker (which one is not known) ended" in message


@pytest.mark.parametrize("is_alone", [True, False])
def test_own_failures_stay_as_they_are(cluster, is_alone):
    error = tf.errors.InternalError(None, None, "out of order")
    with pytest.raises(tf.errors.InternalError), explaining_ends(None if is_alone else cluster, "runs/x"):
        raise error
