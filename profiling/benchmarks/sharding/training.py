"""The same training from memory and from shards, in turns."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from bytenet.config import Config, DataConfig
from bytenet.datasets import Pairs
from bytenet.datasets.shards.sharding.shard_corpus import shard_corpus
from bytenet.profiling.benchmarks.measurement import Spread, seconds_in_turns
from bytenet.profiling.benchmarks.sharding.made_corpus import write_made_corpus
from bytenet.profiling.benchmarks.sharding.made_data import data_in_files, data_in_shards
from bytenet.training.compiled_models.model_pool import ModelPool
from bytenet.training.tasks import Task, make_task

_TURNS_A_SHARD = 2  # so every second turn waits for a shard, if anything does


@dataclass(frozen=True)
class TrainingRate:
    """How fast a training goes.

    Attributes:
        pairs_from: "memory" or "shards".
        positions_per_second: padded characters of targets a second.
        ratio: to the rate from memory, the median over turns.
    """

    pairs_from: str
    positions_per_second: Spread
    ratio: Spread


def compare_training(pairs: Pairs, config: Config, folder: Path, steps: int, repeats: int) -> list[TrainingRate]:
    """Train one model in turns on the same made corpus, from memory and from shards.

    Args:
        pairs: the real pairs that the corpus is made from.
        config: of model, training and batches. It must be supervised, without accumulation over batches.
        folder: for text and shards; what is written there is kept.
        steps: of a turn.
        repeats: turns of each, after one that does not count.
    """
    own = folder / "training"
    own.mkdir(parents=True)
    batch_size = config.data.batch_size
    per_shard = _TURNS_A_SHARD * steps * batch_size
    shards = -(-(repeats + 1) // _TURNS_A_SHARD)
    paths, _ = write_made_corpus(own, pairs, shards * per_shard)
    shard_corpus(paths, own / "shards", shards=shards)
    data = replace(config.data, batch_chars=None)
    in_memory, in_shards = data_in_files(data, *paths), data_in_shards(data, own / "shards")
    tasks = {"memory": _task(config, in_memory), "shards": _task(config, in_shards)}
    model = tasks["shards"].make_model(ModelPool())
    positions: dict[str, list[int]] = {name: [] for name in tasks}

    def turn(name: str, batches: Iterator) -> Callable[[], None]:
        def run() -> None:
            seen = 0
            for _ in range(steps):
                inputs, target_ids, weights = next(batches)
                model.train_on_batch(inputs, target_ids, sample_weight=weights)
                seen += target_ids.shape[0] * target_ids.shape[1]
            positions[name].append(seen)

        return run

    turns = {name: turn(name, iter(task.dataset())) for name, task in tasks.items()}
    seconds = seconds_in_turns(turns, repeats)
    rates = {
        name: [seen / value for seen, value in zip(positions[name][1:], values, strict=True)]
        for name, values in seconds.items()
    }
    return [
        TrainingRate(
            name,
            Spread.of(values),
            Spread.of([rate / other for rate, other in zip(values, rates["memory"], strict=True)]),
        )
        for name, values in rates.items()
    ]


def _task(config: Config, data: DataConfig) -> Task:
    evaluation = replace(config.evaluation, continuous_train=False)  # it needs pairs in memory
    training = config.training
    if training.schedule == "plateau":  # it needs validation pairs; until its first cut, the rate is constant
        training = replace(training, schedule="constant")
    return make_task(replace(config, data=data, training=training, evaluation=evaluation))
