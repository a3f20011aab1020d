"""The processes that train one model together, and what they tell each other outside of the training steps."""

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TypeVar

import numpy as np
import tensorflow as tf

from bytenet.datasets.batches.share import Share, in_blocks
from bytenet.errors import ConfigError, InputError
from bytenet.training.distribution.cluster import Cluster
from bytenet.training.distribution.strategies import workers_strategy

_SENT_AT_ONCE = 1 << 24  # bytes
_T = TypeVar("_T")


class Workers:
    """The workers of a run. A process that trains alone is one worker, and nothing is sent.

    All workers must call the same methods in the same order, since each waits for the others. They use TensorFlow's
    collective operations, so that they need no further connection.

    Args:
        cluster: of this process; None if it trains alone.

    Attributes:
        cluster: as given.
    """

    def __init__(self, cluster: Cluster | None = None):
        self.cluster = cluster

    @property
    def count(self) -> int:
        """Number of workers."""
        return 1 if self.cluster is None else len(self.cluster.addresses)

    @property
    def index(self) -> int:
        """Which of them this process is."""
        return 0 if self.cluster is None else self.cluster.index

    @property
    def is_chief(self) -> bool:
        """Whether this process measures and writes for all."""
        return self.index == 0

    @property
    def share(self) -> Share:
        """The rows of each batch that this worker trains on."""
        return Share(self.count, self.index)

    @cached_property
    def strategy(self) -> tf.distribute.Strategy | None:
        """The strategy of all devices of all workers; None alone. To make it connects the workers.

        TensorFlow must not have started before.
        """
        return None if self.cluster is None else workers_strategy(self.cluster)

    def check_devices(self, devices: Sequence[str] | None) -> None:
        """Raise a ConfigError if `training.devices` is set, but there are several workers."""
        if self.cluster is not None and devices is not None:
            raise ConfigError(
                f"training.devices is {list(devices)}, but with several workers, each uses all GPUs that it sees, or "
                "its CPU. Leave training.devices out. CUDA_VISIBLE_DEVICES chooses the GPUs of a worker."
            )

    def texts(self, own: str) -> list[str]:
        """The texts of all workers, in their order.

        Args:
            own: text of this worker.
        """
        if self.cluster is None:
            return [own]
        words = _words(own.encode())
        lengths = np.zeros(self.count, np.int32)
        lengths[self.index] = len(words)
        table = np.zeros((self.count, int(self._sum(lengths).max())), np.int32)
        table[self.index, : len(words)] = words
        return [_bytes(row).decode() for row in self._sum(table)]

    def from_chief(self, data: bytes) -> bytes:
        """The bytes of the chief.

        Args:
            data: of the chief. Those of other workers do not matter.
        """
        if self.cluster is None:
            return data
        words = _words(data) if self.is_chief else np.zeros(0, np.int32)
        (length,) = self._sum(np.array([len(words)], np.int32))
        received = np.zeros(length, np.int32)
        for begin in range(0, length, _SENT_AT_ONCE // 4):
            part = slice(begin, min(begin + _SENT_AT_ONCE // 4, length))
            received[part] = self._sum(words[part] if self.is_chief else received[part])
        return _bytes(received)

    def together(self, prepare: Callable[[], _T]) -> _T:
        """Call a function on every worker. If it fails on one, it fails on all, and each says why.

        Raises:
            InputError, OSError: of the function, on this worker or on another.
        """
        if self.cluster is None:
            return prepare()
        failure: Exception | None = None
        try:
            result = prepare()
        except (InputError, OSError) as error:
            failure = error
        messages = self.texts("" if failure is None else str(failure))
        if failure is not None:
            raise failure
        for index, message in enumerate(messages):
            if message:
                raise InputError(f"The training cannot begin, because {self.cluster.name(index)} says: {message}")
        return result

    def distribute(self, batches: tf.data.Dataset) -> tf.data.Dataset:
        """This worker's rows of batches as `fit` takes them: for each of its replicas an equal block.

        Args:
            batches: any nest of tensors whose first axis is the rows.
        """
        if self.strategy is None:
            return batches
        by_replica = in_blocks(batches, self.strategy.num_replicas_in_sync // self.count)
        return self.strategy.distribute_datasets_from_function(lambda context: by_replica)

    def _sum(self, values: np.ndarray) -> np.ndarray:
        """The sum of int32 arrays of equal shape over the workers."""
        assert self.strategy is not None
        # TensorFlow may keep constants, on a device of another name.
        return self.strategy.reduce("SUM", tf.identity(values), axis=None).numpy()


def _words(data: bytes) -> np.ndarray:
    """Bytes as int32, the type that all devices can add up. A last word says how many bytes of padding there are."""
    padding = -len(data) % 4
    return np.append(np.frombuffer(data + bytes(padding), np.int32), np.int32(padding + 1))


def _bytes(words: np.ndarray) -> bytes:
    """The bytes of `_words`, which may be followed by zeros."""
    end = int(np.flatnonzero(words)[-1])  # the last word is not zero
    return words[:end].tobytes()[: 4 * end - (int(words[end]) - 1)]
