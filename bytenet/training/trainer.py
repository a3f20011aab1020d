"""Train a model as its configuration says, from the beginning or from where a run stopped."""

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path

import keras
import tensorflow as tf

from bytenet.config import Config
from bytenet.decoding import forbidden_symbols
from bytenet.errors import InputError
from bytenet.run_folder import RunFolder
from bytenet.training.callbacks import (
    CheckpointSaver,
    ContinuousEvaluation,
    EpochEvaluation,
    ProgressLine,
    StateKeeper,
    TrainingLog,
)
from bytenet.training.callbacks.start_messages import announce
from bytenet.training.checkpoints import latest_checkpoint, restore_checkpoint
from bytenet.training.environment import num_trainable, write_environment
from bytenet.training.model_pool import ModelPool
from bytenet.training.state import TrainingState
from bytenet.training.tasks import Task, make_task
from bytenet.training.translators import translators_of
from bytenet.training.validation import BatchSampler, ValidationTools, Validator


def train(
    config: Config,
    run_dir: str | os.PathLike[str],
    resume: bool = False,
    more_callbacks: Sequence[keras.callbacks.Callback] = (),
    models: ModelPool | None = None,
) -> RunFolder:
    """Train the model of a configuration with `fit` and leave it in a run folder.

    Args:
        config: what to train on what.
        run_dir: a folder that does not exist or is empty; with `resume`, that of a run that was stopped.
        resume: go on from the run's latest checkpoint, or from the beginning if it has none. A resumed run ends
            with the weights of a run that was never stopped, bit for bit where the machine adds up its sums in
            the same order (`training.deterministic` makes sure of that).
        more_callbacks: called after the run's own, for those who watch it.
        models: of earlier runs of this process, to be used again where they fit.

    Returns:
        The run folder, with `model.keras`: the best model by the early-stopping metric, or the last (`keep_model`).
        A semi-supervised run has the backward translator in `backward`, a run folder of its own, as it was at its own
        best.

    Raises:
        InputError: the corpus, the configuration or the folder cannot be used, the disk is full, or the loss
            became no number.
        KeyboardInterrupt: the run was stopped by Ctrl-C or SIGTERM; a checkpoint was saved.
    """
    whole = RunFolder(run_dir).trained_in
    if whole != Path(run_dir):
        raise InputError(
            f"{run_dir} is the backward translator of the run in {whole} and is trained with it: "
            f"bytenet train --resume --run {whole}"
        )
    pool = models or ModelPool()
    if not resume:
        RunFolder(run_dir).check_free()
    task = make_task(config)
    return fit(task, task.make_model(pool), run_dir, resume, more_callbacks, pool)


def fit(
    task: Task,
    model: keras.Model,
    run_dir: str | os.PathLike[str],
    resume: bool = False,
    more_callbacks: Sequence[keras.callbacks.Callback] = (),
    pool: ModelPool | None = None,
) -> RunFolder:
    """Train the model of a task and leave it in a run folder; what `train` does once both are made.

    Args:
        task: of the run.
        model: as the task makes it.
        run_dir, resume, more_callbacks: as for `train`.
        pool: keeps the searches that measure the model, for later runs.

    Returns:
        The run folder.

    Raises:
        As `train` does.
    """
    config = task.config
    checkpoint = latest_checkpoint(RunFolder(run_dir).checkpoints) if resume else None
    if checkpoint is None:
        # Before there is a folder: if a start does not fit, the corrected command needs the folder free.
        task.load_starts(model)

    folders = task.make_folders(run_dir, resume)
    folder, *_ = folders.values()
    state = TrainingState(data=task.data_fingerprint(), validation=task.validation_fingerprint())
    begun = config
    if checkpoint is not None:
        state = _restored_state(checkpoint, model, state)
        begun = folder.config
    if resume:
        for direction in task.directions:
            folders[direction.name].go_on_with(task.resumed_config(direction.config, begun))
    progress = ProgressLine(state, task.epochs, task.plan.num_batches, compiles=task.jit_compile)
    announce(progress, task, model)
    if checkpoint is not None:
        progress.say(f"resumed from {checkpoint.name}: epoch {state.epoch + 1}, batch {state.batch}")
        for message in task.messages_of_resuming(folder, begun):
            progress.say(message)
    if state.step >= task.total_steps or _stopped_early(state, config):
        progress.say(
            "This run is finished; nothing is left to train. With a larger training.epochs (or, if it stopped early, "
            "training.early_stopping_patience) it goes on."
        )
        return folder
    for one, translator in zip(folders.values(), translators_of(model), strict=True):
        parameters = num_trainable(translator)
        write_environment(one, config.training.seed, parameters, task.replicas, task.plan.padded_lengths)
    _run_steps(task, folders, model, state, progress, more_callbacks, pool or ModelPool())
    return folder


def _stopped_early(state: TrainingState, config: Config) -> bool:
    """Whether the run stopped at the end of its latest epoch, as only epochs that are evaluated can tell."""
    patience = config.training.early_stopping_patience
    evaluated = state.epoch % config.evaluation.every_epochs == 0
    return patience is not None and evaluated and bool(state.best_scores) and state.epoch - state.best_epoch >= patience


