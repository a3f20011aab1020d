"""The output of `bytenet translate`."""

import gzip
import os
import re
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import BinaryIO

_DESCRIPTOR = re.compile(r"/dev/(stdout|stderr|fd/\d+)|/proc/[^/]+/fd/\d+")
_MOST_LINKS = 40  # more make a loop


@contextmanager
def open_output(path: Path | None) -> Iterator[BinaryIO | gzip.GzipFile]:
    """Open the output: stdout for None, a device or a pipe, or a file that appears only when it is complete."""
    if path is None:
        yield sys.stdout.buffer
        return
    with ExitStack() as opened:
        if _is_descriptor(path) or (path.exists() and not path.is_file()):
            file = opened.enter_context(open(path, "ab"))  # /dev/stdout may be a file that already has some lines
        else:
            from bytenet.files import atomic_path

            file = opened.enter_context(open(opened.enter_context(atomic_path(path)), "wb"))
        if path.suffix == ".gz":
            yield opened.enter_context(gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0))
        else:
            yield file


def _is_descriptor(path: Path) -> bool:
    """Whether a path, or what it links to, stands for an open file of a process, such as /dev/stdout."""
    path = Path(os.path.abspath(path))
    for _ in range(_MOST_LINKS):
        if _DESCRIPTOR.fullmatch(str(path)):
            return True
        if not path.is_symlink():
            break
        path = Path(os.path.abspath(path.parent / path.readlink()))
    return False
