"""The output of `bytenet translate`."""

import gzip
import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
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
    if _is_descriptor(path) or (path.exists() and not path.is_file()):
        with open(path, "ab") as file:  # /dev/stdout may be a file that already has some lines
            yield file
        return
    from bytenet.files import atomic_path

    with atomic_path(path) as partial, open(partial, "wb") as file:
        if path.suffix != ".gz":
            yield file
            return
        with gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0) as compressed:
            yield compressed


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
