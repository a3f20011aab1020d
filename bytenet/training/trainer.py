"""Training of a model as its configuration says, from the beginning or from a checkpoint."""

import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

import keras

from bytenet.config import Config, fixed_settings
from bytenet.errors import InputError
from bytenet.folder_lock import alone_in
from bytenet.models.model_size import check_size, num_trainable
from bytenet.run_folder import RunFolder
from bytenet.saved.keras_model import check_clock
from bytenet.training.callbacks import ProgressLine
from bytenet.training.checkpoints import (
    check_not_lost,
    check_settings_of_checkpoint,
    checkpoints,
    latest_checkpoint,
    note_beginning,
    restore_run,
)
from bytenet.training.compiled_models.model_pool import ModelPool
from bytenet.training.compiled_models.trainable_model import check_decoding
from bytenet.training.distribution.cluster import Cluster
from bytenet.training.distribution.failures import explaining_ends
from bytenet.training.distribution.same_training import check_same_training
from bytenet.training.distribution.workers import Workers
from bytenet.training.environment import write_environment
from bytenet.training.messages.end import end_message, finished_message
from bytenet.training.messages.start import say_what_is_trained
from bytenet.training.starts import check_start
from bytenet.training.state import TrainingState, changes_to_train_on
from bytenet.training.steps import run_steps
from bytenet.training.tasks import Task, make_task
from bytenet.training.tasks.resumption import messages_of_resuming, resumed_config


def train(
    config: Config,
    run_dir: str | os.PathLike[str],
    resume: bool = False,
    more_callbacks: Sequence[keras.callbacks.Callback] = (),
    models: ModelPool | None = None,
    cluster: Cluster | None = None,
) -> RunFolder:
    """Train the model of a configuration with `fit`, and save it in a run folder.

    Args:
        config: of the run.
        run_dir: a folder that does not exist or is empty. With `resume`, the folder of a run that was stopped.
        resume: go on from the run's latest checkpoint, or from the beginning if it never had one. A resumed run ends
            with the weights of a run that was never stopped, bit for bit if the machine adds up its sums in
            the same order (`training.deterministic` makes sure of that).
        more_callbacks: called after the run's own.
        models: models of earlier runs of this process. They are reused if they fit.
        cluster: of this process, if several train together. All of them must call this function with the same
            arguments. Only the chief needs the run folder and writes into it.

    Returns:
        The run folder. Its `model.keras` is the best model by the early-stopping metric, or the last one
        (`training.keep_model`). If the run trains several translators, each other translator has a run folder of its
        own inside this folder, with its own best model.

    Raises:
        InputError: the corpus, the configuration or the folder cannot be used, the checkpoints of a trained run are
            lost, another process trains the run, the disk is full, the loss is not finite, or another worker ended.
        KeyboardInterrupt: the run was stopped by Ctrl-C or SIGTERM; a checkpoint was saved.
    """
    workers = Workers(cluster)
    with explaining_ends(cluster, run_dir), _folder_of(workers, run_dir) as own_dir:
        pool = models or ModelPool()
        if resume and workers.count > 1:
            _copy_run_of_chief(RunFolder(own_dir), workers)
        task = workers.together(lambda: _prepared(config, own_dir, resume, workers))
        check_same_training(workers, task)
        fit(task, task.make_model(pool), own_dir, resume, more_callbacks, pool)
    return RunFolder(run_dir)


@contextmanager
def _folder_of(workers: Workers, run_dir: str | os.PathLike[str]) -> Iterator[Path]:
    """The run folder of the chief; for another worker, a temporary one, which its messages do not name."""
    if workers.is_chief:
        yield Path(run_dir)
        return
    with tempfile.TemporaryDirectory(prefix="bytenet-worker-") as folder:
        own_dir = Path(folder, "run")
        try:
            yield own_dir
        except (InputError, KeyboardInterrupt) as error:
            raise type(error)(str(error).replace(str(own_dir), os.fspath(run_dir))) from error


def _copy_run_of_chief(folder: RunFolder, workers: Workers) -> None:
    """Copy the settings and the vocabulary of the run to a worker that is not the chief, so that it resumes the run."""
    paths = (folder.config_path, folder.vocabulary_path)
    is_begun = not folder.missing
    contents = workers.together(lambda: [path.read_bytes() if is_begun else b"" for path in paths])
    for path, own_content in zip(paths, contents, strict=True):
        content = workers.from_chief(own_content)
        if content and not workers.is_chief:
            folder.make()
            path.write_bytes(content)


def _prepared(config: Config, run_dir: str | os.PathLike[str], resume: bool, workers: Workers) -> Task:
    """The task of a run whose folder may be used."""
    run = RunFolder(run_dir)
    if resume and run.is_prepared:
        raise InputError(f"{run_dir} was made by `bytenet prepare`. Train it with `{run.resume_command}`.")
    whole = run.trained_in
    if whole != Path(run_dir):
        raise InputError(
            f"{run_dir} is the {run.name} translator of the run in {whole} and is trained with that run: "
            f"{run.resume_command}"
        )
    check_clock()
    config, vocabulary = check_start(config, run, resume)
    if resume:
        if not run.missing:
            check_not_lost(run)
        check_settings_of_checkpoint(run, config)
    task = make_task(config, vocabulary, workers)
    check_size(config.model, task.vocabulary.size)
    return task


