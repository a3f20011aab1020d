"""A model with its optimiser, loss and metrics, ready for `fit`."""

import random
from collections.abc import Iterable

import keras
import numpy as np
import tensorflow as tf

from bytenet.config import Config
from bytenet.datasets import Pairs, Vocabulary, pair_lengths
from bytenet.datasets.batches.epoch_shapes import EpochShapes
from bytenet.decoding.finishing import check_finishing
from bytenet.errors import ConfigError, InputError
from bytenet.layers.fast import use_tap_products
from bytenet.models import TranslationModel, build_model
from bytenet.training.compiled_models.compilation import compile_model
from bytenet.training.distribution.batch_statistics import synchronize_batch_normalization
from bytenet.training.optimizers.choice import make_optimizer

_STEPS_THAT_PAY_A_COMPILATION = 100


def set_up_keras(config: Config) -> None:
    """Set Keras's seed and precision, and TensorFlow's determinism, for the whole process."""
    set_seed(config.training.seed)
    keras.mixed_precision.set_global_policy("mixed_bfloat16" if config.training.mixed_precision else "float32")
    if config.training.deterministic:
        tf.config.experimental.enable_op_determinism()


def set_seed(seed: int) -> None:
    """Set the seed from which Keras draws all other seeds, and NumPy's seed.

    TensorFlow's own seed is set once in a process. Nothing here draws from it, and if it is set again, TensorFlow drops
    all functions that it has prepared, which take seconds and memory to prepare anew.
    """
    if tf.compat.v1.get_seed(None)[0] is None:
        keras.utils.set_random_seed(seed)
    random.seed(seed)
    np.random.seed(seed)


def make_trainable_model(
    config: Config, vocabulary: Vocabulary, strategy: tf.distribute.Strategy, jit_compile: bool, total_updates: int
) -> TranslationModel:
    """The model of a run with its optimiser, loss and metrics. All its variables are on the strategy's devices.

    Args:
        config: reads the model, and the optimiser and loss from `training`.
        vocabulary: of the run.
        strategy: of the run's devices.
        jit_compile: compile the steps with XLA.
        total_updates: updates of the run, for the schedule of the learning rate.

    Raises:
        ConfigError: the optimiser refuses its arguments.
    """
    training = config.training
    with strategy.scope():
        model = build_model(config.model, vocabulary.size)
        if strategy.num_replicas_in_sync > 1 and training.sync_batch_norm:
            synchronize_batch_normalization(model)
        if jit_compile and not tf.config.list_logical_devices("GPU"):
            use_tap_products(model)
        compile_model(model, make_optimizer(training, total_updates), training, jit_compile)
    return model


def wants_jit_compile(config: Config, obstacle: str | None, num_shapes: int, total_steps: int) -> bool:
    """Whether XLA compiles the training step. With "auto", it does if each batch shape is used often enough.

    Args:
        config: reads `training.jit_compile`.
        obstacle: why XLA cannot compile it, for a message; None if it can.
        num_shapes: number of batch shapes.
        total_steps: of the run; a step is a batch.

    Raises:
        InputError: `training.jit_compile` is true, but XLA cannot compile the step.
    """
    setting = config.training.jit_compile
    if setting == "auto":
        return obstacle is None and total_steps >= _STEPS_THAT_PAY_A_COMPILATION * num_shapes
    if setting and obstacle is not None:
        raise InputError(
            f"training.jit_compile is true, but XLA cannot compile the step: {obstacle}. Or set training.jit_compile "
            "to auto or false."
        )
    return setting


def check_longest(
    config: Config, plans: Iterable[EpochShapes], validation: Pairs | None, vocabulary: Vocabulary
) -> None:
    """Raise a ConfigError if the model cannot read the longest batch or the longest validation pair.

    Args:
        config: reads the length policy of the model from it.
        plans: of all batches of the run.
        validation: the validation pairs, which the limits of lengths do not shorten.
        vocabulary: of the run.
    """
    longest = config.model.length_policy.longest
    if longest is None:
        return
    lengths = {"batch of training": max(length for plan in plans for length in plan.padded_lengths)}
    if validation:
        lengths["validation pair"] = int(max(pair_lengths(validation, vocabulary)))
    for what, length in lengths.items():
        if length > longest:
            advice = "Set data.max_length lower" if what.startswith("batch") else "Leave out the pair"
            if not config.has_start:
                advice += f", or set model.max_positions to {length}"
            raise ConfigError(
                f"The longest {what} has {length:,} symbols, with the end symbol and padding, but the model reads at "
                f"most {longest:,}. {advice}."
            )


def check_decoding(config: Config, model: TranslationModel, vocabulary: Vocabulary) -> None:
    """Raise an InputError if the trained model could not translate with the settings of `decoding`.

    Args:
        config: of the run.
        model: to be trained.
        vocabulary: of the run.
    """
    decoding = config.decoding
    try:
        check_finishing(model, vocabulary, decoding.effective_coverage_penalty, decoding.replace_unknown)
    except InputError as error:
        raise InputError(f"decoding.{error}") from None
