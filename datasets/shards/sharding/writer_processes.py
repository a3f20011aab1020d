"""Processes that write shards, so that compression and reading run at the same time."""

import errno
import os
import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from types import TracebackType
from typing import Self

from bytenet.datasets.shards.sharding.shard_files import ShardFiles, ShardPairs
from bytenet.errors import InputError
from bytenet.new_process import end_with_parent


class ShardWriters:
    """Writes shards in several processes, each with its own shards.

    A process takes the next pairs when it has written the last ones, so nothing piles up in memory.

    Args:
        folder: of the shards.
        shards: number of shards.
        processes: number of processes; 0 writes in this process.
    """

    def __init__(self, folder: Path, shards: int, processes: int):
        self._folder = folder
        self._own: dict[int, ShardFiles] = {}
        self._links: list[Connection] = []
        self._processes = []
        if processes == 0:
            with _explained(folder):
                self._own = {shard: ShardFiles(folder, shard) for shard in range(shards)}
        context = get_context("spawn")
        processes = min(processes, shards)
        for first in range(processes):
            own_end, child_end = context.Pipe()
            numbers = range(first, shards, processes)
            process = context.Process(target=_write_shards, args=(child_end, folder, numbers), daemon=True)
            process.start()
            child_end.close()
            self._links.append(own_end)
            self._processes.append(process)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for files in self._own.values():
            files.release()
        for link in self._links:
            link.close()
        for process in self._processes:
            if error is not None:
                process.terminate()
            process.join()

    def write(self, parts: Sequence[ShardPairs]) -> None:
        """Write further pairs.

        Raises:
            InputError: the disk is full, or a process was killed.
        """
        if not self._links:
            with _explained(self._folder):
                _write(self._own, parts)
        for number, link in enumerate(self._links):
            self._send(link, [part for part in parts if part.shard % len(self._links) == number])

    def close(self) -> dict[int, int]:
        """Complete all shards. Returns the number of pairs of each.

        Raises:
            InputError: as for `write`.
        """
        if not self._links:
            with _explained(self._folder):
                return {shard: files.close() for shard, files in self._own.items()}
        for link in self._links:
            self._send(link, None)
        counts: dict[int, int] = {}
        for link in self._links:
            part, problem = self._answer(link)
            if problem:
                raise InputError(problem)
            counts |= part
        return dict(sorted(counts.items()))

    def _send(self, link: Connection, parts: Sequence[ShardPairs] | None) -> None:
        """Send pairs to a process; None tells it that nothing follows."""
        try:
            link.send(parts)
        except (BrokenPipeError, ConnectionResetError):  # the process has ended, and says why
            raise InputError(self._answer(link)[1]) from None

    @staticmethod
    def _answer(link: Connection) -> tuple[dict[int, int], str]:
        """What a process says at its end: numbers of pairs by shard, and what went wrong."""
        try:
            return link.recv()
        except (EOFError, ConnectionResetError):
            return {}, (
                "A process that writes shards was killed, perhaps because this machine has too little memory. Run the "
                "command again, with fewer --processes or fewer --shards."
            )


def _write_shards(link: Connection, folder: Path, numbers: Sequence[int]) -> None:
    """The work of a process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches all processes: the parent ends this one
    end_with_parent()  # if the parent is killed, a new sharding may use the folder
    try:
        with _explained(folder):
            files = {shard: ShardFiles(folder, shard) for shard in numbers}
            while (parts := link.recv()) is not None:
                _write(files, parts)
            link.send(({shard: one.close() for shard, one in files.items()}, ""))
    except EOFError:  # the other side gave up
        pass
    except InputError as error:
        link.send(({}, str(error)))


def _write(files: dict[int, ShardFiles], parts: Sequence[ShardPairs]) -> None:
    for part in parts:
        files[part.shard].add(part)


@contextmanager
def _explained(folder: Path) -> Iterator[None]:
    """Turn the errors of writing into an InputError."""
    try:
        yield
    except InputError:
        raise
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else str(error)
        advice = "Make room, or choose another folder"
        if error.errno == errno.EMFILE:  # each shard has two open files
            advice = "Choose fewer --shards or more --processes, or raise the limit of open files (ulimit -n)"
        raise InputError(
            f"The shards in {folder} could not be written: {reason}. What was written is removed. {advice}, and run "
            "the command again."
        ) from error
