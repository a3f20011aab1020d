"""Finding the files of a corpus: under `BYTENET_DATA`, in the cache, or on the network."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

from bytenet.datasets.corpora.entry import USERS_CORPORA, RemoteFile
from bytenet.datasets.parallel import Pairs
from bytenet.datasets.text.text_files import read_parallel
from bytenet.errors import InputError, MissingFileError

if TYPE_CHECKING:
    from bytenet.config import DataConfig

DATA_VARIABLE = "BYTENET_DATA"


def data_folder() -> Path | None:
    """The folder that `BYTENET_DATA` names; None if it is not set.

    Raises:
        MissingFileError: there is no such folder.
    """
    value = os.environ.get(DATA_VARIABLE)
    if not value:
        return None
    folder = Path(value)
    if not folder.is_dir():
        raise MissingFileError(f"{DATA_VARIABLE} is {value!r}, which is not a folder. Correct or unset it.")
    return folder


def cache_folder() -> Path:
    """The folder of downloads: `~/.cache/bytenet`, or the system's equivalent."""
    import pooch

    return Path(pooch.os_cache("bytenet"))


def local_pairs(corpus: str, split: str, source_language: str, target_language: str) -> Pairs | None:
    """Read the pairs of the two files `BYTENET_DATA/<corpus>/<split>.<language>`, with or without `.gz`.

    Returns:
        The pairs; None if neither file exists.

    Raises:
        MissingFileError: only one of the files exists.
        InputError: they cannot be read as parallel text.
    """
    folder = data_folder()
    if folder is None:
        return None

    def side(language: str) -> Path | None:
        names = (f"{split}.{language}.gz", f"{split}.{language}")
        return next((path for name in names if (path := folder / corpus / name).exists()), None)

    source, target = side(source_language), side(target_language)
    if source is None and target is None:
        return None
    if source is None or target is None:
        language = source_language if source is None else target_language
        missing = folder / corpus / f"{split}.{language}.gz"
        raise MissingFileError(f"{source or target} exists, but its other side {missing} does not. Put both there.")
    return read_parallel(source, target)


def how_to_give_validation_pairs(config: "DataConfig") -> str:
    """A sentence for messages about a corpus that was read and has no validation pairs."""
    if config.corpus in USERS_CORPORA:
        return "Give validation pairs as data.validation_source and data.validation_target."
    files = [f"${DATA_VARIABLE}/{config.corpus}/val.{name}.gz" for name in sorted(config.languages)]
    return f"Put validation pairs into {' and '.join(files)}."


def fetch(file: RemoteFile) -> Path:
    """The path of a file of a corpus, under `BYTENET_DATA` or in the cache. It is downloaded if it is in neither.

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
        elsewhere = f"fetch the file elsewhere and put it at {under} or at {cached}."
        raise InputError(
            f"{file.url} could not be downloaded: {error}. {_advice(error.__cause__, file)} Or {elsewhere}"
        ) from error


def _advice(cause: BaseException | None, file: RemoteFile) -> str:
    """What to do after a download of `file` that `cause` ended."""
    from requests import ConnectionError, Timeout
    from requests.exceptions import ChunkedEncodingError, ProxyError, SSLError

    from bytenet.datasets.corpora.preparation.download import effect_of_repeating

    if isinstance(cause, SSLError):
        return "Check the date and the certificates of this machine, and run the same command again."
    if isinstance(cause, ProxyError):
        return "Check the variables http_proxy and https_proxy, and run the same command again."
    if isinstance(cause, (ConnectionError, Timeout, ChunkedEncodingError)):  # none, or interrupted
        return f"Run the same command again when there is a network; {effect_of_repeating(file)}."
    return "Look at this address in a browser, or try again later."
