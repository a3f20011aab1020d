"""Keeping the remarks of native code out of the way of the commands' messages.

TensorFlow, LiteRT, XLA and CUDA write to the process's standard error themselves, below Python, and some of their lines
come whatever the log settings are. A small process between them and the terminal drops these lines. Everything else
passes, and so does an unfinished last line of a process that crashes.
"""

import os
import re
import signal
import sys
from contextlib import suppress

# "I0000 00:00:17 computation_placer.cc:177] ...", and "2026-11-25 01:02:03.45: I external/local_xla/...".
_REMARK = re.compile(
    rb"[IW]\d{4} |\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+: [IW] |"
    rb"WARNING: All log messages before absl::Init|INFO: Created TensorFlow Lite|"
    rb"/job:worker/replica:\d+/task:\d+$"
)
# Lines that look like errors but are harmless on a machine without a GPU or with the compile cache; and errors after
# the end of another worker, which the command explains. See docs/usage.md.
_HARMLESS = (
    b"Could not find cuda drivers", b"failed call to cuInit", b"Unable to register cu",
    b"Error parsing text-format tensorflow.XlaSerializedCacheEntry", b"Loading XLA:CPU AOT result",
    b"oneDNN supports", b"This may be expected if your graph generating binary is newer",
    b"attribute use_unbounded_threadpool",
    b"Aborting RingReduce", b"CollectiveExecutor::StartAbort",
    b"Additional GRPC error information", b":UNKNOWN:Error received from peer",
    b"The error could be from a previous operation. Restart your program",
    b"The tasks have crashed. Check the task logs",
)  # fmt: skip
_STANDARD_ERROR = 2


def is_remark(line: bytes) -> bool:
    """Whether a line of standard error is a remark of native code that helps no user."""
    return _REMARK.match(line) is not None or any(text in line for text in _HARMLESS)


def drop_remarks() -> bool:
    """Drop the remarks of native code from the standard error of this process and of those that it starts.

    Python's own messages go straight to the old standard error, so that a terminal is still one. Call it before there
    are threads.

    Returns:
        Whether it is done. It is not if the user asks for them with TF_CPP_MIN_LOG_LEVEL 0 or 1; if `sys.stderr` is no
        longer the process's standard error, as in tests; or on Windows.
    """
    if os.environ.get("TF_CPP_MIN_LOG_LEVEL") in ("0", "1") or not hasattr(os, "fork"):
        return False
    try:
        if sys.stderr.fileno() != _STANDARD_ERROR:
            return False
    except (AttributeError, OSError, ValueError):
        return False
    sys.stderr.flush()
    reading, writing = os.pipe()
    old = os.dup(_STANDARD_ERROR)
    if os.fork() == 0:
        _pass_on(reading, writing, old)
    os.dup2(writing, _STANDARD_ERROR)
    os.close(writing)
    os.close(reading)
    sys.stderr = os.fdopen(old, "w", buffering=1, encoding=sys.stderr.encoding, errors="backslashreplace")
    return True


def _pass_on(reading: int, writing: int, old: int) -> None:
    """Copy lines from one file descriptor to another until the last writer has ended, and end this process."""
    try:
        # Ctrl-C reaches all processes of the terminal. This one lives as long as there may be something to say.
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        os.close(writing)
        # If standard input or output is closed, the pipe or the copy of standard error may have its number.
        for descriptor in {0, 1, _STANDARD_ERROR} - {reading, old}:
            with suppress(OSError):
                os.close(descriptor)
        with open(reading, "rb") as lines:
            for line in lines:
                if not is_remark(line):
                    os.write(old, line)
    finally:
        os._exit(0)
