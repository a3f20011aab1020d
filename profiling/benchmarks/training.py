"""What a training step costs: its time, its share of the machine's peak, and the time until the first step is done."""

import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import keras
import tensorflow as tf

from bytenet.models.model_size import num_trainable
from bytenet.private_api import build_nothing_in_fit
from bytenet.profiling.benchmarks.flops import training_step_flops
from bytenet.profiling.benchmarks.measurement import Spread, calls_a_turn
from bytenet.profiling.benchmarks.peak import MatrixProduct
from bytenet.profiling.benchmarks.step_times import StepTimes
from bytenet.profiling.benchmarks.stock_models import make_stock_model, stock_dataset
from bytenet.profiling.benchmarks.synthetic import full_length_batches, synthetic_vocabulary
from bytenet.profiling.benchmarks.training_case import SCHEDULED_STEPS, TrainingCase
from bytenet.training.compiled_models.trainable_model import make_trainable_model, set_up_keras
from bytenet.training.distribution.agreement import Agreement
from bytenet.training.distribution.replicated_step import supervised_step
from bytenet.training.distribution.strategies import make_strategy
from bytenet.training.distribution.workers import Workers


@dataclass(frozen=True)
class TrainingCost:
    """What a training step costs. Spreads are over the turns of one benchmark.

    Attributes:
        case: name of the case.
        variant, dim, batch_size, length, xla, replicas, stock, vocab_size: what was measured, as in `TrainingCase`.
        trainable_parameters: number of trainable weights.
        gigaflops_a_step: 10^9 floating point operations a step, see `bytenet.profiling.benchmarks.flops`.
        seconds: seconds per step.
        turns: seconds per step in each turn, in order. Turns of the same number are next to each other in time.
        steps_a_turn: number of steps.
        observations: sentence pairs per second.
        characters: target characters per second, with end symbols.
        peak_gigaflops: rate of a product of matrices right before each turn, 10^9 operations a second.
        share_of_peak: the step's rate of operations over the rate of that product. None if the two cannot be
            compared, since the product is in float32 on one device: with several GPUs, or with
            `training.mixed_precision`.
        first_step_seconds: from the call of `fit` to the end of the first step: tracing, compiling, computing.
        compile_seconds: `first_step_seconds` without the time of a step.
        times_stock: the stock model's time over this model's, turn by turn; None if it was not measured.
    """

    case: str
    variant: str
    dim: int | None
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


@dataclass
class _Trainee:
    """A model, its batches, and its measurements so far."""

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
        if case.replicas > 1:
            build_nothing_in_fit(model)
            model.train_function = supervised_step(model, Agreement(Workers()))
        if case.stock:
            flops //= model.training_passes  # it is trained with the cross entropy alone
            model = make_stock_model(model, case.config.training.learning_rate)
            if case.jit_compile:
                model.jit_compile = True
            dataset = stock_dataset(dataset)
        return cls(case, model, dataset, flops)

    def train(self, steps: int) -> float:
        """Train some steps with `fit`, and return the seconds per step."""
        times = StepTimes()
        self.model.fit(self.dataset, steps_per_epoch=steps, shuffle=False, verbose=0, callbacks=[times])
        return statistics.fmean(times.seconds)

    def warm_up(self, seconds_a_turn: float) -> None:
        """Train the first steps, and choose the number of steps a turn."""
        began = time.perf_counter()
        self.train(1)
        self.first_step_seconds = time.perf_counter() - began
        self.train(1)  # libraries still choose their algorithms in this step
        self.steps_a_turn = calls_a_turn(seconds_a_turn, self.train(1))

    def cost(self, stock: "_Trainee | None") -> TrainingCost:
        """The cost, compared with that of a stock model if there is one."""
        case = self.case
        rates = [1 / seconds for seconds in self.seconds]
        observations = Spread.of(rates).scaled(case.batch_size)
        shares = [self.flops * rate / peak for rate, peak in zip(rates, self.peaks, strict=True)]
        times_stock = None
        if stock is not None:
            times_stock = Spread.of([other / own for own, other in zip(self.seconds, stock.seconds, strict=True)])
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
            share_of_peak=Spread.of(shares) if _compares_with_peak(case) else None,
            first_step_seconds=self.first_step_seconds,
            compile_seconds=max(0.0, self.first_step_seconds - statistics.median(self.seconds)),
            times_stock=times_stock,
        )


def replica_devices(replicas: int) -> tuple[str, ...] | None:
    """The first GPUs, or logical CPUs if there is no GPU; None for TensorFlow's one CPU, which is left as it is."""
    if tf.config.list_physical_devices("GPU"):
        return tuple(f"GPU:{index}" for index in range(replicas))
    return tuple(f"CPU:{index}" for index in range(replicas)) if replicas > 1 else None


def _compares_with_peak(case: TrainingCase) -> bool:
    """Whether a step has the arithmetic of `MatrixProduct` on the same hardware. Logical CPUs share one machine."""
    several_gpus = case.replicas > 1 and bool(tf.config.list_physical_devices("GPU"))
    return not several_gpus and not case.config.training.mixed_precision


def measure_training(
    cases: Sequence[TrainingCase],
    repeats: int = 5,
    seconds_a_turn: float = 2.0,
    say: Callable[[str], None] = lambda line: None,
) -> list[TrainingCost]:
    """Time training steps with Keras's `fit`, on random sentences of full length from the real input pipeline.

    First, each case is warmed up. Then the cases take turns of several steps. A product of matrices is timed right
    before each turn. If the machine slows down for a while, it slows down all cases and the product. All models stay
    in memory at the same time.

    Args:
        cases: what to measure. A stock case is the baseline of the cases with the same sizes.
        repeats: turns of each case.
        seconds_a_turn: approximate length of a turn. A turn has at least one step.
        say: called with messages on the progress.

    Returns:
        The cost of each case, in their order.

    Raises:
        ConfigError: there are fewer devices than replicas.
        InputError: a batch cannot be shared evenly by the replicas, a vocabulary is too small, `TrainingCase.check`
            refuses a case, or a model has no stock model.
    """
    for case in cases:
        case.check()
    if not cases:
        return []
    # The most devices first: a CPU can be split into logical CPUs only before TensorFlow starts.
    counts = sorted({case.replicas for case in cases}, reverse=True)
    strategies = {replicas: make_strategy(replica_devices(replicas)) for replicas in counts}
    product = MatrixProduct()
    # All models are made before the first is warmed up. Making one sets the random seed, and after that TensorFlow
    # prepares all functions anew that have run before.
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
    """The stock model with the same sizes, trained by Keras's defaults; None if it was not measured."""
    baseline = replace(trainee.case, stock=True, jit_compile=False, replicas=1)
    return next((other for other in trainees if other.case == baseline), None)
