"""A corpus distributed over shards, in one pass."""

import hashlib
import json
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from itertools import pairwise
from pathlib import Path

import numpy as np

from bytenet.datasets.shards.folder import FOLDER_FORMAT, index_path
from bytenet.datasets.shards.sharding.duplicates import SeenHashes
from bytenet.datasets.shards.sharding.filters import CAME_BEFORE, FilterSettings, LeftOut
from bytenet.datasets.shards.sharding.inputs import LineBlock, read_inputs
from bytenet.datasets.shards.sharding.shard_files import ShardPairs
from bytenet.datasets.shards.sharding.sharding_report import ShardingReport
from bytenet.datasets.shards.sharding.text_block import TextBlock
from bytenet.datasets.shards.sharding.writer_processes import ShardWriters
from bytenet.datasets.shards.side_file import SHARD_FILE
from bytenet.datasets.text.pair_faults import RATIO_MIN_CHARS
from bytenet.errors import InputError
from bytenet.files import PARTIAL, write_text_atomic
from bytenet.folder_lock import LOCK_NAME, alone_in
from bytenet.memory_allocator import return_freed_memory
from bytenet.output_paths import check_output_folder


def shard_corpus(
    inputs: Sequence[str],
    folder: str | os.PathLike[str],
    languages: tuple[str, str] = ("de", "en"),
    settings: FilterSettings | None = None,
    shards: int = 64,
    seed: int = 1,
    duplicates_megabytes: int = 256,
    processes: int = 0,
    progress: Callable[[int], None] = lambda pairs: None,
) -> ShardingReport:
    """Distribute the pairs of some inputs at random over shards, in one pass and in bounded memory.

    The same inputs and arguments give the same pairs in the same shards. If the sharding fails, its files are removed.
    If it is killed, they are not a folder of shards, and the next sharding into the folder removes them.

    Args:
        inputs: see `read_inputs`.
        folder: of the shards, new or empty, or with the files of a sharding that was killed.
        languages: of source and target.
        settings: which pairs are left out.
        shards: number of shards. A training holds two or three of them in memory.
        seed: of the distribution.
        duplicates_megabytes: memory of the table that finds duplicates, see `SeenHashes`.
        processes: number of processes that write, beside this one that reads; 0 does all in this one. With others, a
            script needs `if __name__ == "__main__":`, as always with `multiprocessing`.
        progress: called with the number of pairs read so far.

    Raises:
        MissingFileError: an input does not exist.
        InputError: an argument is not allowed, an input cannot be read, the folder is not empty or cannot be written,
            another process makes shards in it, the memory or the disk is full, or no pair is left.
    """
    if shards < 1:
        raise InputError(f"shards is {shards}; expected at least 1.")
    if not all(languages):
        raise InputError(f"The languages are {languages[0]!r} and {languages[1]!r}; expected two codes, such as de.")
    settings = settings or FilterSettings()
    blocks = read_inputs(inputs, languages)
    path = Path(folder)
    check_output_folder(path, "FOLDER")
    seen = SeenHashes(duplicates_megabytes) if settings.duplicates else None
    with _files_of_sharding(path):
        left_out: dict[str, LeftOut] = {}
        random = np.random.default_rng(seed)
        read = 0
        with ShardWriters(path, shards, processes) as writers:
            for block in blocks:
                writers.write(_distribute(block, settings, seen, left_out, shards, random))
                read += len(block.source)
                progress(read)
                return_freed_memory()  # the gaps between the blocks' arrays would take more and more memory
            counts = writers.close()
        not_remembered = seen.forgotten if seen else 0
        report = ShardingReport(read, sum(counts.values()), [*counts.values()], [*left_out.values()], not_remembered)
        if not report.kept:
            raise InputError(report.why_nothing_is_kept(inputs))
        content = {
            "format": FOLDER_FORMAT,
            "languages": list(languages),
            "shards": shards,
            "pairs": report.kept,
            "inputs": list(inputs),
            "seed": seed,
            "filters": asdict(settings) | {"ratio_min_chars": RATIO_MIN_CHARS},
            "report": asdict(report),
        }
        write_text_atomic(index_path(path), json.dumps(content, ensure_ascii=False, indent=1) + "\n")
    return report


def _distribute(
    block: LineBlock,
    settings: FilterSettings,
    seen: SeenHashes | None,
    left_out: dict[str, LeftOut],
    shards: int,
    random: np.random.Generator,
) -> list[ShardPairs]:
    """The pairs of a block that are kept, by shard."""
    source, target = TextBlock.of(block.source), TextBlock.of(block.target)
    good = np.ones(len(block.source), bool)
    for reason, fault in settings.faults(block, source, target).items():
        left_out.setdefault(reason, LeftOut(reason)).add(np.flatnonzero(good & fault), block)
        good &= ~fault
    kept = np.flatnonzero(good)
    records = [source.lines[index] + b"\n" + target.lines[index] for index in kept.tolist()]
    if seen is not None and records:
        duplicate = seen.add(_hashes(records))
        left_out.setdefault(CAME_BEFORE, LeftOut(CAME_BEFORE)).add(kept[duplicate], block)
        kept = kept[~duplicate]
        records = [record for record, repeated in zip(records, duplicate.tolist(), strict=True) if not repeated]
    shard_of = random.integers(shards, size=len(kept))
    order = np.argsort(shard_of, kind="stable")
    lengths = np.stack([source.lengths, target.lengths], axis=1)[kept[order]].astype(np.uint16)
    bounds = np.searchsorted(shard_of[order], np.arange(shards + 1)).tolist()
    records = [records[place] for place in order.tolist()]
    return [
        ShardPairs(shard, records[begin:end], lengths[begin:end])
        for shard, (begin, end) in enumerate(pairwise(bounds))
        if begin < end
    ]


def _hashes(records: list[bytes]) -> np.ndarray:
    """int64 `(n,)`. Python's own hashes would differ from process to process."""
    digests = (hashlib.blake2b(record, digest_size=8).digest() for record in records)
    return np.frombuffer(b"".join(digests), np.int64)


@contextmanager
def _files_of_sharding(folder: Path) -> Iterator[None]:
    """Make a folder, or empty it if a sharding into it was killed. After an error, remove the files."""
    folder.mkdir(parents=True, exist_ok=True)
    names = set(os.listdir(folder))
    if LOCK_NAME not in names and names:
        raise _not_empty(folder)
    with alone_in(folder, "shards a corpus"):
        if not all(map(_is_unfinished, os.listdir(folder))):
            raise _not_empty(folder)
        try:
            _remove_files(folder)
            yield
        except BaseException:
            _remove_files(folder)
            raise
        # Only an unfinished folder has a lock: without it, files of these names are not ours to remove.
        (folder / LOCK_NAME).unlink()


def _is_unfinished(name: str) -> bool:
    return name == LOCK_NAME or name.startswith(PARTIAL) or SHARD_FILE.fullmatch(name) is not None


def _remove_files(folder: Path) -> None:
    for path in folder.iterdir():
        if path.name != LOCK_NAME:
            path.unlink()


def _not_empty(folder: Path) -> InputError:
    return InputError(f"{folder} is not empty; expected a new folder for the shards. Choose another one, or empty it.")
