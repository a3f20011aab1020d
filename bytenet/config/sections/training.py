"""The section `training`: loss, optimiser, schedule and what is saved."""

from dataclasses import field
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from bytenet.config.checks import (
    MOST_LAYERS,
    Fixed,
    Fraction,
    Name,
    Names,
    NonNegative,
    NonNegativeFloat,
    Positive,
    PositiveFloat,
    checked,
    is_set,
)


@checked
class TrainingConfig:
    """How `bytenet.training.train` fits the model.

    `Fixed` marks the settings that must stay the same when a run is resumed.
    """

    # Folder of a finished run, a .bytenet file, or the name of a pretrained model (`bytenet models`). The training
    # starts from its model, with the settings (except dropout) and the vocabulary of that model.
    start: Annotated[Name | None, Fixed(is_set)] = None
    # ByteNet only: sets of residual blocks to add at the end of the encoder and of the decoder of that model. At first,
    # they change nothing.
    added_sets: Annotated[int, Field(ge=0, lt=MOST_LAYERS), Fixed()] = 0
    epochs: Positive = 20  # passes over the training pairs
    max_steps: Positive | None = None  # ends the run earlier than epochs would; a step is a batch
    # "adam", "nag" (Nesterov's accelerated gradient, as in fairseq), or a Keras optimiser in lower case, such
    # as "sgd", "adadelta", "adamw", "rmsprop", "adafactor" or "lion". "keras_adam" is Keras's own Adam, see
    # `bytenet.training.optimizers.choice`.
    optimizer: Annotated[Name, Fixed()] = "adam"
    # Further arguments of that class, such as {momentum: 0.9, nesterov: true}.
    optimizer_arguments: dict[Name, bool | int | float] = field(default_factory=dict)
    # Number of successive batches whose gradients make one update of the weights: that of one batch with all their
    # sentences. The last batches of an epoch make an update of their own, even if they are fewer.
    accumulate_batches: Annotated[Positive, Fixed()] = 1
    # The rate rises linearly to learning_rate over the first warmup_steps updates. Then it follows the schedule, down
    # to final_learning_rate, see `bytenet.training.optimizers.schedules`.
    # "step": times decay_factor after decay_start_epoch epochs, and again every decay_every_epochs.
    # "plateau": times decay_factor after epochs without progress.
    learning_rate: PositiveFloat = 1e-3
    schedule: Literal["constant", "cosine", "inverse_sqrt", "linear", "plateau", "step"] = "constant"
    warmup_steps: NonNegative = 0
    final_learning_rate: NonNegativeFloat = 0.0
    decay_factor: Annotated[float, Field(gt=0, lt=1)] = 0.5
    decay_start_epoch: NonNegativeFloat = 5.0  # may be a fraction, and so may decay_every_epochs
    decay_every_epochs: PositiveFloat = 1.0
    # Progress is a better value of early_stopping_metric. "best": a cut after each plateau_patience epochs without a
    # better value than the best. "fast" (ConvS2S): the first cut after a measured epoch that is no better than the one
    # before it, and from then on a cut after every measured epoch.
    plateau_rule: Literal["best", "fast"] = "best"
    plateau_patience: Positive = 1
    min_learning_rate: PositiveFloat | None = None  # the run ends when a plateau cuts the rate below it
    # For all optimisers that have arguments of these names.
    beta_1: Fraction = 0.9
    beta_2: Fraction = 0.999
    epsilon: PositiveFloat = 1e-8
    clip_norm: PositiveFloat | None = 1.0  # largest L2 norm of the whole gradient; None for no clipping
    # Share of the old average of the weights that is kept at an update; less in the first updates. None: no average.
    ema_momentum: Annotated[Fraction | None, Fixed(is_set)] = None
    # Nats averaged over the characters; or summed over each sentence and averaged over the sentences (thesis).
    loss: Literal["character", "sentence"] = "character"
    label_smoothing: Fraction = 0.0  # share of the probability that the target gives to all symbols alike
    # Weight of R-Drop (Liang et al. 2021; 5 in their script for translation). Each batch is predicted twice, with
    # different dropout. The loss gets a penalty for the difference between the two predictions. A step takes a little
    # more than twice the time, and more memory. 0: no R-Drop.
    r_drop: NonNegativeFloat = 0.0
    # The model that the run keeps: the best by early_stopping_metric, or the last (thesis). A resumed run keeps this
    # setting, so that its model and its best score belong together.
    keep_model: Annotated[Literal["best", "last"], Fixed()] = "best"
    early_stopping_patience: Positive | None = None  # epochs without a better score; None never stops early
    # The score that decides which model is the best, when the run stops early, and when a plateau begins. A resumed run
    # keeps it, because its checkpoint has the best value so far.
    early_stopping_metric: Annotated[Literal["val_loss", "val_bleu", "val_chrf"], Fixed()] = "val_loss"
    mixed_precision: bool = False  # computes in bfloat16, keeps weights in float32
    # Compilation of the steps with XLA. "auto": if the run has at least 100 steps for each batch shape.
    jit_compile: bool | Literal["auto"] = "auto"
    devices: Names | None = None  # such as ["GPU:0", "GPU:1"]; None is all GPUs, or the CPU if there is none
    # Only for several devices or workers. true: batch normalisation uses the statistics of the whole batch. false: each
    # device uses the statistics of its own rows, and the running statistics are averaged after each step. XLA can
    # compile a model with batch normalisation only with false.
    sync_batch_norm: bool = True
    # Only for several devices or workers: the number type in which they exchange gradients and add them up.
    # bfloat16 halves the traffic of "adam", and rounds to 8 bits.
    exchange_dtype: Literal["float32", "bfloat16"] = "float32"
    seed: Annotated[NonNegative, Fixed()] = 1
    deterministic: bool = False  # the same seed gives the same bits; slower
    # Checkpoints, from which `--resume` continues: seconds between them, and steps between them if that is given.
    checkpoint_every_steps: Positive | None = None
    checkpoint_every_seconds: PositiveFloat = 600.0
    keep_checkpoints: Positive = 3  # number of newest checkpoints that are kept

    def total_steps(self, batches_per_epoch: int) -> int:
        """Number of steps of a run: those of all epochs, or `max_steps` if that is less."""
        steps = self.epochs * batches_per_epoch
        return steps if self.max_steps is None else min(steps, self.max_steps)

    def updates_per_epoch(self, batches_per_epoch: int) -> int:
        """Updates of the weights in an epoch. The last batches make one, even if they are fewer than the others."""
        return -(-batches_per_epoch // self.accumulate_batches)

    def total_updates(self, batches_per_epoch: int) -> int:
        """Updates of the weights in a run."""
        epochs, batches = divmod(self.total_steps(batches_per_epoch), batches_per_epoch)
        return epochs * self.updates_per_epoch(batches_per_epoch) + batches // self.accumulate_batches

    @property
    def loss_additions(self) -> list[str]:
        """The changes to the plain cross entropy, in words for a report."""
        return [
            *([f"label smoothing of {self.label_smoothing:g}"] if self.label_smoothing else []),
            *([f"R-Drop of {self.r_drop:g}"] if self.r_drop else []),
        ]

    @model_validator(mode="after")
    def _check_decay(self) -> Self:
        if self.final_learning_rate > self.learning_rate:
            raise ValueError(
                f"final_learning_rate {self.final_learning_rate} is more than learning_rate {self.learning_rate}"
            )
        return self

    @model_validator(mode="after")
    def _check_least_rate(self) -> Self:
        least = self.min_learning_rate
        if least is None:
            return self
        if self.schedule != "plateau":
            raise ValueError(
                f"min_learning_rate is only for schedule: plateau, but schedule is {self.schedule!r}; set "
                "min_learning_rate to null, and use final_learning_rate for the lowest rate of another schedule"
            )
        if least > self.learning_rate:
            raise ValueError(f"min_learning_rate {least} is more than learning_rate {self.learning_rate}")
        if least <= self.final_learning_rate:
            raise ValueError(
                f"min_learning_rate {least} would never end the run, because the rate stays at or above "
                f"final_learning_rate {self.final_learning_rate}"
            )
        return self
