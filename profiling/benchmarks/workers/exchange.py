"""How long several workers take to add up a vector, as they do with the gradient in every training step."""

import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import tensorflow as tf

from bytenet.profiling.benchmarks.measurement import Spread
from bytenet.profiling.benchmarks.workers.processes import on_each_worker
from bytenet.training.distribution.cluster import Cluster
from bytenet.training.distribution.workers import Workers

_CALLS = 5  # of a turn


@dataclass(frozen=True)
class ExchangeTime:
    """How long an exchange takes.

    Attributes:
        workers: number of processes.
        processes_a_core: workers that share a core of this machine; 1 if there are enough cores.
        megabytes: 10^6 bytes of the vector of float32.
        seconds: over the turns, as the chief measured them.
    """

    workers: int
    processes_a_core: float
    megabytes: float
    seconds: Spread


def measure_exchange(workers: int, megabytes: Sequence[float], repeats: int = 5) -> list[ExchangeTime]:
    """Time exchanges between processes on this machine.

    Args:
        workers: number of processes.
        megabytes: sizes of the vectors.
        repeats: turns. Each has some exchanges of every size.

    Returns:
        The time of each size, in their order.

    Raises:
        InputError: there are too few GPUs.
    """
    return on_each_worker(workers, measure_exchange_as_worker, megabytes, repeats, workers)


def measure_exchange_as_worker(
    megabytes: Sequence[float], repeats: int, workers_here: int | None = None
) -> list[ExchangeTime]:
    """Time exchanges as one of the workers that `TF_CONFIG` names. All of them must do it.

    Args:
        megabytes, repeats: as for `measure_exchange`.
        workers_here: how many of the workers run on this machine.
    """
    cluster = Cluster.from_environment()
    assert cluster is not None
    strategy = Workers(cluster).strategy
    exchange = exchange_of(strategy)
    vectors = [tf.random.normal([round(size * 1e6 / 4)], seed=1) for size in megabytes]
    seconds_of_size: list[list[float]] = [[] for _ in vectors]
    exchange(vectors[0])  # tracing
    for _ in range(repeats):
        for vector, seconds in zip(vectors, seconds_of_size, strict=True):
            began = time.perf_counter()
            for _ in range(_CALLS):
                exchange(vector)
            seconds.append((time.perf_counter() - began) / _CALLS)
    cores = len(os.sched_getaffinity(0))
    return [
        ExchangeTime(len(cluster.addresses), max(1.0, (workers_here or 1) / cores), size, Spread.of(seconds))
        for size, seconds in zip(megabytes, seconds_of_size, strict=True)
    ]


def exchange_of(strategy: tf.distribute.Strategy, dtype: str = "float32") -> Callable[[tf.Tensor], float]:
    """A function that adds up a float32 vector of any size over all replicas, as an optimiser does with the gradient.

    Args:
        strategy: of the workers.
        dtype: in which the replicas send each other the vector.
    """

    def add_up(vector: tf.Tensor) -> tf.Tensor:
        own = tf.cast(tf.identity(vector), dtype)  # on this replica's device, as a gradient is
        total = tf.distribute.get_replica_context().all_reduce(tf.distribute.ReduceOp.SUM, own)
        return tf.reduce_sum(tf.cast(total, vector.dtype))

    @tf.function(autograph=False, input_signature=[tf.TensorSpec([None], tf.float32)])
    def run(vector: tf.Tensor) -> tf.Tensor:
        return strategy.reduce("SUM", strategy.run(add_up, args=(vector,)), axis=None)

    return lambda vector: float(run(vector))
