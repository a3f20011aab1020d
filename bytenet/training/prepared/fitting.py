"""Training of a prepared run, on the Keras backend of this process."""

import hashlib
import itertools
import os
import shlex
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from importlib.util import find_spec
from typing import Any

import keras

from bytenet.config import DataConfig, fixed_settings
from bytenet.datasets.batches.bucketing import plan_from_config
from bytenet.datasets.corpora.entry import USERS_CORPORA
from bytenet.errors import InputError, MissingFileError
from bytenet.folder_lock import alone_in
from bytenet.layers.fast import use_tap_products
from bytenet.models import TranslationModel, build_model
from bytenet.models.model_size import num_trainable
from bytenet.run_folder import RunFolder
from bytenet.training.checkpoints import (
    check_not_lost,
    check_settings_of_checkpoint,
    latest_checkpoint,
    note_beginning,
    restore_run,
)
from bytenet.training.compiled_models.compilation import compile_model
from bytenet.training.environment import add_fitting, device_names
from bytenet.training.messages.end import end_message, finished_message
from bytenet.training.metrics import CharacterCrossEntropy
from bytenet.training.optimizers.portable_optimizer import portable_optimizer
from bytenet.training.prepared.callbacks import Clock, CountedSteps, MeasuredEpochs
from bytenet.training.prepared.folder import PreparedFolder
from bytenet.training.prepared.pairs import Batch, PreparedPairs, UnweightedBatch
from bytenet.training.prepared.refused_settings import check_fit, kept_model_warnings
from bytenet.training.state import TrainingState, changes_to_train_on


def fit_prepared(run_dir: str | os.PathLike[str], say: Callable[[str], None] = print) -> RunFolder:
    """Train the model of a folder that `bytenet prepare` made, with `fit` of Keras.

    Each `evaluation.every_epochs` epochs, the model is measured, and it and the state of the training are saved. Called
    again, the training goes on from there. Scores other than the loss on the validation pairs are not measured, because
    they need a search, which needs TensorFlow.

    Batches come in the order of `bytenet.training.train`, and the loss, the metrics and the updates are the same. The
    initial weights and the random numbers of dropout differ between backends.

    Args:
        run_dir: the folder.
        say: shows a line of progress.

    Returns:
        The run folder. Its `model.keras` is the model after the last epoch; with `training.keep_model: best` and
        `training.early_stopping_metric: val_loss`, the model with the lowest loss on the validation pairs. That may be
        the model of `training.start`, which is measured before the first step.

    Raises:
        MissingFileError: the folder was not prepared, or a file of it is missing.
        ConfigError: a setting that changed since `prepare` cannot be followed.
        InputError: a file is damaged, the disk is full, the loss is not finite, another process trains the run, the run
            ended inside an epoch, or its pairs or its fixed settings are not those that it began with.
    """
    run = RunFolder(run_dir)
    if run.missing:
        raise MissingFileError(
            f"{run.path} is not a prepared run: {' and '.join(run.missing)} missing. Make it with "
            f"`bytenet prepare PRESET_OR_FILE --run {shlex.quote(str(run.path))}`."
        )
    with alone_in(run, "uses the run"):
        _fit(PreparedFolder(run), say)
    return run


