"""Reading the archives in which corpora are published."""

import gzip
import posixpath
import tarfile
import zipfile
from collections.abc import Sequence
from pathlib import Path

from bytenet.datasets.text.reading_faults import reading_fault
from bytenet.errors import InputError
from bytenet.limits import BROKEN_ARCHIVE, LimitedStream

_CHUNK_BYTES = 1 << 20


def read_members(path: Path, members: Sequence[str]) -> list[bytes]:
    """Read some members of a `.zip`, `.tgz` or `.tar.gz` archive.

    Returns:
        Their contents, in the order of `members`.

    Raises:
        InputError: the archive cannot be read, is broken, does not have a member, or holds more than a text may have.
    """
    try:
        contents = _read_zip(path, members) if path.suffix == ".zip" else _read_tar(path, members)
    except InputError:
        raise
    except BROKEN_ARCHIVE as error:
        damage = f"{path} is not a complete archive ({error}). Delete it and run the command again."
        raise reading_fault(path, error, damage) from error
    missing = [name for name in members if name not in contents]
    if missing:
        raise InputError(
            f"{path} does not contain {missing[0]}, so it is not the expected archive. Delete it and run the command "
            "again, or fetch the right archive."
        )
    return [contents[name] for name in members]


def _read_zip(path: Path, members: Sequence[str]) -> dict[str, bytes]:
    contents = {}
    with zipfile.ZipFile(path) as archive:
        for name in archive.namelist():
            if name in members:
                with archive.open(name) as file:
                    contents[name] = LimitedStream(file, archive.getinfo(name).compress_size, path).read()
    return contents


def _read_tar(path: Path, members: Sequence[str]) -> dict[str, bytes]:
    contents = {}
    # When tarfile itself reads gzip, it does not check the checksum.
    with gzip.open(path) as whole:
        decompressed = LimitedStream(whole, path.stat().st_size, path)
        with tarfile.open(fileobj=decompressed, mode="r|") as archive:
            for member in archive:
                name = posixpath.normpath(member.name)
                if name in members and member.isfile() and (file := archive.extractfile(member)):
                    contents[name] = file.read()
        while decompressed.read(_CHUNK_BYTES):  # to the end, where the checksum is
            pass
    return contents