def fit(
    task: Task,
    model: keras.Model,
    run_dir: str | os.PathLike[str],
    resume: bool = False,
    more_callbacks: Sequence[keras.callbacks.Callback] = (),
    pool: ModelPool | None = None,
) -> RunFolder:
    """Train the model of a task, and save it in a run folder. `train` calls this when it has made both.

    Args:
        task: of the run.
        model: made by `Task.make_model`.
        run_dir, resume, more_callbacks: as for `train`.
        pool: keeps the searches that measure the model, for later runs.

    Returns:
        The run folder.

    Raises:
        InputError, KeyboardInterrupt: as for `train`.
    """
    folder, workers = RunFolder(run_dir), task.workers
    translator, *_ = task.translators(model).values()  # the others have the same shape and settings
    check_decoding(task.config, translator, task.vocabulary)
    goes_on = resume and workers.from_chief(b"yes" if checkpoints(folder.checkpoints) else b"")
    if not goes_on:
        # Before the folder is made: if a start does not fit, the corrected command needs a free folder.
        workers.together(lambda: task.load_starts(model))
    with ExitStack() as held:
        workers.together(lambda: held.enter_context(_locked(folder)))
        return _fit_alone(task, model, run_dir, resume, more_callbacks, pool)


@contextmanager
def _locked(folder: RunFolder) -> Iterator[None]:
    """Make a run folder, unless it exists, and hold its lock."""
    folder.make()
    with alone_in(folder, "trains a run"):
        yield


def _fit_alone(
    task: Task,
    model: keras.Model,
    run_dir: str | os.PathLike[str],
    resume: bool,
    more_callbacks: Sequence[keras.callbacks.Callback],
    pool: ModelPool | None,
) -> RunFolder:
    """The same as `fit`, with the lock of the folder, and with the weights to start from in the model."""
    config, translators, workers = task.config, task.translators(model), task.workers
    checkpoint = _checkpoint_of_chief(RunFolder(run_dir), workers) if resume else None
    folders = workers.together(lambda: task.make_folders(run_dir, resume))
    folder, *_ = folders.values()
    state = TrainingState(
        data=task.data_fingerprint(), validation=task.validation_fingerprint(), settings=fixed_settings(config)
    )
    begun = config
    if checkpoint is not None:
        state = restore_run(checkpoint, model, [*translators.values()], state, task.plan.num_batches)
        begun = folder.config
    else:
        note_beginning(folder.checkpoints)
    progress = ProgressLine(
        state, task.plan.num_batches, task.total_steps, compiles=task.jit_compile, shows=workers.is_chief
    )
    say_what_is_trained(progress, task, model)
    if checkpoint is not None:
        progress.say(f"resumed from {checkpoint.name}: epoch {state.epoch + 1}, batch {state.batch}")
    elif resume:
        progress.say(f"{run_dir} has no checkpoint yet, so the training starts from the beginning")
    if changes := changes_to_train_on(state, config, task.plan.num_batches):
        settings = " ".join(f"--set {setting}=N" for setting in changes)
        progress.say(finished_message(changes, f": {folder.resume_command_of(workers.count)} {settings}"))
        return folder
    if resume:
        for direction in task.directions:
            folders[direction.name].go_on_with(resumed_config(direction.config, begun))
    messages = task.messages_of_starting() if checkpoint is None else messages_of_resuming(folder, config, begun)
    for message in messages:
        progress.say(message)
    for name, translator in translators.items():
        parameters = num_trainable(translator)
        write_environment(folders[name], config.training.seed, parameters, task.replicas, task.plan.padded_lengths)
    run_steps(task, folders, model, state, progress, more_callbacks, pool or ModelPool())
    trained = {direction.name: folders[direction.name] for direction in task.learning}
    splits = [split for split in ("validation", "test") if getattr(task.corpus, split)]
    progress.say(end_message(trained, state, config.training, splits))
    return folder


def _checkpoint_of_chief(folder: RunFolder, workers: Workers) -> Path | None:
    """The latest checkpoint of a run; on a worker that is not the chief, a copy of it beside its own folder."""
    checkpoint = latest_checkpoint(folder.checkpoints)
    if workers.count == 1:
        return checkpoint
    name = workers.from_chief(b"" if checkpoint is None else checkpoint.name.encode()).decode()
    if not name:
        return None
    content = workers.from_chief(b"" if checkpoint is None else checkpoint.read_bytes())
    if not workers.is_chief:
        checkpoint = folder.path.with_name(name)
        checkpoint.write_bytes(content)
    return checkpoint
