"""Train a model as its configuration says, from the beginning or from where a run stopped."""

import os
from pathlib import Path

import keras
import numpy as np
import tensorflow as tf

from bytenet.config import Config
from bytenet.datasets import (
    BatchPlan,
    Corpus,
    Vocabulary,
    load_corpus,
    pair_lengths,
    plan_from_config,
    training_dataset,
)
from bytenet.errors import InputError
from bytenet.models import TranslationModel, build_model
from bytenet.run_folder import RunFolder
from bytenet.training.callbacks import CheckpointSaver, StateKeeper, TrainingLog
from bytenet.training.checkpoints import latest_checkpoint, restore_checkpoint
from bytenet.training.environment import num_trainable, write_environment
from bytenet.training.losses import SentenceCrossEntropy
from bytenet.training.metrics import CharacterError
from bytenet.training.optimizers import FlatAdam
from bytenet.training.progress import ProgressLine
from bytenet.training.schedules import make_schedule
from bytenet.training.state import TrainingState
from bytenet.training.strategies import make_strategy, synchronize_batch_normalization
from bytenet.training.validation import ContinuousEvaluation, EpochEvaluation, Validator

_STEPS_THAT_PAY_A_COMPILATION = 100


def train(config: Config, run_dir: str | os.PathLike[str], resume: bool = False) -> RunFolder:
    """Train the model of a configuration with `fit` and leave it in a run folder.

    Args:
        config: what to train on what.
        run_dir: a folder that does not exist or is empty; with `resume`, that of a run that was stopped.
        resume: go on from the run's latest checkpoint, or from the beginning if it has none. A resumed run ends
            with the weights of a run that was never stopped, bit for bit where the machine adds up its sums in
            the same order (`training.deterministic` makes sure of that).

    Returns:
        The run folder, with `model.keras`, the best model by the early-stopping metric.

    Raises:
        InputError: the corpus, the configuration or the folder cannot be used, the disk is full, or the loss
            became no number.
        KeyboardInterrupt: the run was stopped by Ctrl-C or SIGTERM; a checkpoint was saved.
    """
    corpus = load_corpus(config.data)
    vocabulary = Vocabulary.from_texts(
        corpus.train.source, corpus.train.target,
        unknown=config.data.unknown, min_count=config.data.min_character_count,
    )  # fmt: skip
    folder = RunFolder.create(run_dir, config, vocabulary, resume=resume)
    _set_up_keras(config)
    strategy = make_strategy(config.training.devices)
    plan = plan_from_config(pair_lengths(corpus.train, vocabulary), config.data, strategy.num_replicas_in_sync)
    total_steps = min(config.training.epochs * plan.num_batches, config.training.max_steps or 2**62)
    model = _compiled_model(config, vocabulary, strategy, plan, total_steps)

    checkpoint = latest_checkpoint(folder.checkpoints) if resume else None
    state = restore_checkpoint(checkpoint, model) if checkpoint else TrainingState()
    write_environment(folder, config.training.seed, num_trainable(model), strategy.num_replicas_in_sync)
    epochs = -(-total_steps // plan.num_batches)
    progress = ProgressLine(state, epochs, plan.num_batches, compiles=bool(model.jit_compile))
    _say_what_comes(progress, corpus, plan, model, state, checkpoint, total_steps)
    if state.finished or state.step >= total_steps:
        progress.say("This run is finished; nothing is left to train.")
        return folder
    _fit(config, corpus, vocabulary, folder, plan, model, state, total_steps, progress)
    return folder


def _set_up_keras(config: Config) -> None:
    keras.utils.set_random_seed(config.training.seed)
    keras.mixed_precision.set_global_policy("mixed_bfloat16" if config.training.mixed_precision else "float32")
    if config.training.deterministic:
        tf.config.experimental.enable_op_determinism()


def _compiled_model(
    config: Config, vocabulary: Vocabulary, strategy: tf.distribute.Strategy, plan: BatchPlan, total_steps: int
) -> TranslationModel:
    """The model with built optimiser and metrics, its variables on the strategy's devices."""
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
            jit_compile=_jit_compile(config, strategy, plan, total_steps),
        )
        # All state must be there before the first step, for a checkpoint to be restored into it. (Under a
        # MirroredStrategy, `fit` would build the rest by itself, but fails at it with integer inputs.)
        optimizer.build(model.trainable_variables)
        ids = keras.KerasTensor((None, None), "int32")
        logits = keras.KerasTensor((None, None, model.vocab_size), "float32")
        model._compile_metrics.build(ids, logits)
        model._compile_loss.build(ids, logits)
    return model