def _fit(folder: PreparedFolder, say: Callable[[str], None]) -> None:
    run, config = folder.run, folder.run.config
    pairs, validation = folder.train(), folder.validation()
    check_fit(config)  # config.yaml may have changed since `prepare`
    check_settings_of_checkpoint(run, config)
    plan = plan_from_config(pairs.lengths, config.data, 1)
    total_steps = config.training.total_steps(plan.num_batches)
    model = compiled_model(folder, plan.num_batches)
    data = hashlib.sha256(f"{pairs.fingerprint()} {config.training.seed} {plan.settings}".encode()).hexdigest()
    state = TrainingState(data=data, validation=validation.fingerprint(), settings=fixed_settings(config))
    if (checkpoint := latest_checkpoint(run.checkpoints)) is not None:
        state = restore_run(checkpoint, model, [model], state, plan.num_batches)
    else:
        check_not_lost(run)
        note_beginning(run.checkpoints)
    changes = changes_to_train_on(state, config, plan.num_batches)
    if state.batch:
        message = (
            f"This run ended at batch {state.batch} of epoch {state.epoch + 1}, because of training.max_steps. `fit` "
            "goes on only from the end of an epoch. Prepare a new run; with training.start, it begins with this model."
        )
        if not changes:
            raise InputError(message)
        say(message)
        return
    if changes:
        say(finished_message(changes, " in its config.yaml."))
        return
    add_fitting(run)
    if checkpoint is not None:
        say(f"resumed from {checkpoint.name}, after epoch {state.epoch}")
    say(
        f"{len(pairs):,} pairs, {plan.num_batches:,} batches an epoch, {total_steps:,} steps, "
        f"{num_trainable(model):,} trainable parameters, {keras.backend.backend()} on {', '.join(device_names())}"
    )
    if checkpoint is None and len(validation):
        for warning in kept_model_warnings(config.training):
            say(warning)
    clock = Clock(state)
    # All validation batches get one shape, so that it is compiled once. If the loss depends on the padding, they get
    # the padded lengths of the training.
    lengths = config.model.length_policy.lengths_to_pad_to(plan.padded_lengths) or plan.padded_lengths[-1:]
    measured = validation_batches(validation, lengths, config.evaluation.continuous_batch_size)
    measured_epochs = MeasuredEpochs(run, state, clock, total_steps, plan.num_batches, measured, say)
    if config.training.start is not None and not state.step:
        measured_epochs.measure_start(model)
    seed, loss = config.training.seed, config.training.loss
    model.fit(
        _for_keras(lambda: pairs.training_batches(plan, seed, state.epoch, loss)),
        initial_epoch=state.epoch,
        epochs=-(-total_steps // plan.num_batches),
        steps_per_epoch=plan.num_batches,
        callbacks=[
            CountedSteps(state, clock, total_steps, pairs.target_characters / plan.num_batches, say),
            measured_epochs,
        ],
        shuffle=False,
        verbose=0,
    )
    splits = _splits(config.data, validation)
    say(end_message({"forward": run}, state, config.training, splits, find_spec("tensorflow") is not None))


def _splits(data: DataConfig, validation: PreparedPairs) -> list[str]:
    """The splits of the corpus that have pairs, beside the training pairs. The corpus itself is not read again."""
    has_test = data.corpus not in USERS_CORPORA or data.test_source is not None
    return ["validation"] * bool(len(validation)) + ["test"] * has_test


def compiled_model(folder: PreparedFolder, num_batches: int) -> TranslationModel:
    """The model of a prepared run with its initial weights, its optimiser, loss and metrics.

    Args:
        folder: of the run.
        num_batches: in an epoch, for the schedule of the learning rate.

    Raises:
        InputError: a setting of the model, not a dropout rate, was edited, and the start has the earlier one.
    """
    run, training = folder.run, folder.run.config.training
    keras.utils.set_random_seed(training.seed)
    keras.mixed_precision.set_global_policy("mixed_bfloat16" if training.mixed_precision else "float32")
    model = build_model(run.config.model, run.vocabulary.size)
    if (start := folder.start()) is not None:
        of_start = replace(run.config, model=start.config.with_dropout_of(run.config.model))
        run.check_settings(run.config, fixed_settings(of_start))
        model.set_weights(start.get_weights())
    if keras.backend.backend() == "jax":
        use_tap_products(model, on_gpu=any("gpu" in name for name in keras.distribution.list_devices()))
    updates = training.total_updates(num_batches), training.updates_per_epoch(num_batches)
    optimizer = portable_optimizer(training, *updates)
    # Label smoothing changes the loss, so the cross entropy of the validation pairs needs a metric of its own.
    compile_model(model, optimizer, training, training.jit_compile, [CharacterCrossEntropy()])
    return model


def validation_batches(pairs: PreparedPairs, padded_lengths: Sequence[int], batch_size: int) -> dict[str, Any]:
    """The arguments of `keras.Model.evaluate` for the validation pairs; none without such pairs.

    Args:
        pairs: of the validation set.
        padded_lengths, batch_size: as for `PreparedPairs.evaluation_batches`.
    """
    if not len(pairs):
        return {}
    batches = pairs.evaluation_batches(padded_lengths, batch_size)
    return {"x": _for_keras(lambda: (batch for batch in itertools.cycle(batches))), "steps": len(batches)}


def _for_keras(batches: Callable[[], Iterator[Batch] | Iterator[UnweightedBatch]]) -> Any:
    """Endless batches of a generator as `fit` and `evaluate` take them."""
    if keras.backend.backend() != "tensorflow":
        return batches()
    # For a generator, Keras looks at the first two batches and guesses which axes vary.
    import tensorflow as tf

    from bytenet.datasets.batches.gathering import untuned

    ids, weights = tf.TensorSpec((None, None), tf.int32), tf.TensorSpec((None,), tf.float32)
    signature = ({"source_ids": ids, "target_ids": ids}, ids, weights)[: len(next(batches()))]
    return untuned(tf.data.Dataset.from_generator(batches, output_signature=signature))
