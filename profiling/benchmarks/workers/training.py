"""What a training step of several workers costs, and how much of it is the exchange of the gradient."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import tensorflow as tf

from bytenet.models.model_size import num_trainable
from bytenet.private_api import build_nothing_in_fit
from bytenet.profiling.benchmarks.measurement import Spread
from bytenet.profiling.benchmarks.step_times import StepTimes
from bytenet.profiling.benchmarks.synthetic import full_length_batches, synthetic_vocabulary
from bytenet.profiling.benchmarks.training_case import SCHEDULED_STEPS, TrainingCase
from bytenet.profiling.benchmarks.workers.exchange import exchange_of
from bytenet.profiling.benchmarks.workers.processes import on_each_worker
from bytenet.training.compiled_models.trainable_model import make_trainable_model, set_up_keras
from bytenet.training.distribution.agreement import Agreement
from bytenet.training.distribution.cluster import Cluster
from bytenet.training.distribution.replicated_step import supervised_step
from bytenet.training.distribution.workers import Workers

_FIRST_STEPS = 2  # tracing, and libraries that choose their algorithms
_STEPS = 5  # of a turn


@dataclass(frozen=True)
class WorkersCost:
    """What a training step of several workers costs. Spreads are over the turns, as the chief measured them.

    Attributes:
        case: name of the case.
        workers: processes on this machine that share each batch.
        batch_size: sentences of a batch, of all workers together.
        length: ids of each sentence.
        xla: whether XLA compiles the gradient.
        trainable_parameters: number of trainable weights.
        exchanged_megabytes: 10^6 bytes of the gradient, which every worker sends and receives about twice a step.
        seconds: seconds per step.
        exchange_seconds: seconds in which the workers add up a vector of the gradient's size.
        share_of_exchange: `exchange_seconds` over `seconds`, turn by turn. Batch normalisation exchanges its
            statistics, too, which is not in it.
    """

    case: str
    workers: int
    batch_size: int
    length: int
    xla: bool
    trainable_parameters: int
    exchanged_megabytes: float
    seconds: Spread
    exchange_seconds: Spread
    share_of_exchange: Spread


def measure_workers(
    cases: Sequence[TrainingCase],
    workers: int,
    repeats: int,
    say: Callable[[str], None] = lambda line: None,
) -> list[WorkersCost]:
    """Train each case with several workers on this machine, each a process of its own.

    Args:
        cases: `replicas` is the number of workers.
        workers: number of processes.
        repeats: turns: five steps, then as many exchanges alone.
        say: called with messages on the progress.

    Returns:
        The cost of each case, in their order.

    Raises:
        InputError: the workers cannot share a batch evenly, there are too few GPUs, or a case cannot be measured.
    """
    costs = []
    for case in cases:
        case.check()
        name = f"{_name(case)}, {workers} workers"
        say(f"{name} ...")
        cost = on_each_worker(workers, measure_as_worker, case, repeats)
        costs.append(cost)
        exchange = f"{1000 * cost.exchange_seconds.median:,.0f} ms to exchange the gradient"
        say(f"{name}: {1000 * cost.seconds.median:,.0f} ms per step, {exchange}")
    return costs


def _name(case: TrainingCase) -> str:
    """The name of a case without the number of its replicas, which are the workers here."""
    return replace(case, replicas=1).name


def measure_as_worker(case: TrainingCase, repeats: int) -> WorkersCost:
    """Train as one of the workers that `TF_CONFIG` names. All of them must do it."""
    set_up_keras(case.config)
    workers = Workers(Cluster.from_environment())
    assert workers.strategy is not None
    vocabulary = synthetic_vocabulary(case.vocab_size)
    model = make_trainable_model(case.config, vocabulary, workers.strategy, case.jit_compile, SCHEDULED_STEPS)
    build_nothing_in_fit(model)
    model.train_function = supervised_step(model, Agreement(workers))
    batches = full_length_batches(case.config, vocabulary, case.batch_size, case.length, workers.count)
    dataset = workers.distribute(workers.share.of(batches))
    dtype = case.config.training.exchange_dtype
    exchange, gradient = exchange_of(workers.strategy, dtype), tf.random.normal([num_trainable(model)], seed=1)

    def train(number: int) -> float:
        times = StepTimes()
        model.fit(dataset, steps_per_epoch=number, shuffle=False, verbose=0, callbacks=[times])
        return sum(times.seconds) / number

    train(_FIRST_STEPS)
    exchange(gradient)
    step_seconds, exchange_seconds = [], []
    for _ in range(repeats):
        step_seconds.append(train(_STEPS))
        exchange(gradient)  # waits for workers whose `fit` has not ended yet
        began = time.perf_counter()
        for _ in range(_STEPS):
            exchange(gradient)
        exchange_seconds.append((time.perf_counter() - began) / _STEPS)
    return WorkersCost(
        case=_name(case),
        workers=workers.count,
        batch_size=case.batch_size,
        length=case.length,
        xla=case.jit_compile,
        trainable_parameters=num_trainable(model),
        exchanged_megabytes=tf.as_dtype(dtype).size * num_trainable(model) / 1e6,
        seconds=Spread.of(step_seconds),
        exchange_seconds=Spread.of(exchange_seconds),
        share_of_exchange=Spread.of([part / whole for part, whole in zip(exchange_seconds, step_seconds, strict=True)]),
    )