def _jit_compile(config: Config, strategy: tf.distribute.Strategy, plan: BatchPlan, total_steps: int) -> bool:
    """Whether XLA compiles the training step: "auto" where each batch shape is used often enough to pay for it."""
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


def _fit(config: Config, corpus: Corpus, vocabulary: Vocabulary, folder: RunFolder, plan: BatchPlan,
         model: TranslationModel, state: TrainingState, total_steps: int, progress: ProgressLine) -> None:
    """Fit until the end or an early stop."""
    seed = config.training.seed
    target_lengths = np.array([vocabulary.encoded_length(text) for text in corpus.train.target])
    restored_metrics = [keras.ops.convert_to_numpy(v) for v in model.metrics_variables] if state.batch else None
    keeper = StateKeeper(state, plan, target_lengths, seed, total_steps, progress, restored_metrics)
    saver = CheckpointSaver(folder, state, config)
    validator = Validator(model, vocabulary, corpus.validation, config) if corpus.validation else None
    callbacks = [
        keeper,
        *([ContinuousEvaluation(folder, validator, state, config)] if validator else []),
        EpochEvaluation(folder, validator, state, config, total_steps, progress),
        TrainingLog(folder, state),
        progress,
        saver,
    ]
    last_epoch = -(-total_steps // plan.num_batches)
    with progress.shown(), saver.stopping_on_signals():
        # `fit` has epochs of one length only, so the rest of a broken epoch is a call of its own.
        while state.step < total_steps:
            dataset = training_dataset(
                corpus.train, vocabulary, plan, seed,
                start_epoch=state.epoch, start_batch=state.batch, loss=config.training.loss,
            )  # fmt: skip
            model.fit(
                dataset,
                initial_epoch=state.epoch,
                epochs=state.epoch + 1 if state.batch else last_epoch,
                steps_per_epoch=plan.num_batches - state.batch,
                callbacks=callbacks,
                shuffle=False,  # the dataset comes shuffled
                verbose=0,
            )
            if model.stop_training:
                break
    state.finished = True
    saver.save()


def _say_what_comes(progress: ProgressLine, corpus: Corpus, plan: BatchPlan, model: TranslationModel,
                    state: TrainingState, checkpoint: Path | None, total_steps: int) -> None:
    shapes = ", ".join(f"{bucket.batch_size} x {bucket.upper}" for bucket in plan.buckets)
    progress.say(
        f"{corpus.name}: {len(corpus.train):,} training pairs {corpus.source_language} -> {corpus.target_language}, "
        f"{len(corpus.validation or ()):,} for validation; {plan.num_batches:,} batches an epoch, "
        f"{total_steps:,} steps in all; padding {plan.padding_share:.0%}; {len(plan.buckets)} batch shapes: {shapes}"
    )
    compiled = "compiled with XLA" if model.jit_compile else "not compiled"
    size = f"{num_trainable(model):,} trainable parameters, {model.vocab_size} symbols"
    progress.say(f"{model.name}: {size}; steps {compiled}")
    if checkpoint is not None:
        progress.say(f"resumed from {checkpoint.name}: epoch {state.epoch + 1}, batch {state.batch}")


def _num_trainable(model: TranslationModel) -> int:
    return sum(int(np.prod(weight.shape)) for weight in model.trainable_weights)
