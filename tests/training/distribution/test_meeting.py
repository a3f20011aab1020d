"""The first meeting of workers."""

import signal
import socket
import subprocess
import sys
import threading
import time

import pytest

from bytenet.errors import InputError
from bytenet.training.distribution import meeting, watchdog
from bytenet.training.distribution.cluster import Cluster
from bytenet.training.distribution.launcher import free_addresses


@pytest.fixture
def cluster():
    return Cluster(tuple(free_addresses(3)), 1)


def listening(cluster, index):
    host, _, port = cluster.addresses[index].rpartition(":")
    return socket.create_server((host, int(port)))


def test_a_worker_waits_until_all_others_are_there(cluster, capsys):
    waiter = threading.Thread(target=meeting.wait_for_others, args=(cluster,))
    with listening(cluster, 0):
        waiter.start()
        waiter.join(1.0)
        assert waiter.is_alive()
        with listening(cluster, 2):
            waiter.join(60.0)
            assert not waiter.is_alive()
    assert capsys.readouterr().err == f"{cluster.name(1)} waits for {cluster.name(0)} and {cluster.name(2)}\n"


def test_the_others_see_a_waiting_worker_however_often_they_look(cluster, wait_for):
    waiter = threading.Thread(target=meeting.wait_for_others, args=(cluster,))
    waiter.start()
    wait_for(lambda: watchdog.is_reachable(cluster.addresses[1]), "the waiting worker")
    assert all(watchdog.is_reachable(cluster.addresses[1]) for _ in range(300))
    with listening(cluster, 0), listening(cluster, 2):
        waiter.join(60.0)
    assert not waiter.is_alive()
    assert not watchdog.is_reachable(cluster.addresses[1]), "TensorFlow needs the port"


def test_a_worker_that_has_passed_on_to_tensorflow_is_there(cluster):
    waiter = threading.Thread(target=meeting.wait_for_others, args=(cluster,))
    with listening(cluster, 0) as other:
        waiter.start()
        other.accept()  # it was seen
    with listening(cluster, 2):
        waiter.join(60.0)
    assert not waiter.is_alive()


def test_a_worker_that_ended_is_waited_for_again(cluster, monkeypatch):
    monkeypatch.setattr(meeting, "_SECONDS_PRESENT", 0.2)
    waiter = threading.Thread(target=meeting.wait_for_others, args=(cluster,))
    with listening(cluster, 0) as other:
        waiter.start()
        other.accept()
    time.sleep(1.0)
    with listening(cluster, 2):
        waiter.join(2.0)
        assert waiter.is_alive()
        with listening(cluster, 0):
            waiter.join(60.0)
    assert not waiter.is_alive()


def test_a_long_wait_is_shown_and_ends(cluster, capsys, monkeypatch):
    monkeypatch.setattr(meeting, "_SECONDS_BETWEEN_NOTES", 0.0)
    monkeypatch.setattr(meeting, "_MOST_SECONDS", 1.0)
    with listening(cluster, 0), pytest.raises(InputError, match=r"worker 2 \(localhost:\d+\) could not be reached"):
        meeting.wait_for_others(cluster)
    assert f"{cluster.name(1)} still waits for {cluster.name(2)}\n" in capsys.readouterr().err


def test_a_port_in_use_is_named(cluster):
    with listening(cluster, 1), pytest.raises(InputError, match=r"cannot listen at port .* in all workers' TF_CONFIG"):
        meeting.wait_for_others(cluster)


def test_a_worker_that_tensorflow_keeps_waiting_is_ended(cluster):
    """The watchdog kills it from outside, and names the worker that is gone."""
    sleeper = f"""
import time
from bytenet.training.distribution import meeting
from bytenet.training.distribution.cluster import Cluster
meeting._SECONDS_TO_CONNECT = .5
with meeting.connection_time_limit(Cluster({cluster.addresses!r}, 1)):
    time.sleep(600)
"""
    with listening(cluster, 0):
        ended = subprocess.run([sys.executable, "-c", sleeper], stderr=subprocess.PIPE, text=True, check=False)
    assert ended.returncode == -signal.SIGKILL
    assert f"because {cluster.name(2)} ended or cannot be reached" in ended.stderr
    assert "--resume" in ended.stderr


def test_a_watchdog_that_is_not_needed_kills_nobody():
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        command = [sys.executable, "-I", watchdog.__file__, str(process.pid), "600", "message"]
        subprocess.run(command, stdin=subprocess.DEVNULL, check=True)
        assert process.poll() is None
        process.communicate(b"\n")
    assert process.returncode == 0
