"""The loss and the metrics that a model is trained with."""

from collections.abc import Sequence
from typing import Literal

import keras

from bytenet.config import Config, TrainingConfig
from bytenet.errors import ConfigError
from bytenet.models.translation_model import TranslationModel
from bytenet.private_api import build_loss_and_metrics
from bytenet.training.losses import RDropCrossEntropy, SentenceCrossEntropy
from bytenet.training.metrics import CharacterError


def compile_model(
    model: TranslationModel,
    optimizer: keras.optimizers.Optimizer,
    training: TrainingConfig,
    jit_compile: bool | Literal["auto"],
    more_metrics: Sequence[keras.Metric] = (),
) -> None:
    """Compile a model, and make all variables of its training, so that a checkpoint can be restored into them.

    Args:
        model: any.
        optimizer: of the run.
        training: reads `label_smoothing` and `r_drop`.
        jit_compile: as for `keras.Model.compile`.
        more_metrics: besides the rate of wrong characters.
    """
    smoothing, weight = training.label_smoothing, training.r_drop
    model.compile(
        optimizer=optimizer,
        loss=RDropCrossEntropy(weight, smoothing) if weight else SentenceCrossEntropy(smoothing),
        metrics=[CharacterError(), *more_metrics],
        jit_compile=jit_compile,
    )
    optimizer.build(model.trainable_variables)
    ids = keras.KerasTensor((None, None), "int32")
    build_loss_and_metrics(model, ids, keras.KerasTensor((None, None, model.vocab_size), "float32"))


def check_trainable(config: Config) -> None:
    """Check that a model can be trained as the configuration says.

    Raises:
        ConfigError: the model cannot be trained; or `training.r_drop` is on, but the model has no dropout.
    """
    if problem := config.model.problem_in_training:
        raise ConfigError(problem)
    if config.training.r_drop and not config.model.has_dropout:
        raise ConfigError(
            f"training.r_drop is {config.training.r_drop:g}, but the model has no dropout, so both predictions of a "
            "batch would be the same. Set model.dropout, for example to 0.3, or set training.r_drop to 0."
        )
