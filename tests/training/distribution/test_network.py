"""Workers on a network that stops delivering packets. No end of a process tells the other side.

Each worker has a network namespace of its own, and a bridge in a third one connects them. This needs root and `ip`.
"""

import os
import subprocess
import time

import pytest

from .worker_processes import (
    ENDLESS,
    MOST_SECONDS_TO_END,
    SETTINGS,
    start_worker,
    train_command,
    wait_for_checkpoint,
    wait_for_workers,
    wait_while_all_live,
)

ADDRESSES = ["10.9.0.1:5000", "10.9.0.2:5000"]


class Network:
    """Two namespaces that reach each other."""

    def __init__(self):
        self.names = [f"bytenet-{os.getpid()}-{index}" for index in range(2)]
        self._bridge = f"bytenet-{os.getpid()}-bridge"

    def make(self):
        _ip("netns", "add", self._bridge)
        _ip("-n", self._bridge, "link", "add", "bridge", "type", "bridge")
        _ip("-n", self._bridge, "link", "set", "bridge", "up")
        for index, name in enumerate(self.names):
            _ip("netns", "add", name)
            link = f"link add lan netns {name} type veth peer name port{index} netns {self._bridge}"
            _ip(*link.split())
            _ip("-n", name, "addr", "add", f"10.9.0.{index + 1}/24", "dev", "lan")
            _ip("-n", name, "link", "set", "lo", "up")
            _ip("-n", name, "link", "set", "lan", "up")
            _ip("-n", self._bridge, "link", "set", f"port{index}", "up")
        self.deliver()

    def deliver(self):
        for index in range(2):
            _ip("-n", self._bridge, "link", "set", f"port{index}", "master", "bridge")

    def stall(self):
        """Packets disappear. All links stay up."""
        _ip("-n", self._bridge, "link", "set", "port1", "nomaster")

    def remove(self):
        for name in (*self.names, self._bridge):
            subprocess.run(["ip", "netns", "del", name], check=False, stderr=subprocess.DEVNULL)


@pytest.fixture
def network():
    network = Network()
    try:
        network.make()
    except (OSError, subprocess.CalledProcessError):
        network.remove()
        pytest.skip("needs root, ip and network namespaces")
    yield network
    network.remove()


@pytest.fixture
def processes(network, tmp_path):
    """Two workers of an endless run."""
    command = train_command("run", *SETTINGS, ENDLESS)
    started = [
        start_worker(ADDRESSES, index, command, tmp_path, before=["ip", "netns", "exec", name])
        for index, name in enumerate(network.names)
    ]
    yield started
    for process in started:
        process.kill()


@pytest.mark.slow
def test_after_a_stall_of_the_network_all_workers_end_and_name_the_others(network, processes, tmp_path):
    wait_for_checkpoint(tmp_path / "run", processes)
    network.stall()
    for index, ended in enumerate(wait_for_workers(processes, tmp_path, MOST_SECONDS_TO_END)):
        assert ended.code == 1
        other = 1 - index
        assert f"because worker {other} ({ADDRESSES[other]}) ended or cannot be reached" in ended.errors
        assert "--resume" in ended.errors


@pytest.mark.slow
def test_a_short_stall_is_survived(network, processes, tmp_path):
    wait_for_checkpoint(tmp_path / "run", processes)
    network.stall()
    time.sleep(3)
    network.deliver()
    checkpoints = tmp_path / "run" / "checkpoints"
    before = set(checkpoints.glob("step-*.npz"))
    wait_while_all_live(
        processes, lambda: len(set(checkpoints.glob("step-*.npz")) - before) >= 3, "three more checkpoints"
    )


@pytest.mark.slow
def test_workers_wait_for_the_network(network, request, tmp_path):
    network.stall()
    processes = request.getfixturevalue("processes")
    errors = [tmp_path / f"errors-{index}.txt" for index in range(2)]
    wait_while_all_live(
        processes, lambda: all(" waits for worker " in path.read_text() for path in errors), "the messages"
    )
    time.sleep(10)
    network.deliver()
    wait_for_checkpoint(tmp_path / "run", processes)


def _ip(*arguments):
    subprocess.run(["ip", *arguments], check=True, stderr=subprocess.PIPE)
