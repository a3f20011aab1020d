"""The loss and the metrics that a model is trained with."""

from collections.abc import Sequence
from typing import Literal

import keras

from bytenet.config import TrainingConfig
from bytenet.models.translation_model import TranslationModel
from bytenet.private_api import build_loss_and_metrics
from bytenet.training.losses import SentenceCrossEntropy
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
        training: reads `label_smoothing`.
        jit_compile: as for `keras.Model.compile`.
        more_metrics: besides the rate of wrong characters.
    """
    model.compile(
        optimizer=optimizer,
        loss=SentenceCrossEntropy(training.label_smoothing),
        metrics=[CharacterError(), *more_metrics],
        jit_compile=jit_compile,
    )
    optimizer.build(model.trainable_variables)
    ids = keras.KerasTensor((None, None), "int32")
    build_loss_and_metrics(model, ids, keras.KerasTensor((None, None, model.vocab_size), "float32"))
