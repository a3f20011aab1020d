"""A training step to measure: its model, its batch and its devices."""

from dataclasses import dataclass

from bytenet.config import Config
from bytenet.config.families import DEFAULT_FAMILY
from bytenet.errors import InputError

SCHEDULED_STEPS = 10_000
"""Length of the learning rate's schedule. A measurement makes far fewer steps."""


@dataclass(frozen=True)
class TrainingCase:
    """A training step to measure.

    Attributes:
        config: model and training settings. Its data settings are not used.
        batch_size: sentences of a batch, over all replicas.
        length: ids of each sentence on both sides, with the end symbol.
        jit_compile: whether XLA compiles the step.
        replicas: devices that share each batch.
        stock: whether to measure the stock Keras model of the same sizes instead. If `jit_compile` is false, it is
            trained by the defaults of `fit`, which use XLA on a GPU.
        vocab_size: number of ids in the random text, with padding, end and unknown symbols.
        preset: name of the preset, or file, that `config` is from; None if it has none. The property `name` leaves it
            out.
    """

    config: Config
    batch_size: int
    length: int
    jit_compile: bool
    replicas: int = 1
    stock: bool = False
    vocab_size: int = 105
    preset: str | None = None

    def check(self) -> None:
        """Check that the step can be measured.

        Raises:
            InputError: the run is semi-supervised or starts from a trained model, an update needs several batches, or
                `length` is more than the model can read.
        """
        refuse_semi_supervised(self.config)
        refuse_accumulation(self.config)
        refuse_start(self.config)
        self.config.model.length_policy.check(self.length)

    @property
    def dim(self) -> int | None:
        """The setting `model.dim`, the width of the encoder; None if the model's family has no such setting."""
        return self.config.settings().get("model.dim")

    @property
    def name(self) -> str:
        """A short description, with everything in which cases of one preset may differ."""
        model = self.config.model
        variant = model.variant if model.family == DEFAULT_FAMILY else f"{model.family} {model.variant}"
        attention = self.config.settings().get("model.source_attention", "none")
        parts = [
            "stock Keras" if self.stock else variant,
            *([] if attention == "none" else [f"source attention {attention}"]),
            *([] if self.dim is None else [f"d={self.dim}"]),
            f"{self.batch_size} x {self.length}",
            "XLA" if self.jit_compile else "plain fit" if self.stock else "no XLA",
            *([f"{self.replicas} replicas"] if self.replicas > 1 else []),
        ]
        return ", ".join(parts)


def refuse_semi_supervised(config: Config) -> None:
    """Check that a run is supervised. The steps of a semi-supervised run train two translators.

    Raises:
        InputError: the run is semi-supervised.
    """
    if config.semi_supervised.enabled:
        raise InputError(
            "This benchmark measures supervised steps, but semi_supervised.enabled is true. To measure one translator "
            "on pairs: --set semi_supervised.enabled=false. To measure two translators with monolingual text: "
            "bytenet benchmark semi-supervised."
        )


def refuse_start(config: Config) -> None:
    """Check that a run begins with random weights. A start would replace the model of the settings.

    Raises:
        InputError: it begins with a trained model.
    """
    if (start := config.training.start) is not None:
        raise InputError(
            f"This benchmark measures the model of the settings, but training.start is {start}. Set the sizes of the "
            "model instead (model.*). Its weights do not change the time."
        )


def refuse_accumulation(config: Config) -> None:
    """Check that every step of a run updates the weights.

    Raises:
        InputError: several batches make one update.
    """
    if (batches := config.training.accumulate_batches) > 1:
        raise InputError(
            f"This benchmark measures steps that update the weights, but training.accumulate_batches is {batches}. "
            "To measure a step with an update: --set training.accumulate_batches=1."
        )
