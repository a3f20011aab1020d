"""Members of the archives in which corpora are published."""

import gzip
import posixpath
import tarfile
import zipfile
import zlib
from collections.abc import Sequence
from pathlib import Path

from bytenet.errors import InputError

_CHUNK_BYTES = 1 << 20


def read_members(path: Path, members: Sequence[str]) -> list[bytes]:
    """The contents of some members of a `.zip`, `.tgz` or `.tar.gz` archive, in the order asked for.

    Raises:
        InputError: the archive is broken, or lacks a member.
    """
    try:
        if path.suffix == ".zip":
            with zipfile.ZipFile(path) as archive:
                found = {name: archive.read(name) for name in archive.namelist() if name in members}
        else:
            found = {}
            # tarfile's own way of reading gzip does not look at its checksum.
            with gzip.open(path) as content:
                with tarfile.open(fileobj=content, mode="r|") as archive:
                    for member in archive:
                        name = posixpath.normpath(member.name)
                        if name in members and member.isfile():
                            found[name] = archive.extractfile(member).read()
                while content.read(_CHUNK_BYTES):  # to the end, where the checksum stands
                    pass
    except (tarfile.TarError, zipfile.BadZipFile, gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise InputError(f"{path} is not a whole archive ({error}). Delete it and run the command again.") from error
    missing = [name for name in members if name not in found]
    if missing:
        raise InputError(
            f"{path} holds no {missing[0]}; it is not the archive that was expected. Delete it and run the "
            "command again, or fetch the right one."
        )
    return [found[name] for name in members]
