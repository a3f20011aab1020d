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
from bytenet.training.announcement import announce
from bytenet.training.callbacks import CheckpointSaver, StateKeeper, TrainingLog
from bytenet.training.checkpoints import latest_checkpoint, load_starts, restore_checkpoint
from bytenet.training.compilation import make_compiled_model, make_compiled_pair
from bytenet.training.environment import num_trainable, write_environment
from bytenet.training.evaluation_callbacks import ContinuousEvaluation, EpochEvaluation
from bytenet.training.model_pool import ModelPool
from bytenet.training.monolingual import DIRECTIONS, directions_trained
from bytenet.training.optimizers import translators_of
from bytenet.training.preparation import Preparation, prepare
from bytenet.training.progress import ProgressLine
from bytenet.training.state import TrainingState
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
    run = prepare(config)
    model = _make_model(run, pool)
    checkpoint = latest_checkpoint(RunFolder(run_dir).checkpoints) if resume else None
    if config.semi_supervised.enabled and checkpoint is None:
        # Before there is a folder: with a start that does not fit, the corrected command is to find it free.
        load_starts(model.translators, config, run.vocabulary)

    folder = RunFolder.create(run_dir, config, run.vocabulary, resume=resume)
    folders, configs = {"forward": folder}, {"forward": config}
    if config.semi_supervised.enabled:
        configs["backward"] = _config_of_backward(config)
        folders["backward"] = RunFolder.create(folder.backward, configs["backward"], run.vocabulary, resume=True)
    state = TrainingState(data=run.data_fingerprint(), validation=run.validation_fingerprint())
    begun = config
    if checkpoint is not None:
        state = _restored_state(checkpoint, model, state)
        begun = folder.config
    if resume:
        for name, one in folders.items():
            one.go_on_with(_with_starts_of(begun, configs[name]))
    progress = ProgressLine(state, run.epochs, run.plan.num_batches, compiles=run.jit_compile)
    announce(progress, run, model)
    if checkpoint is not None:
        progress.say(f"resumed from {checkpoint.name}: epoch {state.epoch + 1}, batch {state.batch}")
        if begun.semi_supervised.starts != config.semi_supervised.starts:
            progress.say(f"the weights come from it, and not from other runs; {folder.config_path} keeps its starts")
    if state.step >= run.total_steps or _stopped_early(state, config):
        progress.say(
            "This run is finished; nothing is left to train. With a larger training.epochs (or, if it stopped early, "
            "training.early_stopping_patience) it goes on."
        )
        return folder
    for one, translator in zip(folders.values(), translators_of(model), strict=True):
        write_environment(one, config.training.seed, num_trainable(translator), run.replicas, run.plan.padded_lengths)
    _fit(run, folders, model, state, progress, more_callbacks, pool)
    return folder


def _config_of_backward(config: Config) -> Config:
    """That of the backward translator's run folder: a supervised run of the other direction, but for its training."""
    return replace(
        config,
        data=replace(config.data, reversed=not config.data.reversed),
        semi_supervised=replace(config.semi_supervised, enabled=False),
    )


def _with_starts_of(begun: Config, config: Config) -> Config:
    starts = {f"start_{name}": start for name, start in begun.semi_supervised.starts.items()}
    return replace(config, semi_supervised=replace(config.semi_supervised, **starts))


def _make_model(run: Preparation, pool: ModelPool) -> keras.Model:
    """The compiled model of a run, or its pair of translators, with weights drawn from the seed."""
    config, vocabulary = run.config, run.vocabulary
    arguments = (config, vocabulary, run.strategy, run.jit_compile, run.total_steps)
    sides = tuple(text.side for text in run.texts)
    key = (run.jit_compile, vocabulary.size, vocabulary.unknown, sides)
    if not config.semi_supervised.enabled:
        return pool.model(config, key, lambda: make_compiled_model(*arguments))
    pair = pool.model(config, key, lambda: make_compiled_pair(*arguments, sides))
    pair.set_texts(config.semi_supervised, {text.side: text.search_lengths for text in run.texts})
    return pair


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


def _fit(
    run: Preparation,
    folders: Mapping[str, RunFolder],
    model: keras.Model,
    state: TrainingState,
    progress: ProgressLine,
    more_callbacks: Sequence[keras.callbacks.Callback],
    pool: ModelPool,
) -> None:
    """Fit until the end or an early stop."""
    config, plan, folder = run.config, run.plan, folders["forward"]
    seconds_before = state.seconds
    learning = _directions_learning(config)
    restored_metrics = [keras.ops.convert_to_numpy(v) for v in model.metrics_variables] if state.batch else None
    keeper = StateKeeper(
        state, run.streams, run.lengths["target"], run.total_steps, progress, restored_metrics
    )  # fmt: skip
    saver = CheckpointSaver(folder, state, config, plan.num_batches, run.total_steps)
    validators = _validators(run, model, pool)
    callbacks = [
        keeper,
        *([_continuous_evaluation(run, folder, validators, state)] if validators else []),
        EpochEvaluation(folders, validators, state, config, run.total_steps, progress),
        TrainingLog(folders, state, learning),
        progress,
        saver,
        *more_callbacks,
    ]
    with progress.shown(), saver.stopping_on_signals(), _full_disk_explained(folder):
        # `fit` has epochs of one length only, so the rest of a broken epoch is a call of its own.
        while state.step < run.total_steps:
            model.fit(
                run.dataset(state.step),
                initial_epoch=state.epoch,
                epochs=state.epoch + 1 if state.batch else run.epochs,
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


def _directions_learning(config: Config) -> list[str]:
    """Directions of the translators that a run teaches; a supervised run has a forward one."""
    return directions_trained(config.semi_supervised) if config.semi_supervised.enabled else ["forward"]


def _validators(run: Preparation, model: keras.Model, pool: ModelPool) -> dict[str, Validator]:
    """For each translator that learns what measures it on the validation set; none where there is no such set."""
    config, corpus, vocabulary = run.config, run.corpus, run.vocabulary
    if not corpus.validation:
        return {}
    found = {}
    translators = dict(zip(DIRECTIONS, translators_of(model), strict=False))  # a supervised model has the first only
    for name in _directions_learning(config):
        translator = translators[name]
        pairs, language = corpus.validation, corpus.target_language
        if name == "backward":
            pairs, language = pairs.reversed(), corpus.source_language
        tools = pool.keep(
            ("tools", id(translator), config.evaluation, config.decoding, vocabulary.unknown),
            partial(ValidationTools, translator, config, forbidden_symbols(config.model, vocabulary)),
        )
        found[name] = Validator(tools, vocabulary, pairs, run.plan.padded_lengths, config, language)
    return found


def _continuous_evaluation(
    run: Preparation, folder: RunFolder, validators: Mapping[str, Validator], state: TrainingState
) -> ContinuousEvaluation:
    """Of the first translator that learns."""
    config = run.config
    name, validator = next(iter(validators.items()))
    drawn_from = {"": validator.pairs}
    if config.evaluation.continuous_train:
        drawn_from["train_"] = run.corpus.train if name == "forward" else run.corpus.train.reversed()
    batch_size, seed = config.evaluation.continuous_batch_size, config.training.seed
    samplers = {
        prefix: BatchSampler(pairs, run.vocabulary, run.plan.padded_lengths, batch_size, seed)
        for prefix, pairs in drawn_from.items()
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
