"""Freed memory is kept, so that its reuse causes no page faults."""

import json
import platform
import subprocess
import sys

import pytest

PROGRAM = """
import json, resource, sys
from bytenet.memory_allocator import keep_freed_memory

kept = keep_freed_memory() if sys.argv[1] == "keep" else None
faults = []
for _ in range(3):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    block = b"x" * (100 << 20)
    del block
    faults.append(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
print(json.dumps([kept, faults]))
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="the C library is not glibc")
def test_reuse_of_a_large_block_causes_few_page_faults():
    def run(mode):
        command = [sys.executable, "-c", PROGRAM, mode]
        return json.loads(subprocess.run(command, check=True, capture_output=True, timeout=60).stdout)

    kept, faults = run("keep")
    assert kept
    _, faults_without = run("not")
    assert max(faults[1:]) < faults_without[-1] / 10