def _restored_state(checkpoint: Path, model: keras.Model, fresh: TrainingState) -> TrainingState:
    """The state of a checkpoint whose values are put into the model; `fresh` is that of the data that there is now.

    Raises:
        InputError: the checkpoint cannot be used, or belongs to other data.
    """
    state = restore_checkpoint(checkpoint, model)
    if state.data != fresh.data:
        raise InputError(
            "The training pairs, the monolingual text or the batches made of them are not those that the run of "
            f"{checkpoint} began with, so its place in the data means nothing. Bring back the corpus and the text as "
            "they were, and as many devices; or start a new run in another folder."
        )
    if state.validation not in ("", fresh.validation):
        raise InputError(
            f"The validation pairs are not those that the run of {checkpoint} was measured on, so its best score means "
            "nothing. Bring them back, or start a new run in another folder."
        )
    return replace(state, validation=fresh.validation)


def _run_steps(
    task: Task,
    folders: Mapping[str, RunFolder],
    model: keras.Model,
    state: TrainingState,
    progress: ProgressLine,
    more_callbacks: Sequence[keras.callbacks.Callback],
    pool: ModelPool,
) -> None:
    """Fit until the end or an early stop."""
    config, plan = task.config, task.plan
    folder, *_ = folders.values()
    seconds_before = state.seconds
    restored_metrics = [keras.ops.convert_to_numpy(v) for v in model.metrics_variables] if state.batch else None
    keeper = StateKeeper(state, task.streams, task.lengths["target"], task.total_steps, progress, restored_metrics)
    saver = CheckpointSaver(folder, state, config, plan.num_batches, task.total_steps)
    validators = _validators(task, model, pool)
    started = [direction.name for direction in task.directions if direction.starts_trained]
    callbacks = [
        keeper,
        *([_continuous_evaluation(task, folder, validators, state)] if validators else []),
        EpochEvaluation(folders, validators, started, state, config, task.total_steps, progress),
        TrainingLog(folders, state, [direction.name for direction in task.learning], task.columns),
        progress,
        saver,
        *more_callbacks,
    ]
    with progress.shown(), saver.stopping_on_signals(), _full_disk_explained(folder):
        # `fit` has epochs of one length only, so the rest of a broken epoch is a call of its own.
        while state.step < task.total_steps:
            model.fit(
                task.dataset(state.step),
                initial_epoch=state.epoch,
                epochs=state.epoch + 1 if state.batch else task.epochs,
                steps_per_epoch=plan.num_batches - state.batch,
                callbacks=callbacks,
                shuffle=False,  # the dataset comes shuffled
                verbose=0,
            )
            if model.stop_training:
                break
    if progress.compile_seconds:
        share = progress.compile_seconds / (state.seconds - seconds_before)
        progress.say(f"compiling took {progress.compile_seconds:.0f} seconds, {share:.0%} of the time")


def _validators(task: Task, model: keras.Model, pool: ModelPool) -> dict[str, Validator]:
    """By direction, what measures a translator that learns on the validation set; none where there is no such set."""
    config, vocabulary = task.config, task.vocabulary
    validators = {}
    for direction, translator in zip(task.directions, translators_of(model), strict=True):
        if not direction.learns or not direction.validation:
            continue
        tools = pool.keep(
            ("tools", id(translator), config.evaluation, config.decoding, vocabulary.unknown),
            partial(ValidationTools, translator, config, forbidden_symbols(config.model, vocabulary)),
        )
        validators[direction.name] = Validator(
            tools, vocabulary, direction.validation, task.plan.padded_lengths, config, direction.language
        )
    return validators


def _continuous_evaluation(
    task: Task, folder: RunFolder, validators: Mapping[str, Validator], state: TrainingState
) -> ContinuousEvaluation:
    """Of the first translator that learns."""
    config = task.config
    direction = task.learning[0]
    validator = validators[direction.name]
    pairs_to_draw_from = {"": validator.pairs}
    if config.evaluation.continuous_train:
        pairs_to_draw_from["train_"] = direction.train
    batch_size, seed = config.evaluation.continuous_batch_size, config.training.seed
    samplers = {
        prefix: BatchSampler(pairs, task.vocabulary, task.plan.padded_lengths, batch_size, seed)
        for prefix, pairs in pairs_to_draw_from.items()
    }
    return ContinuousEvaluation(folder, validator, samplers, state, config)


@contextmanager
def _full_disk_explained(folder: RunFolder) -> Iterator[None]:
    """TensorBoard's writers tell of a full disk in TensorFlow's own way."""
    try:
        yield
    except tf.errors.ResourceExhaustedError as error:
        if "No space left" not in str(error):
            raise
        raise InputError(
            f"The disk is full: the logs in {folder.logs} could not be written. The checkpoints are intact. Free some "
            f"space and go on with: bytenet train --resume --run {folder.path}"
        ) from error
