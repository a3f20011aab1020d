"""Sharding and the reading of shards, measured in processes of their own."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from bytenet.config import DataConfig
from bytenet.datasets import Pairs
from bytenet.errors import InputError
from bytenet.new_process import in_new_process
from bytenet.profiling.benchmarks.resident_memory import peak_of_children, peak_resident_bytes
from bytenet.profiling.benchmarks.sharding.made_corpus import write_made_corpus
from bytenet.profiling.benchmarks.sharding.made_data import data_in_shards


@dataclass(frozen=True)
class ShardingCost:
    """Speed and memory for a corpus of one size.

    Attributes:
        pairs: number of pairs of the corpus.
        kept: number of pairs in the shards.
        sharded_pairs_per_second: speed of the sharding, of pairs with and without faults.
        sharding_peak_bytes: peak memory of the sharding, added up over its processes.
        read_pairs_per_second: speed at which a whole epoch of batches is delivered, without a model.
        reading_peak_bytes: peak memory of the process that reads the epoch, with Python and TensorFlow.
        shard_bytes: size of all files of the shards.
    """

    pairs: int
    kept: int
    sharded_pairs_per_second: float
    sharding_peak_bytes: int
    read_pairs_per_second: float
    reading_peak_bytes: int
    shard_bytes: int


def measure_sharding(
    pairs: Pairs,
    data_config: DataConfig,
    folder: Path,
    sizes: Sequence[int],
    shards: int,
    processes: int,
    say: Callable[[str], None] = lambda line: None,
) -> list[ShardingCost]:
    """Make corpora, shard each, and read an epoch of each.

    Args:
        pairs: the real pairs that the corpora are made from.
        data_config: reads the settings of batches from it.
        folder: for text and shards; what is written there is kept.
        sizes: number of pairs of each corpus.
        shards: number of shards of each.
        processes: number of processes that write.
        say: called with messages on the progress.

    Raises:
        InputError: the sharding did not leave out exactly the pairs with faults.
    """
    costs = []
    for size in sizes:
        own = folder / f"{size}-pairs"
        own.mkdir(parents=True)
        say(f"{size:,} pairs: writing text ...")
        paths, faults = write_made_corpus(own, pairs, size)
        say(f"{size:,} pairs: sharding ...")
        kept, left_out, seconds, sharding_peak = in_new_process(_shard, paths, own / "shards", shards, processes)
        if left_out != faults:
            raise InputError(f"The sharding left out {left_out}, but the corpus has {faults}.")
        say(f"{size:,} pairs: sharded {size / seconds:,.0f} a second, peak memory {sharding_peak / 1e6:,.0f} MB")
        say(f"{size:,} pairs: reading ...")
        data = replace(data_in_shards(data_config, own / "shards"), max_length=500)
        read_seconds, reading_peak = in_new_process(_read_epoch, data)
        say(f"{size:,} pairs: read {kept / read_seconds:,.0f} a second, peak memory {reading_peak / 1e6:,.0f} MB")
        shard_bytes = sum(path.stat().st_size for path in (own / "shards").iterdir())
        costs.append(
            ShardingCost(size, kept, size / seconds, sharding_peak, kept / read_seconds, reading_peak, shard_bytes)
        )
    return costs


def _shard(paths: Sequence[str], folder: Path, shards: int, processes: int) -> tuple[int, dict[str, int], float, int]:
    from bytenet.datasets.shards.sharding.shard_corpus import shard_corpus

    of_writers = 0

    def look_at_writers(pairs: int) -> None:
        nonlocal of_writers
        of_writers = max(of_writers, peak_of_children())

    began = time.perf_counter()
    report = shard_corpus(paths, folder, shards=shards, processes=processes, progress=look_at_writers)
    seconds = time.perf_counter() - began
    left_out = {entry.reason: entry.pairs for entry in report.left_out if entry.pairs}
    return report.kept, left_out, seconds, peak_resident_bytes() + of_writers


def _read_epoch(data_config: DataConfig) -> tuple[float, int]:
    from bytenet.datasets import Vocabulary
    from bytenet.datasets.shards.dataset import shard_dataset
    from bytenet.datasets.shards.folder import ShardFolder
    from bytenet.datasets.shards.plan import plan_shards

    assert data_config.train_shards is not None
    folder = ShardFolder.open(data_config.train_shards)
    plan = plan_shards(folder, data_config)
    dataset = shard_dataset(plan, Vocabulary([*folder.characters()]), seed=1)
    began = time.perf_counter()
    for _ in dataset.take(plan.num_batches):
        pass
    return time.perf_counter() - began, peak_resident_bytes()
