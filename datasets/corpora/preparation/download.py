"""Downloads that show their progress, continue after an interruption, and are checked before use."""

import os
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from bytenet.datasets.corpora.entry import RemoteFile
from bytenet.errors import InputError
from bytenet.files import is_full_disk
from bytenet.folder_lock import alone_in

if TYPE_CHECKING:
    from requests import Response

_CHUNK_BYTES = 1 << 16
_TIMEOUT_SECONDS = (10, 60)  # to connect, and between two chunks


class DownloadError(Exception):
    """A download that was not completed or has the wrong content. The message gives the reason."""


def download(file: RemoteFile, destination: Path) -> Path:
    """Download `file` to `destination`.

    Until the file is complete and its checksum is right, it has the suffix `.part`. A later call continues it, if the
    file has a checksum. Only one process at a time downloads into a folder.

    Returns:
        `destination`. The file may come from another process that was first.

    Raises:
        DownloadError: there is no connection or no safe one, the server refuses, the file ends early, or its checksum
            is wrong.
        InputError: the disk is full, or the folder is not writable.
    """
    import pooch
    import requests

    part = destination.with_name(destination.name + ".part")
    try:
        destination.parent.mkdir(parents=True, exist_ok=True)
        with alone_in(destination.parent, "downloads a corpus", say=partial(print, file=sys.stderr)):
            if destination.exists():
                return destination
            _receive(file, part)
            if not pooch.hashes.hash_matches(part, file.checksum):
                part.unlink()
                raise DownloadError("its checksum is not the expected one; the file was deleted")
            os.replace(part, destination)
    except requests.exceptions.SSLError as error:
        host = urlsplit(file.url).hostname
        raise DownloadError(f"no safe connection to {host}: {_innermost_reason(error)}") from error
    except requests.exceptions.ProxyError as error:
        raise DownloadError(f"no connection through the proxy: {_innermost_reason(error)}") from error
    except requests.ConnectionError as error:
        raise DownloadError(f"no connection to {urlsplit(file.url).hostname}, or it was interrupted") from error
    except requests.Timeout as error:
        raise DownloadError(f"{urlsplit(file.url).hostname} does not answer") from error
    except requests.RequestException as error:
        raise DownloadError(str(error)) from error
    except OSError as error:
        reason = "the disk is full" if is_full_disk(error) else error.strerror
        raise InputError(
            f"{file.url} could not be saved as {destination}: {reason}. Free some space or make the folder writable, "
            f"and run the same command again; {effect_of_repeating(file)}."
        ) from error
    return destination


def effect_of_repeating(file: RemoteFile) -> str:
    """What a repeated download of a file does, in words."""
    return "the download will continue" if file.checksum else "the download will begin again"


def _innermost_reason(error: BaseException) -> BaseException:
    """What urllib3 found, without the layers around it."""
    inner = getattr(error, "original_error", None) or getattr(error, "reason", None) or next(iter(error.args), None)
    return _innermost_reason(inner) if isinstance(inner, BaseException) else error


def _receive(file: RemoteFile, part: Path) -> None:
    """Download the rest of a file into `part`."""
    import requests

    # Without a checksum, nothing would tell that the file on the server is another one now.
    have = part.stat().st_size if part.exists() and file.checksum else 0
    headers = {"Accept-Encoding": "identity"}
    if have:
        headers["Range"] = f"bytes={have}-"
    with requests.get(file.url, headers=headers, stream=True, timeout=_TIMEOUT_SECONDS) as response:
        if response.status_code == requests.codes.requested_range_not_satisfiable:
            # The server has nothing after these bytes: the file is complete, or it has changed.
            if response.headers.get("Content-Range") == f"bytes */{have}":
                return
            part.unlink()
            raise DownloadError("the file has changed since the download began; the incomplete file was deleted")
        if not response.ok:
            raise DownloadError(f"the server answered {response.status_code} {response.reason}")
        if response.status_code != requests.codes.partial_content:
            have = 0  # the server ignores the range and sends the whole file
        rest = response.headers.get("Content-Length")
        total = have + int(rest) if rest else file.size_bytes
        _write(response, part, have, total)
    if total is not None and part.stat().st_size != total:
        raise DownloadError(f"the transfer ended after {part.stat().st_size} of {total} bytes")


def _write(response: "Response", part: Path, have: int, total: int | None) -> None:
    """Append the body of a response to the first `have` bytes of `part`, with a progress bar on stderr."""
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

    columns = TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TimeRemainingColumn()
    name = part.name.removesuffix(".part")
    with (
        Progress(*columns, console=Console(stderr=True)) as progress,
        open(part, "ab" if have else "wb") as output,
    ):
        task = progress.add_task(name, total=total, completed=have)
        for chunk in response.iter_content(_CHUNK_BYTES):
            output.write(chunk)
            progress.advance(task, len(chunk))
