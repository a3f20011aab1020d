"""The model of a run, ready for `fit`."""

import keras
import tensorflow as tf

from bytenet.config import Config
from bytenet.datasets import BatchPlan, Vocabulary
from bytenet.errors import InputError
from bytenet.models import TranslationModel, build_model
from bytenet.training.losses import SentenceCrossEntropy
from bytenet.training.metrics import CharacterError
from bytenet.training.optimizers import FlatAdam
from bytenet.training.schedules import make_schedule
from bytenet.training.strategies import synchronize_batch_normalization

_STEPS_THAT_PAY_A_COMPILATION = 100


def set_up_keras(config: Config) -> None:
    """Set Keras's seed and precision, and TensorFlow's determinism, for the whole process."""
    keras.utils.set_random_seed(config.training.seed)
    keras.mixed_precision.set_global_policy("mixed_bfloat16" if config.training.mixed_precision else "float32")
    if config.training.deterministic:
        tf.config.experimental.enable_op_determinism()


def make_compiled_model(
    config: Config, vocabulary: Vocabulary, strategy: tf.distribute.Strategy, jit_compile: bool, total_steps: int
) -> TranslationModel:
    """The model of a run with its optimiser, loss and metrics, all variables made on the strategy's devices."""
    training = config.training
    with strategy.scope():
        model = build_model(config.model, vocabulary.size)
        if strategy.num_replicas_in_sync > 1:
            synchronize_batch_normalization(model)
        optimizer = FlatAdam(
            make_schedule(training, total_steps), training.beta_1, training.beta_2, training.epsilon,
            clip_norm=training.clip_norm, ema_momentum=training.ema_momentum,
        )  # fmt: skip
        model.compile(
            optimizer=optimizer,
            loss=SentenceCrossEntropy(training.label_smoothing),
            metrics=[CharacterError()],
            jit_compile=jit_compile,
        )
        # All state must be there before the first step, for a checkpoint to be restored into it. (Under a
        # MirroredStrategy, `fit` would build the rest by itself, but fails at it with integer inputs.)
        optimizer.build(model.trainable_variables)
        ids = keras.KerasTensor((None, None), "int32")
        logits = keras.KerasTensor((None, None, model.vocab_size), "float32")
        model._compile_metrics.build(ids, logits)
        model._compile_loss.build(ids, logits)
    return model


def wants_jit_compile(config: Config, strategy: tf.distribute.Strategy, plan: BatchPlan, total_steps: int) -> bool:
    """Whether XLA compiles the training step: with "auto" where each batch shape is used often enough to pay for it.

    Raises:
        InputError: it is asked for where TensorFlow cannot.
    """
    wanted = config.training.jit_compile
    can = strategy.num_replicas_in_sync == 1 and not config.training.deterministic
    if wanted == "auto":
        return can and total_steps >= _STEPS_THAT_PAY_A_COMPILATION * len(plan.buckets)
    if wanted and not can:
        raise InputError(
            "training.jit_compile: true does not go with several devices or with training.deterministic, which "
            "TensorFlow cannot compile. Set it to auto or false."
        )
    return wanted
