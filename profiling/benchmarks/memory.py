"""How much memory a training step needs at most."""

import resource
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

import tensorflow as tf

from bytenet.errors import InputError
from bytenet.memory_allocator import keep_freed_memory
from bytenet.profiling.benchmarks.measurement import refuse_semi_supervised
from bytenet.profiling.benchmarks.synthetic import full_length_batches, synthetic_vocabulary
from bytenet.profiling.benchmarks.training import SCHEDULED_STEPS, TrainingCase, replica_devices
from bytenet.training.strategies import make_strategy
from bytenet.training.trainable_model import make_trainable_model, set_up_keras

_STEPS = 2  # some libraries take the memory they keep only in the second


@dataclass(frozen=True)
class MemoryCost:
    """The memory of training with one shape of batches, in bytes.

    Attributes:
        case: its name.
        variant, dim, batch_size, length, xla, vocab_size: what was measured.
        parameter_bytes: of the model's weights, running statistics counted.
        optimizer_bytes: of the optimiser's own state.
        before_bytes: resident memory of the process before the model: Python, TensorFlow, the pipeline.
        peak_bytes: the most resident memory of the process until the end of the second step, with tracing and
            compiling.
        training_bytes: what the model and its training added, `peak_bytes - before_bytes`.
        gpu_peak_bytes: the most memory in use on the first GPU; None without a GPU.
    """

    case: str
    variant: str
    dim: int
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
    """Train two steps of each case, each in a process of its own, and see how much memory it took.

    Args:
        cases: on one device, and not of the stock model.
        say: told what is going on.

    Returns:
        A cost for each case, in their order.

    Raises:
        InputError: a case that does not fit into the memory of this machine or of its GPU, or that cannot be measured.
    """
    costs = []
    for case in cases:
        if case.stock or case.replicas != 1:
            raise InputError(f"{case.name}: memory is measured for ByteNet on one device.")
        refuse_semi_supervised(case.config)
        say(f"{case.name} ...")
        # A fresh interpreter, as memory that was once used stays with a process; it keeps what it frees as the
        # command `bytenet train` does.
        with ProcessPoolExecutor(1, mp_context=get_context("spawn"), initializer=keep_freed_memory) as pool:
            try:
                costs.append(pool.submit(measure_in_this_process, case).result())
            except BrokenProcessPool as error:
                raise InputError(
                    f"{case.name}: the process that trained it was killed, most likely because the memory of this "
                    "machine did not suffice. Take a smaller batch."
                ) from error
            except tf.errors.ResourceExhaustedError as error:
                said = error.message.strip().split("\n")[0]
                raise InputError(
                    f"{case.name}: the memory of the device did not suffice. Take a smaller batch. "
                    f"TensorFlow says: {said}"
                ) from error
    return costs


def measure_in_this_process(case: TrainingCase) -> MemoryCost:
    """Train two steps and see how much memory they took; only right in a process that did nothing before."""
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


def resident_bytes() -> int:
    """Memory of this process that lies in RAM now; where the system does not tell, the most that ever did."""
    return _status("VmRSS") or peak_resident_bytes()


def peak_resident_bytes() -> int:
    """The most memory of this process that ever lay in RAM."""
    # Linux hands `ru_maxrss` down from the parent, so it may be the parent's.
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return _status("VmHWM") or (most if sys.platform == "darwin" else most * 1024)


def _status(key: str) -> int | None:
    """A size from Linux's account of this process, in bytes; None on other systems."""
    try:
        lines = Path("/proc/self/status").read_text(encoding="utf-8").split("\n")
    except OSError:
        return None
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith(f"{key}:")), None)


def _bytes(variables: Sequence) -> int:
    return sum(variable.value.dtype.size * variable.shape.num_elements() for variable in variables)
