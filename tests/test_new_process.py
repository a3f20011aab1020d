"""A process that was started for some work: it does not outlive its parent, and it keeps memory as the command does."""

import os
import platform
import subprocess
import sys
import time
from pathlib import Path

import pytest

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

HEAPS = """
import ctypes, sys, threading
from bytenet.new_process import new_process

def write_heaps(path):
    threads = [threading.Thread(target=lambda: b"x" * 100_000) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    libc = ctypes.CDLL("libc.so.6")
    libc.fopen.restype = ctypes.c_void_p
    file = ctypes.c_void_p(libc.fopen(path.encode(), b"w"))
    libc.malloc_info(0, file)
    libc.fclose(file)

if __name__ == "__main__":
    with new_process() as pool:
        pool.submit(write_heaps, sys.argv[1]).result()
"""


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="reads the state of processes from Linux's /proc")
def test_a_child_ends_when_its_parent_is_killed(tmp_path):
    script = tmp_path / "parent.py"
    script.write_text(PARENT)
    with subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE, text=True) as parent:
        try:
            child = int(parent.stdout.readline())
            assert is_running(child)
        finally:
            parent.kill()
    deadline = time.monotonic() + 60
    while is_running(child):
        assert time.monotonic() < deadline
        time.sleep(0.05)


def is_running(process):
    """Whether a process runs. One that has ended may still be listed, as a zombie."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_a_child_has_the_environment_that_was_given():
    with new_process({"BYTENET_TEST": "set"}) as pool:
        assert pool.submit(os.getenv, "BYTENET_TEST").result() == "set"
    assert "BYTENET_TEST" not in os.environ


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="the C library is not glibc")
def test_all_threads_of_a_child_share_one_heap(tmp_path):
    script, heaps = tmp_path / "heaps.py", tmp_path / "heaps.xml"
    script.write_text(HEAPS)
    subprocess.run([sys.executable, str(script), str(heaps)], check=True, timeout=60)
    assert heaps.read_text().count("<heap nr=") == 1
