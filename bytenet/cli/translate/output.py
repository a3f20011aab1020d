"""The output of `bytenet translate`."""

import gzip
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO


@contextmanager
def open_output(path: Path | None) -> Iterator[BinaryIO | gzip.GzipFile]:
    """Open the output: stdout for None, a device or a pipe, or a file that appears only when it is complete."""
    if path is None:
        yield sys.stdout.buffer
        return
    if path.is_relative_to("/dev") or path.is_relative_to("/proc") or (path.exists() and not path.is_file()):
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
