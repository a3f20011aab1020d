"""A process that was started for some work does not outlive the one that started it."""

import os
import signal
import subprocess
import sys
import time

from bytenet.new_process import new_process

PARENT = """
import os, time
from bytenet.new_process import new_process

if __name__ == "__main__":
    pool = new_process()
    print(pool.submit(os.getpid).result(), flush=True)
    pool.submit(time.sleep, 600)
    time.sleep(600)
"""


def test_it_ends_when_its_parent_is_killed(tmp_path):
    script = tmp_path / "parent.py"
    script.write_text(PARENT)
    with subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE, text=True) as parent:
        child = int(parent.stdout.readline())
        assert _is_running(child)
        parent.send_signal(signal.SIGKILL)
        parent.wait()
    deadline = time.monotonic() + 60
    while _is_running(child):
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_it_has_the_environment_that_was_given():
    with new_process({"BYTENET_TEST": "set"}) as pool:
        assert pool.submit(os.getenv, "BYTENET_TEST").result() == "set"
    assert "BYTENET_TEST" not in os.environ


def _is_running(process):
    """Whether a process runs. One that has ended may still be listed, as a zombie."""
    done = subprocess.run(["ps", "-o", "stat=", "-p", str(process)], capture_output=True, text=True, check=False)
    return done.stdout.strip() != "" and not done.stdout.startswith("Z")
