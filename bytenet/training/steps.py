"""The steps of a run: `fit` with the callbacks of the run, until the end or an early stop."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial

import keras
import tensorflow as tf

from bytenet.datasets.shards.dataset import reason_of_failure
from bytenet.decoding import forbidden_symbols
from bytenet.errors import InputError
from bytenet.private_api import build_nothing_in_fit
from bytenet.run_folder import RunFolder
from bytenet.training.callbacks import (
    CheckpointSaver,
    ContinuousEvaluation,
    GradientAccumulation,
    PlateauCuts,
    ProgressLine,
    ScoresOfChief,
    StateKeeper,
    TrainingLog,
    WholeSetEvaluation,
    make_update,
)
from bytenet.training.compiled_models.model_pool import ModelPool
from bytenet.training.distribution.agreement import Agreement
from bytenet.training.state import TrainingState
from bytenet.training.tasks import Task
from bytenet.training.validation import BatchSampler, ValidationFunctions, Validator


def run_steps(
    task: Task,
    folders: Mapping[str, RunFolder],
    model: keras.Model,
    state: TrainingState,
    progress: ProgressLine,
    more_callbacks: Sequence[keras.callbacks.Callback],
    pool: ModelPool,
) -> None:
    """Train a model until the end of the run or an early stop.

    Args:
        task: of the run.
        folders: of each translator, by direction; the folder of the run comes first.
        model: made by `Task.make_model`, with the weights to begin with.
        state: of the run; kept up to date.
        progress: shows what is going on.
        more_callbacks: called after the run's own.
        pool: keeps the searches that measure the model.

    Raises:
        InputError: the disk is full, a shard cannot be used, or the loss is not finite.
        KeyboardInterrupt: the run was stopped by Ctrl-C or SIGTERM; a checkpoint was saved.
    """
    config, plan = task.config, task.plan
    folder, *_ = folders.values()
    workers, agreement = task.workers, Agreement(task.workers)
    translators = task.translators(model)
    models = [*translators.values()]
    seconds_before = state.seconds
    restored_metrics = [keras.ops.convert_to_numpy(v) for v in model.metrics_variables] if state.batch else None
    saver = CheckpointSaver(folder, models, state, config, plan.num_batches, task.total_steps, agreement)
    learning = [direction.name for direction in task.learning]
    if task.replicas > 1:
        build_nothing_in_fit(model)
        model.train_function = task.replicated_step(model, agreement)
    with progress.shown(), saver.stopping_on_signals(), _failures_explained(folder):
        callbacks = [
            *_gradient_accumulation(task, model, state, pool),
            StateKeeper(state, models, task.streams, task.total_steps, progress, restored_metrics),
            *(_evaluations(task, folders, translators, state, progress, pool) if workers.is_chief else []),
            *([ScoresOfChief(state, workers)] if workers.count > 1 else []),
            *([PlateauCuts(translators, learning, state, config, progress)] if task.cuts_at_plateaus else []),
            *([TrainingLog(folders, state, learning, task.columns), progress] if workers.is_chief else []),
            saver,
            *more_callbacks,
        ]
        # All epochs of one call of `fit` have the same length, so the rest of an epoch needs a call of its own.
        while state.step < task.total_steps:
            model.fit(
                workers.distribute(task.dataset(state.step)),
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


def _gradient_accumulation(
    task: Task, model: keras.Model, state: TrainingState, pool: ModelPool
) -> list[GradientAccumulation]:
    """The callback that makes one update for several batches, if the run does so."""
    config = task.config.training
    if config.accumulate_batches == 1:
        return []
    update = pool.keep(("update", id(model)), partial(make_update, model))
    return [GradientAccumulation(state, task.streams["pairs"], config, update)]


def _evaluations(
    task: Task,
    folders: Mapping[str, RunFolder],
    translators: Mapping[str, keras.Model],
    state: TrainingState,
    progress: ProgressLine,
    pool: ModelPool,
) -> list[keras.callbacks.Callback]:
    """The callbacks that measure the validation set."""
    folder, *_ = folders.values()
    num_batches = task.plan.num_batches
    validators = _validators(task, translators, pool)
    started = [direction.name for direction in task.directions if direction.starts_trained]
    return [
        *([_continuous_evaluation(task, folder, validators, state)] if validators else []),
        WholeSetEvaluation(
            folders, translators, validators, started, state, task.config, num_batches, task.total_steps, progress
        ),
    ]


def _validators(task: Task, translators: Mapping[str, keras.Model], pool: ModelPool) -> dict[str, Validator]:
    """A validator for each translator that learns, by direction; none without a validation set."""
    config, vocabulary = task.config, task.vocabulary
    # What the traced searches depend on, beside the model.
    decoding = config.decoding
    traced = (
        config.evaluation.beam_size, config.evaluation.batch_norm_statistics, decoding.length_penalty,
        decoding.length_penalty_rule, decoding.min_length, vocabulary.unknown,
    )  # fmt: skip
    validators = {}
    for direction in task.learning:
        if not direction.validation:
            continue
        translator = translators[direction.name]
        functions = pool.keep(
            ("validation", id(translator), *traced),
            partial(ValidationFunctions, translator, config, forbidden_symbols(config.model, vocabulary)),
        )
        validators[direction.name] = Validator(
            functions, vocabulary, direction.validation, task.plan.padded_lengths, config, direction.language
        )
    return validators


def _continuous_evaluation(
    task: Task, folder: RunFolder, validators: Mapping[str, Validator], state: TrainingState
) -> ContinuousEvaluation:
    """The continuous evaluation of the first translator that learns."""
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
def _failures_explained(folder: RunFolder) -> Iterator[None]:
    """Turn the errors of TensorBoard's writers on a full disk, and of reading shards, into an InputError."""
    try:
        yield
    except tf.errors.OpError as error:
        if isinstance(error, tf.errors.ResourceExhaustedError) and "No space left" in str(error):
            raise InputError(
                f"The disk is full: the logs in {folder.logs} could not be written. The checkpoints are intact. Free "
                f"some space and resume with: {folder.resume_command}"
            ) from error
        reason = reason_of_failure(error) if folder.config.data.corpus == "shards" else None
        if reason is None:
            raise
        raise InputError(
            f"A shard cannot be used: {reason} The checkpoints are intact. Copy the shard again, then resume. The "
            f"start checks all shards and names a damaged one: {folder.resume_command}"
        ) from error
