"""Downloads that show their progress, go on where they stopped, and are checked before they count."""

import errno
import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

from bytenet.datasets.corpora.entry import RemoteFile
from bytenet.errors import InputError

_CHUNK_BYTES = 1 << 16
_TIMEOUT_SECONDS = (10, 60)  # to connect, and between two pieces


class DownloadError(Exception):
    """A download that did not come to its end, or brought something else; the message says why."""


def download(file: RemoteFile, destination: Path) -> Path:
    """Fetch `file` to `destination`.

    What has arrived lies in `destination` with `.part` behind its name until all is there and its checksum is
    right; a later call goes on from it. Of several processes one downloads into a folder at a time.

    Returns:
        `destination`; of another process, if that was first.

    Raises:
        DownloadError: no connection, a refusal, an early end, or a wrong checksum.
        InputError: the disk is full, or the folder cannot be written to.
    """
    import pooch
    import requests

    part = destination.with_name(destination.name + ".part")
    try:
        destination.parent.mkdir(parents=True, exist_ok=True)
        with _alone_in(destination.parent):
            if destination.exists():
                return destination
            _receive(file, part)
            if not pooch.hashes.hash_matches(part, file.checksum):
                part.unlink()
                raise DownloadError("what came has another checksum than expected, and was deleted")
            os.replace(part, destination)
    except requests.ConnectionError as error:
        raise DownloadError(f"no connection to {urlsplit(file.url).hostname}, or it broke") from error
    except requests.Timeout as error:
        raise DownloadError(f"{urlsplit(file.url).hostname} does not answer") from error
    except requests.RequestException as error:
        raise DownloadError(str(error)) from error
    except OSError as error:
        reason = "the disk is full" if error.errno in (errno.ENOSPC, errno.EDQUOT) else error.strerror
        raise InputError(
            f"{file.url} could not be saved as {destination}: {reason}. Make room or let that folder be "
            "written to, and run the same command again; it goes on where it stopped."
        ) from error
    return destination


@contextmanager
def _alone_in(folder: Path) -> Iterator[None]:
    """Inside, no other process downloads into `folder`, if its file system has locks."""
    from rich.console import Console

    with open(folder / ".lock", "wb") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            Console(stderr=True).print(f"Waiting for another process, which downloads into {folder} ...")
            fcntl.flock(lock, fcntl.LOCK_EX)
        except OSError:  # it has none
            pass
        yield


def _receive(file: RemoteFile, part: Path) -> None:
    """Bring `part` from what it holds to the whole file."""
    import requests

    have = part.stat().st_size if part.exists() else 0
    headers = {"Accept-Encoding": "identity"}
    if have:
        headers["Range"] = f"bytes={have}-"
    with requests.get(file.url, headers=headers, stream=True, timeout=_TIMEOUT_SECONDS) as response:
        if response.status_code == requests.codes.requested_range_not_satisfiable:
            # Nothing lies beyond what is here already: it is all of the file, or the file has changed.
            if response.headers.get("Content-Range") == f"bytes */{have}":
                return
            part.unlink()
            raise DownloadError("the file there is not the one that was begun; what had come was deleted")
        if not response.ok:
            raise DownloadError(f"the server answered {response.status_code} {response.reason}")
        if response.status_code != requests.codes.partial_content:
            have = 0  # the server sends all of it, whatever was asked for
        rest = response.headers.get("Content-Length")
        total = have + int(rest) if rest else file.size_bytes
        _write(response, part, have, total)
    if total is not None and part.stat().st_size != total:
        raise DownloadError(f"it ended after {part.stat().st_size} of {total} bytes")


def _write(response, part: Path, have: int, total: int | None) -> None:
    """Append the body to the first `have` bytes of `part`, with a progress bar on stderr."""
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
