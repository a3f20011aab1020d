"""A model of the time that workers need to add up their gradients, for numbers of workers and links that are not here.

TensorFlow adds up in a ring. Each of N workers cuts its vector into N parts. In 2 (N - 1) rounds, each sends a part to
its neighbour and gets one. So a worker sends 2 (N - 1)/N times its vector, nearly the same for any N.

    seconds = c (call + 2 (N - 1) round + sent bytes · byte) + sent bytes · 8 / bits per second of the link

The first three are the work of the processors, and c is the number of workers that share a core. In this model, nothing
of it overlaps with the link. A call has two operations, as a training step has: the vector, and a number. So a round of
the model is two rounds of a ring.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from scipy.optimize import nnls

from bytenet.profiling.benchmarks.workers.exchange import ExchangeTime


@dataclass(frozen=True)
class ComparedTime:
    """A measured time beside the model's.

    Attributes:
        time: measured.
        model_seconds: the same by the model; None without a model.
    """

    time: ExchangeTime
    model_seconds: float | None


@dataclass(frozen=True)
class Prediction:
    """A training step of several machines by the model.

    Attributes:
        machines: their number.
        gigabits: 10^9 bits per second of the link of each.
        exchange_seconds: of the gradient.
        efficiency: the share of a step that is not the exchange, if each machine has a batch of its own size.
    """

    machines: int
    gigabits: float
    exchange_seconds: float
    efficiency: float


@dataclass(frozen=True)
class ExchangeModel:
    """The costs of an exchange.

    Attributes:
        call_seconds: of an exchange of nothing.
        round_seconds: of each round.
        byte_seconds: the processors' work for each byte that a worker sends.
    """

    call_seconds: float
    round_seconds: float
    byte_seconds: float

    @classmethod
    def fitted(cls, times: Sequence[ExchangeTime]) -> Self:
        """The model of measured times, on links that take no time. Relative errors count.

        Args:
            times: of at least two numbers of workers and two sizes.
        """
        table = np.array([_amounts(time.workers, time.megabytes * 1e6) for time in times])
        seconds = np.array([time.seconds.median / time.processes_a_core for time in times])
        costs, _ = nnls(table / seconds[:, None], np.ones(len(times)))
        return cls(*costs.tolist())

    def seconds(
        self, workers: int, size: float, bits_per_second: float = float("inf"), processes_a_core: float = 1.0
    ) -> float:
        """Seconds of an exchange.

        Args:
            workers: their number.
            size: bytes of the vector.
            bits_per_second: of each worker's link, in both directions at once.
            processes_a_core: workers that share a core.
        """
        amounts = _amounts(workers, size)
        work = float(np.dot((self.call_seconds, self.round_seconds, self.byte_seconds), amounts))
        return processes_a_core * work + amounts[2] * 8 / bits_per_second

    def compared(self, time: ExchangeTime) -> ComparedTime:
        """A time that was measured on one machine, beside the model's."""
        return ComparedTime(
            time, self.seconds(time.workers, time.megabytes * 1e6, processes_a_core=time.processes_a_core)
        )

    def prediction(self, machines: int, gigabits: float, size: float, step_seconds: float) -> Prediction:
        """A step of several machines that share no core.

        Args:
            machines: their number.
            gigabits: 10^9 bits per second of the link of each.
            size: bytes of the gradient.
            step_seconds: of a machine alone.
        """
        seconds = self.seconds(machines, size, gigabits * 1e9)
        return Prediction(machines, gigabits, seconds, step_seconds / (step_seconds + seconds))


def _amounts(workers: int, size: float) -> tuple[float, float, float]:
    """Calls, rounds, and bytes that each worker sends."""
    rounds = 2 * (workers - 1)
    return 1.0, rounds, rounds / workers * size
