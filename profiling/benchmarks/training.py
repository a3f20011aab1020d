"""What a training step costs: time, share of the machine's peak, and the wait for the first one."""

import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import keras
import tensorflow as tf

from bytenet.config import Config
from bytenet.config.families import DEFAULT_FAMILY
from bytenet.profiling.benchmarks.baseline import make_stock_model, stock_dataset
from bytenet.profiling.benchmarks.flops import training_step_flops
from bytenet.profiling.benchmarks.measurement import Spread, calls_a_turn, refuse_semi_supervised
from bytenet.profiling.benchmarks.peak import MatrixProduct
from bytenet.profiling.benchmarks.synthetic import full_length_batches, synthetic_vocabulary
from bytenet.training.environment import num_trainable
from bytenet.training.strategies import make_strategy
from bytenet.training.trainable_model import make_trainable_model, set_up_keras

SCHEDULED_STEPS = 10_000
"""What the learning rates of models that are measured are scheduled for; none comes near."""


@dataclass(frozen=True)
class TrainingCase:
    """A training step to be measured.

    Attributes:
        config: model and training settings; its data settings do not matter.
        batch_size: sentences, over all replicas.
        length: ids of each sentence on both sides, end symbol counted.
        jit_compile: whether XLA compiles the step.
        replicas: devices that share each batch.
        stock: measure the stock Keras model of the same sizes instead, compiled with XLA or, where `jit_compile` is
            false, as `fit` trains it by default, which on a GPU is with XLA, too.
        vocab_size: ids of the random text, those with a meaning counted.
    """

    config: Config
    batch_size: int
    length: int
    jit_compile: bool
    replicas: int = 1
    stock: bool = False
    vocab_size: int = 105

    @property
    def dim(self) -> int:
        """Width of the encoder."""
        return self.config.model.dim

    @property
    def name(self) -> str:
        """For people: what differs between the cases of a run."""
        model = self.config.model
        variant = model.variant if model.family == DEFAULT_FAMILY else f"{model.family} {model.variant}"
        parts = [
            "stock Keras" if self.stock else variant,
            f"d={self.dim}",
            f"{self.batch_size} x {self.length}",
            "XLA" if self.jit_compile else "plain fit" if self.stock else "no XLA",
        ]
        return ", ".join([*parts, f"{self.replicas} replicas"] if self.replicas > 1 else parts)


@dataclass(frozen=True)
class TrainingCost:
    """What a training step costs. Rates are a second; spreads are over the turns of one run.

    Attributes:
        case: its name.
        variant, dim, batch_size, length, xla, replicas, stock, vocab_size: what was measured.
        trainable_parameters: number of them.
        gigaflops_a_step: 10^9 floating point operations a step, see `bytenet.profiling.benchmarks.flops`.
        seconds: a step.
        turns: the seconds of a step in each turn, in order; those of one number are next to each other in time.
        steps_a_turn: number of them.
        observations: sentence pairs trained on.
        characters: target characters trained on, end symbols counted.
        peak_gigaflops: of a product of matrices right before each turn, the best of each turn.
        share_of_peak: the step's operations a second over those of the product right before it; None where the two
            do not compare, since that is float32 on one device: several GPUs, or `training.mixed_precision`.
        first_step_seconds: from the call of `fit` to the end of the first step: tracing, compiling, computing.
        compile_seconds: the same without a step's own time.
        times_stock: how many times as fast as the stock model, turn by turn; None where that was not measured.
    """

    case: str
    variant: str
    dim: int
    batch_size: int
    length: int
    xla: bool
    replicas: int
    stock: bool
    vocab_size: int
    trainable_parameters: int
    gigaflops_a_step: float
    seconds: Spread
    turns: list[float]
    steps_a_turn: int
    observations: Spread
    characters: Spread
    peak_gigaflops: Spread
    share_of_peak: Spread | None
    first_step_seconds: float
    compile_seconds: float
    times_stock: Spread | None


class StepTimes(keras.callbacks.Callback):
    """Seconds of each step of a `fit`, until its loss is known, as training asks for it after every step.

    Attributes:
        seconds: of the steps of the latest `fit`, in order.
    """

    def on_train_begin(self, logs=None):
        self.seconds: list[float] = []

    def on_train_batch_begin(self, batch, logs=None):
        if batch == 0:
            self._last = time.perf_counter()

    def on_train_batch_end(self, batch, logs=None):
        float(logs["loss"])
        now = time.perf_counter()
        self.seconds.append(now - self._last)
        self._last = now


