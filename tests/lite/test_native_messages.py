"""Remarks of native code are dropped from standard error; everything else reaches the user."""

import os
import subprocess
import sys

import pytest

from bytenet.lite.native_messages import is_remark

PROGRAM = """
import os, sys
from bytenet.lite.native_messages import drop_remarks
assert drop_remarks()
os.write(2, b"I0000 00:00:17.5 1 port.cc:153] oneDNN custom operations are on.\\n")
print("a message of Python", file=sys.stderr)
os.write(2, b"E0000 00:00:17.5 1 util.cc:1] something is wrong\\n")
os.write(2, b"the last word")
{end}
"""


@pytest.mark.parametrize(
    ("line", "dropped"),
    [
        (b"I0000 00:00:1795570286.772928    3962 port.cc:153] oneDNN custom operations are on.\n", True),
        (b"W0000 00:00:1 2 x.cc:1] slow\n", True),
        (b"2026-11-25 01:02:03.456789: I tensorflow/core/x.cc:1] text\n", True),
        (b"WARNING: All log messages before absl::InitializeLog() is called are written to STDERR\n", True),
        (b"E0000 00:00:1 2 cuda.cc:1] failed call to cuInit: UNKNOWN ERROR (303)\n", True),
        (b"INFO: Created TensorFlow Lite XNNPACK delegate for CPU.\n", True),
        (b"INFO: something else\n", False),
        (b"E0000 00:00:1 2 ring_alg.cc:1] Aborting RingReduce with UNAVAILABLE: recvmsg\n", True),
        (b":UNKNOWN:Error received from peer  {grpc_status:14}\n", True),
        (b"/job:worker/replica:0/task:1\n", True),
        (b"The tasks have crashed. Check the task logs for an earlier error, or scheduler events\n", True),
        (b"E0000 00:00:1 2 x.cc:1] out of memory\n", False),
        (b"F0000 00:00:1 2 x.cc:1] Check failed\n", False),
        (b"2026-11-25 01:02:03.456789: E tensorflow/core/x.cc:1] text\n", False),
        (b"Traceback (most recent call last):\n", False),
        (b"Inner line\n", False),
    ],
)
def test_only_remarks_are_dropped(line, dropped):
    assert is_remark(line) is dropped


def test_remarks_pass_if_the_user_asks_for_them():
    program = PROGRAM.replace("assert drop_remarks()", "assert not drop_remarks()").format(end="")
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "0"}
    done = subprocess.run([sys.executable, "-c", program], env=environment, stderr=subprocess.PIPE, timeout=60)
    assert done.stderr.startswith(b"I0000 00:00:17.5 1 port.cc:153] oneDNN")


def test_the_commands_import_nothing_with_threads_before_they_drop_remarks():
    program = "import bytenet.cli, bytenet.lite.__main__, sys; sys.exit('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], timeout=60).returncode == 0


def test_messages_pass_if_input_and_output_are_closed():
    program = PROGRAM.format(end="os.write(2, b'!')")
    command = ["sh", "-c", '"$1" -c "$2" <&- >&-', "sh", sys.executable, program]
    done = subprocess.run(command, stderr=subprocess.PIPE, timeout=60)
    assert done.returncode == 0
    assert b"something is wrong" in done.stderr
    assert done.stderr.endswith(b"the last word!")


@pytest.mark.parametrize(("end", "code"), [("", 0), ("os.abort()", -6), ("os.kill(os.getpid(), 9)", -9)])
def test_messages_and_the_last_word_pass(end, code):
    done = subprocess.run([sys.executable, "-c", PROGRAM.format(end=end)], capture_output=True, timeout=60)
    assert done.returncode == code
    lines = set(done.stderr.split(b"\n"))
    assert lines == {b"a message of Python", b"E0000 00:00:17.5 1 util.cc:1] something is wrong", b"the last word"}
    assert done.stdout == b""
