"""Freed memory is kept, so that its reuse causes no page faults."""

import json
import platform
import subprocess
import sys

import pytest

PROGRAM = """
import json, resource, sys, threading
from bytenet.memory_allocator import keep_freed_memory

kept = keep_freed_memory() if sys.argv[1] == "keep" else None
faults = []

def allocate():
    for _ in range(3):
        before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
        block = b"x" * (100 << 20)
        del block
        faults.append(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)

if sys.argv[2] == "thread":
    thread = threading.Thread(target=allocate)
    thread.start()
    thread.join()
else:
    allocate()
print(json.dumps([kept, faults]))
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="the C library is not glibc")
@pytest.mark.parametrize("where", ["main", "thread"])
def test_reuse_of_a_large_block_causes_few_page_faults(where):
    def run(mode):
        command = [sys.executable, "-c", PROGRAM, mode, where]
        return json.loads(subprocess.run(command, check=True, capture_output=True, timeout=60).stdout)

    kept, faults = run("keep")
    assert kept
    _, faults_without = run("not")
    assert max(faults[1:]) < faults_without[-1] / 10
