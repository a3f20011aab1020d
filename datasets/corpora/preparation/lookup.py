"""Where the files of a corpus are: under `BYTENET_DATA`, in the cache, or on the network."""

import os
from pathlib import Path

from bytenet.datasets.corpora.entry import RemoteFile
from bytenet.datasets.parallel import Pairs
from bytenet.datasets.text.text_files import read_parallel
from bytenet.errors import InputError, MissingFileError

DATA_VARIABLE = "BYTENET_DATA"


def data_folder() -> Path | None:
    """The folder that `BYTENET_DATA` names; None where it is not set.

    Raises:
        MissingFileError: it names no folder.
    """
    value = os.environ.get(DATA_VARIABLE)
    if not value:
        return None
    folder = Path(value)
    if not folder.is_dir():
        raise MissingFileError(f"{DATA_VARIABLE} is {value!r}, which is not a folder. Correct or unset it.")
    return folder


def cache_folder() -> Path:
    """Where downloads are kept: `~/.cache/bytenet`, or the system's like of it."""
    import pooch

    return Path(pooch.os_cache("bytenet"))


def local_pairs(corpus: str, split: str, source_language: str, target_language: str) -> Pairs | None:
    """The pairs of the two files `BYTENET_DATA/<corpus>/<split>.<language>`, with or without `.gz`.

    Returns:
        None where neither file is there.

    Raises:
        MissingFileError: only one of them is there.
        InputError: they cannot be read as parallel text.
    """
    folder = data_folder()
    if folder is None:
        return None
    found: list[Path | None] = []
    for language in (source_language, target_language):
        names = (f"{split}.{language}.gz", f"{split}.{language}")
        found.append(next((path for name in names if (path := folder / corpus / name).exists()), None))
    source, target = found
    if source is None and target is None:
        return None
    if source is None or target is None:
        language = source_language if source is None else target_language
        missing = folder / corpus / f"{split}.{language}.gz"
        raise MissingFileError(f"There is {source or target}, but not its other side {missing}; put both there.")
    return read_parallel(source, target)


def fetch(file: RemoteFile) -> Path:
    """The path of a file of a corpus: under `BYTENET_DATA`, or in the cache, downloaded where needed.

    A download shows its progress, goes on where an earlier one stopped, and is checked before it counts.

    Raises:
        InputError: it cannot be downloaded; the message says what to fetch and where to put it.
    """
    folder = data_folder()
    if folder is not None and (folder / file.path).exists():
        return folder / file.path
    cached = cache_folder() / file.path
    if cached.exists():
        return cached
    from bytenet.datasets.corpora.preparation.download import DownloadError, download

    try:
        return download(file, cached)
    except DownloadError as error:
        under = f"{folder}/{file.path}" if folder else f"FOLDER/{file.path}, with {DATA_VARIABLE}=FOLDER set,"
        raise InputError(
            f"{file.url} could not be downloaded ({error}). Run the same command again when there is a "
            f"network (it goes on where it stopped), or fetch that file elsewhere and put it at {under} or "
            f"at {cached}."
        ) from error
