"""The entries of a `.bytenet` file, from which tests make other files."""

import os
import zipfile

from bytenet.lite.archive import Archive


def entries_of(path: str | os.PathLike[str]) -> dict[str, bytes]:
    """The contents of all entries, without the manifest, for `bytenet.lite.archive.packed`."""
    archive = Archive(path)
    with zipfile.ZipFile(path) as file:
        return {name: archive.read(name) for name in file.namelist() if name in archive}
