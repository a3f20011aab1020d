"""Freed memory is kept, so that its reuse causes no page faults; or it is returned, so that gaps take no memory."""

import json
import platform
import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="the C library is not glibc")

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

GAPS = """
import json
from bytenet.memory_allocator import keep_freed_memory, return_freed_memory
from bytenet.profiling.benchmarks.resident_memory import resident_bytes

keep_freed_memory()
blocks = [b"x" * (1 << 20) for _ in range(100)]
del blocks[::2]  # leaves gaps
before = resident_bytes()
print(json.dumps([return_freed_memory(), before - resident_bytes()]))
"""


def run(program, *arguments):
    command = [sys.executable, "-c", program, *arguments]
    return json.loads(subprocess.run(command, check=True, capture_output=True, timeout=60).stdout)


def test_memory_of_gaps_is_returned():
    returned, released = run(GAPS)
    assert returned
    assert 45 << 20 < released < 60 << 20


@pytest.mark.parametrize("where", ["main", "thread"])
def test_reuse_of_a_large_block_causes_few_page_faults(where):
    kept, faults = run(PROGRAM, "keep", where)
    assert kept
    _, faults_without = run(PROGRAM, "not", where)
    assert max(faults[1:]) < faults_without[-1] / 10
