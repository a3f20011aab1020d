"""The most memory that a training step needs."""

from collections.abc import Callable, Sequence
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass

import tensorflow as tf

from bytenet.errors import InputError
from bytenet.new_process import in_new_process
from bytenet.profiling.benchmarks.resident_memory import peak_resident_bytes, resident_bytes
from bytenet.profiling.benchmarks.synthetic import full_length_batches, synthetic_vocabulary
from bytenet.profiling.benchmarks.training import replica_devices
from bytenet.profiling.benchmarks.training_case import SCHEDULED_STEPS, TrainingCase
from bytenet.training.compiled_models.trainable_model import make_trainable_model, set_up_keras
from bytenet.training.distribution.strategies import make_strategy

_STEPS = 2  # some libraries allocate the memory that they keep only in the second step


@dataclass(frozen=True)
class MemoryCost:
    """The memory of training with one shape of batches, in bytes.

    Attributes:
        case: name of the case.
        preset: name of the preset or file of its configuration; None if it has none.
        variant, dim, batch_size, length, xla, vocab_size: what was measured, as in `TrainingCase`.
        parameter_bytes: size of the model's weights, with running statistics.
        optimizer_bytes: size of the optimiser's state.
        before_bytes: resident memory of the process before the model is made: Python, TensorFlow, input pipeline.
        peak_bytes: peak of the resident memory until the end of the second step, with tracing and compiling.
        training_bytes: memory added by the model and its training, `peak_bytes - before_bytes`.
        gpu_peak_bytes: peak of the memory in use on the first GPU; None without a GPU.
    """

    case: str
    preset: str | None
    variant: str
    dim: int | None
    batch_size: int
    length: int
    xla: bool
    vocab_size: int
    parameter_bytes: int
    optimizer_bytes: int
    before_bytes: int
    peak_bytes: int
    training_bytes: int
    gpu_peak_bytes: int | None


def measure_memory(cases: Sequence[TrainingCase], say: Callable[[str], None] = lambda line: None) -> list[MemoryCost]:
    """Train two steps of each case, each in a process of its own, and measure the memory.

    Args:
        cases: cases on one device, without stock models.
        say: called with messages on the progress.

    Returns:
        The cost of each case, in their order.

    Raises:
        InputError: a case needs more memory than this machine or its GPU has, or cannot be measured.
    """
    costs = []
    for case in cases:
        name = case.name if case.preset is None else f"{case.preset}: {case.name}"
        if case.stock or case.replicas != 1:
            raise InputError(f"{name}: memory is measured on one device, and not for stock Keras models.")
        case.check()
        say(f"{name} ...")
        try:
            # In a new process, because a process keeps memory that it once used.
            costs.append(in_new_process(measure_in_this_process, case))
        except BrokenProcessPool as error:
            raise InputError(
                f"{name}: the process that trained it was killed, probably because this machine has too "
                "little memory. Choose a smaller batch."
            ) from error
        except tf.errors.ResourceExhaustedError as error:
            first_line = error.message.strip().split("\n")[0]
            raise InputError(
                f"{name}: the device has too little memory. Choose a smaller batch. TensorFlow says: {first_line}"
            ) from error
    return costs


def measure_in_this_process(case: TrainingCase) -> MemoryCost:
    """Train two steps and measure their memory. The result is right only in a process that did nothing before."""
    set_up_keras(case.config)
    strategy = make_strategy(replica_devices(1))
    vocabulary = synthetic_vocabulary(case.vocab_size)
    dataset = full_length_batches(case.config, vocabulary, case.batch_size, case.length)
    next(iter(dataset))
    before = resident_bytes()
    model = make_trainable_model(case.config, vocabulary, strategy, case.jit_compile, SCHEDULED_STEPS)
    model.fit(dataset, steps_per_epoch=_STEPS, shuffle=False, verbose=0)
    peak = peak_resident_bytes()
    has_gpu = bool(tf.config.list_physical_devices("GPU"))
    return MemoryCost(
        case=case.name,
        preset=case.preset,
        variant=case.config.model.variant,
        dim=case.dim,
        batch_size=case.batch_size,
        length=case.length,
        xla=case.jit_compile,
        vocab_size=case.vocab_size,
        parameter_bytes=_bytes(model.weights),
        optimizer_bytes=_bytes(model.optimizer.variables),
        before_bytes=before,
        peak_bytes=peak,
        training_bytes=peak - before,
        gpu_peak_bytes=tf.config.experimental.get_memory_info("GPU:0")["peak"] if has_gpu else None,
    )


def _bytes(variables: Sequence) -> int:
    return sum(variable.value.dtype.size * variable.shape.num_elements() for variable in variables)