@dataclass
class _Trainee:
    """A model, what it is trained on, and what was measured so far."""

    case: TrainingCase
    model: keras.Model
    dataset: tf.data.Dataset
    flops: int
    first_step_seconds: float = 0.0
    steps_a_turn: int = 1
    seconds: list[float] = field(default_factory=list)
    peaks: list[float] = field(default_factory=list)

    @classmethod
    def make(cls, case: TrainingCase, strategy: tf.distribute.Strategy) -> "_Trainee":
        set_up_keras(case.config)
        vocabulary = synthetic_vocabulary(case.vocab_size)
        model = make_trainable_model(case.config, vocabulary, strategy, case.jit_compile, SCHEDULED_STEPS)
        flops = training_step_flops(model, case.batch_size, case.length, case.length)
        dataset = full_length_batches(case.config, vocabulary, case.batch_size, case.length, case.replicas)
        if case.stock:
            model = make_stock_model(model, case.config.training.learning_rate)
            if case.jit_compile:
                model.jit_compile = True
            dataset = stock_dataset(dataset)
        return cls(case, model, dataset, flops)

    def train(self, steps: int) -> float:
        """Train so many steps with `fit` and give the seconds a step."""
        times = StepTimes()
        self.model.fit(self.dataset, steps_per_epoch=steps, shuffle=False, verbose=0, callbacks=[times])
        return statistics.fmean(times.seconds)

    def warm_up(self, seconds_a_turn: float) -> None:
        """Train the first steps, and settle how many make a turn."""
        began = time.perf_counter()
        self.train(1)
        self.first_step_seconds = time.perf_counter() - began
        self.train(1)  # in which libraries still choose their ways
        self.steps_a_turn = calls_a_turn(seconds_a_turn, self.train(1))

    def cost(self, stock: "_Trainee | None") -> TrainingCost:
        case = self.case
        step = statistics.median(self.seconds)
        compile_seconds = max(0.0, self.first_step_seconds - step)
        rates = [1 / seconds for seconds in self.seconds]
        observations = Spread.of(rates).scaled(case.batch_size)
        turns = zip(rates, self.peaks, strict=True)
        return TrainingCost(
            case=case.name,
            variant=case.config.model.variant,
            dim=case.dim,
            batch_size=case.batch_size,
            length=case.length,
            xla=bool(self.model.jit_compile),
            replicas=case.replicas,
            stock=case.stock,
            vocab_size=case.vocab_size,
            trainable_parameters=num_trainable(self.model),
            gigaflops_a_step=self.flops / 1e9,
            seconds=Spread.of(self.seconds),
            turns=self.seconds,
            steps_a_turn=self.steps_a_turn,
            observations=observations,
            characters=observations.scaled(case.length),
            peak_gigaflops=Spread.of(self.peaks).scaled(1e-9),
            share_of_peak=Spread.of([self.flops * rate / peak for rate, peak in turns])
            if _compares_with_peak(case)
            else None,
            first_step_seconds=self.first_step_seconds,
            compile_seconds=compile_seconds,
            times_stock=None
            if stock is None
            else Spread.of([theirs / mine for mine, theirs in zip(self.seconds, stock.seconds, strict=True)]),
        )


def replica_devices(replicas: int) -> tuple[str, ...] | None:
    """The first so many GPUs, or logical CPUs where there is no GPU; None leaves TensorFlow the one CPU it has."""
    if tf.config.list_physical_devices("GPU"):
        return tuple(f"GPU:{index}" for index in range(replicas))
    return tuple(f"CPU:{index}" for index in range(replicas)) if replicas > 1 else None


def _compares_with_peak(case: TrainingCase) -> bool:
    """Whether a step does the arithmetic of `MatrixProduct` on as many devices; logical CPUs are one machine."""
    several_gpus = case.replicas > 1 and bool(tf.config.list_physical_devices("GPU"))
    return not several_gpus and not case.config.training.mixed_precision


def measure_training(
    cases: Sequence[TrainingCase],
    repeats: int = 5,
    seconds_a_turn: float = 2.0,
    say: Callable[[str], None] = lambda line: None,
) -> list[TrainingCost]:
    """Time training steps by Keras's `fit` on random sentences of full length, through the real input pipeline.

    All cases are warmed up one after the other; then they take turns of several steps, each turn right after a
    product of matrices, so that a machine that slows down for a while slows all of them and the peak as well.
    All models stay in memory meanwhile.

    Args:
        cases: what to measure. A stock case serves as the baseline of the cases of its sizes.
        repeats: turns of each case.
        seconds_a_turn: about how long a turn takes, at least a step.
        say: told what is going on.

    Returns:
        A cost for each case, in their order.

    Raises:
        ConfigError: there are fewer devices than replicas.
        InputError: a batch that replicas cannot share evenly, a vocabulary that is too small, or a semi-supervised run.
    """
    for case in cases:
        refuse_semi_supervised(case.config)
    if not cases:
        return []
    # The most devices first: a CPU is split into logical ones only before TensorFlow starts.
    counts = sorted({case.replicas for case in cases}, reverse=True)
    strategies = {replicas: make_strategy(replica_devices(replicas)) for replicas in counts}
    product = MatrixProduct()
    # All are made before any is warmed up: a model begins with setting the seed, after which TensorFlow prepares
    # every function anew that it has run before.
    trainees = [_Trainee.make(case, strategies[case.replicas]) for case in cases]
    for trainee in trainees:
        say(f"{trainee.case.name}: first steps ...")
        trainee.warm_up(seconds_a_turn)
        say(f"{trainee.case.name}: {trainee.first_step_seconds:.1f} seconds to the end of the first step")
    for turn in range(repeats):
        say(f"turn {turn + 1} of {repeats} ...")
        for trainee in trainees:
            trainee.peaks.append(product.measure())
            trainee.seconds.append(trainee.train(trainee.steps_a_turn))
    return [trainee.cost(_baseline_of(trainee, trainees)) for trainee in trainees]


def _baseline_of(trainee: _Trainee, trainees: Sequence[_Trainee]) -> _Trainee | None:
    """The stock model of the same sizes as Keras trains it by default, if it was measured."""
    wanted = replace(trainee.case, stock=True, jit_compile=False, replicas=1)
    return next((other for other in trainees if other.case == wanted), None)
