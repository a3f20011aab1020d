"""The steps of a run: `fit` with the callbacks of the run, until the end or an early stop."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial

import keras
import tensorflow as tf

from bytenet.config import Config, DataConfig, SemiSupervisedConfig
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
        InputError: the disk is full, a device has too little memory for a step, a shard cannot be used, or the loss is
            not finite.
        KeyboardInterrupt: the run was stopped by Ctrl-C or SIGTERM; a checkpoint was saved.
    """
    config, plan = task.config, task.plan
    folder, *_ = folders.values()
    workers, agreement = task.workers, Agreement(task.workers)
    translators = task.translators(model)
    models = [*translators.values()]
    seconds_before = state.seconds
    restored_metrics = [keras.ops.convert_to_numpy(v) for v in model.metrics_variables] if state.batch else None
    saver = CheckpointSaver(folder, models, state, config, plan.num_batches, task.total_steps, agreement, workers.count)
    watch = _StepWatch()
    learning = [direction.name for direction in task.learning]
    if task.replicas > 1:
        build_nothing_in_fit(model)
        model.train_function = task.replicated_step(model, agreement)
    with progress.shown(), saver.stopping_on_signals(), _failures_explained(folder, workers.count, watch):
        callbacks = [
            *_gradient_accumulation(task, model, state, pool),
            StateKeeper(state, models, task.streams, task.total_steps, progress, restored_metrics),
            watch,
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


class _StepWatch(keras.callbacks.Callback):
    """Knows whether a training step is running.

    It comes before the callbacks that search, so that it knows that the step is over when they begin.
    """

    is_in_step = False

    def on_train_batch_begin(self, batch, logs=None):
        self.is_in_step = True

    def on_train_batch_end(self, batch, logs=None):
        self.is_in_step = False


@contextmanager
def _failures_explained(folder: RunFolder, num_workers: int, watch: _StepWatch) -> Iterator[None]:
    """Turn the errors of a full disk, of too little memory for a step, and of reading shards into an InputError."""
    try:
        yield
    except tf.errors.OpError as error:
        if isinstance(error, tf.errors.ResourceExhaustedError):
            if "No space left" in str(error):
                raise InputError(
                    f"The disk is full: the logs in {folder.logs} could not be written. The checkpoints are intact. "
                    f"Free some space. {folder.how_to_resume(num_workers)}"
                ) from error
            if watch.is_in_step:
                raise InputError(_message_of_full_memory(folder.config)) from error
        reason = reason_of_failure(error) if folder.config.data.corpus == "shards" else None
        if reason is None:
            raise
        raise InputError(
            f"A shard cannot be used: {reason} The checkpoints are intact. Copy the shard again, then resume: the "
            f"start checks all shards and names a damaged one. {folder.how_to_resume(num_workers)}"
        ) from error


def _message_of_full_memory(config: Config) -> str:
    sections: dict[str, DataConfig | SemiSupervisedConfig] = {"data": config.data}
    if config.semi_supervised.enabled:
        sections["semi_supervised"] = config.semi_supervised
    sizes = [size for name, section in sections.items() for size in _size_of_batches(name, section)]
    message = (
        "The device has too little memory for the batches. Start again in a new run folder with a smaller "
        f"{' and '.join(sizes)}."
    )
    if config.semi_supervised.enabled:  # it forbids training.accumulate_batches
        return message
    batches = 2 * config.training.accumulate_batches
    return f"{message} For batches of half the size, training.accumulate_batches={batches} keeps the size of an update."


def _size_of_batches(section: str, config: DataConfig | SemiSupervisedConfig) -> list[str]:
    """The setting of a section that decides how large batches are, if one is set."""
    sizes = {name: getattr(config, name) for name in ("batch_chars", "batch_size")}
    return [f"{section}.{name} (now {size})" for name, size in sizes.items() if size is not None][:1]
