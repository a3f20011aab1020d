"""Training of a prepared run, on the Keras backend of this process."""

import hashlib
import itertools
import math
import os
import time
from collections.abc import Callable, Iterator
from typing import Any

import keras

from bytenet.csv_log import CsvLog
from bytenet.datasets.batches.bucketing import plan_from_config
from bytenet.errors import InputError, MissingFileError
from bytenet.files import alone_in
from bytenet.layers.fast import use_tap_products
from bytenet.models import TranslationModel, build_model
from bytenet.run_folder import RunFolder
from bytenet.training.checkpoints import latest_checkpoint, restore_run, save_checkpoint, save_model
from bytenet.training.compilation import compile_model
from bytenet.training.environment import add_fitting, device_names, num_trainable
from bytenet.training.metrics import EPOCH_COLUMNS, CharacterCrossEntropy
from bytenet.training.optimizers.averaging import averaged_weights
from bytenet.training.optimizers.portable_optimizer import portable_optimizer
from bytenet.training.prepared.folder import PreparedFolder
from bytenet.training.prepared.pairs import Batch, PreparedPairs, UnweightedBatch
from bytenet.training.state import TrainingState, is_out_of_patience

_SECONDS_BETWEEN_LINES = 30
_MEASURED = ("loss", "character_error", "val_loss")


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
        `training.early_stopping_metric: val_loss`, the model with the lowest loss on the validation pairs.

    Raises:
        MissingFileError: the folder was not prepared, or a file of it is missing.
        InputError: a file is damaged, the disk is full, the loss is not finite, another process trains the run, or the
            run ended inside an epoch, or its pairs are not those that it began with.
    """
    run = RunFolder(run_dir)
    if run.missing:
        raise MissingFileError(
            f"{run.path} is not a prepared run: {' and '.join(run.missing)} missing. Make it with "
            f"`bytenet prepare PRESET_OR_FILE --run {run.path}`."
        )
    with alone_in(run, "uses the run"):
        _fit(PreparedFolder(run), say)
    return run


def _fit(folder: PreparedFolder, say: Callable[[str], None]) -> None:
    run, config = folder.run, folder.run.config
    pairs, validation = folder.train(), folder.validation()
    plan = plan_from_config(pairs.lengths, config.data, 1)
    total_steps = config.training.total_steps(plan.num_batches)
    model = compiled_model(folder, total_steps, plan.num_batches)
    data = hashlib.sha256(f"{pairs.fingerprint()} {config.training.seed} {plan.settings}".encode()).hexdigest()
    state = TrainingState(data=data, validation=validation.fingerprint())
    if (checkpoint := latest_checkpoint(run.checkpoints)) is not None:
        state = restore_run(checkpoint, model, [model], state, plan.num_batches)
    is_finished = state.step >= total_steps or is_out_of_patience(state, config)
    if state.batch:
        message = (
            f"This run ended at batch {state.batch} of epoch {state.epoch + 1}, because of training.max_steps. `fit` "
            "goes on only from the end of an epoch. Prepare a new run; with training.start, it begins with this model."
        )
        if not is_finished:
            raise InputError(message)
        say(message)
        return
    if is_finished:
        say(
            "This run is finished. To train on, set a larger training.epochs or training.max_steps in its config.yaml, "
            "or, if it stopped early, a larger training.early_stopping_patience."
        )
        return
    add_fitting(run)
    if checkpoint is not None:
        say(f"resumed from {checkpoint.name}, after epoch {state.epoch}")
    say(
        f"{len(pairs):,} pairs, {plan.num_batches:,} batches an epoch, {total_steps:,} steps, "
        f"{num_trainable(model):,} trainable parameters, {keras.backend.backend()} on {', '.join(device_names())}"
    )
    clock = _Clock(state)
    # One shape, which is compiled once.
    measured = validation_batches(validation, plan.padded_lengths[-1:], config.evaluation.continuous_batch_size)
    seed, loss = config.training.seed, config.training.loss
    model.fit(
        _for_keras(lambda: pairs.training_batches(plan, seed, state.epoch, loss)),
        initial_epoch=state.epoch,
        epochs=-(-total_steps // plan.num_batches),
        steps_per_epoch=plan.num_batches,
        callbacks=[
            _Steps(state, clock, total_steps, pairs.target_characters / plan.num_batches, say),
            _Epochs(run, state, clock, total_steps, plan.num_batches, measured, say),
        ],
        shuffle=False,
        verbose=0,
    )


def compiled_model(folder: PreparedFolder, total_steps: int, steps_per_epoch: int) -> TranslationModel:
    """The model of a prepared run with its first weights, its optimiser, loss and metrics.

    Args:
        folder: of the run.
        total_steps: of the run, for the schedule of the learning rate.
        steps_per_epoch: likewise.
    """
    run, training = folder.run, folder.run.config.training
    keras.utils.set_random_seed(training.seed)
    keras.mixed_precision.set_global_policy("mixed_bfloat16" if training.mixed_precision else "float32")
    model = build_model(run.config.model, run.vocabulary.size)
    if (start := folder.start()) is not None:
        model.set_weights(start.get_weights())
    if keras.backend.backend() == "jax":
        use_tap_products(model, on_gpu=any("gpu" in name for name in keras.distribution.list_devices()))
    optimizer = portable_optimizer(training, total_steps, steps_per_epoch)
    # Label smoothing changes the loss, so the cross entropy of the validation pairs needs a metric of its own.
    compile_model(model, optimizer, training, training.jit_compile, [CharacterCrossEntropy()])
    return model


def validation_batches(pairs: PreparedPairs, padded_lengths: list[int], batch_size: int) -> dict[str, Any]:
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
    # Of a generator, Keras guesses which axes of the batches differ from the first two of them.
    import tensorflow as tf

    ids, weights = tf.TensorSpec((None, None), tf.int32), tf.TensorSpec((None,), tf.float32)
    signature = ({"source_ids": ids, "target_ids": ids}, ids, weights)[: len(next(batches()))]
    return tf.data.Dataset.from_generator(batches, output_signature=signature)


class _Clock:
    """Adds the time of the training to its state."""

    def __init__(self, state: TrainingState):
        self._state = state
        self._last = time.monotonic()

    def tick(self) -> None:
        """Add the time since the last call."""
        now = time.monotonic()
        self._state.seconds += now - self._last
        self._last = now


class _Steps(keras.callbacks.Callback):
    """Counts steps, characters and seconds, shows the progress, and ends the training."""

    def __init__(
        self, state: TrainingState, clock: _Clock, total_steps: int, characters: float, say: Callable[[str], None]
    ):
        super().__init__()
        self._state = state
        self._clock = clock
        self._total_steps = total_steps
        self._characters = characters
        self._say = say
        self._last_line = time.monotonic()

    def on_train_batch_end(self, batch, logs=None):
        state, now = self._state, time.monotonic()
        state.step += 1
        state.characters = round(state.step * self._characters)
        self._clock.tick()
        if state.step >= self._total_steps:
            self.model.stop_training = True
        if now - self._last_line >= _SECONDS_BETWEEN_LINES:
            self._last_line = now
            loss = float((logs or {}).get("loss", float("nan")))
            _check_finite(loss, f"until step {state.step:,}")
            self._say(f"step {state.step:,} of {self._total_steps:,}, {state.seconds:.0f} seconds: loss {loss:.4f}")


class _Epochs(keras.callbacks.Callback):
    """Measures and saves the model, saves the state of the training, and stops a run without progress."""

    def __init__(
        self, run: RunFolder, state: TrainingState, clock: _Clock, total_steps: int, num_batches: int,
        validation: dict[str, Any], say: Callable[[str], None],
    ):  # fmt: skip
        super().__init__()
        self._run = run
        self._state = state
        self._clock = clock
        self._total_steps = total_steps
        self._num_batches = num_batches
        self._validation = validation
        self._say = say
        self._log = CsvLog(run.metrics_path, EPOCH_COLUMNS)
        self._log.drop_after(state.step or -1)

    def on_epoch_end(self, epoch, logs=None):
        state, config, logs = self._state, self._run.config, dict(logs or {})
        _check_finite(logs["loss"], f"of epoch {epoch + 1}")
        state.epoch, state.batch = divmod(state.step, self._num_batches)
        is_due = (epoch + 1) % config.evaluation.every_epochs == 0 or state.step >= self._total_steps
        if is_due:
            with averaged_weights(self.model):
                if self._validation:
                    logs["val_loss"] = self._val_loss()
                if self._is_kept(logs.get("val_loss")):
                    save_model(self.model, self._run.model_path)
        self._write(epoch + 1, logs)
        if is_due:
            save_checkpoint(self._run.checkpoints, self.model, [self.model], state, config.training.keep_checkpoints)
        if is_out_of_patience(state, config):
            self._say(f"val_loss has not improved in {state.epoch - state.best_epoch} epochs, so training stops early.")
            self.model.stop_training = True

    def _val_loss(self) -> float:
        scores = self.model.evaluate(**self._validation, verbose=0, return_dict=True)
        return scores["character_cross_entropy"]

    def _is_kept(self, val_loss: float | None) -> bool:
        """Whether the model of this epoch is the model of the run."""
        state, training = self._state, self._run.config.training
        if training.early_stopping_metric != "val_loss" or val_loss is None:
            return True
        return state.improve("val_loss", "forward", val_loss, state.epoch) or training.keep_model == "last"

    def _write(self, epoch: int, logs: dict[str, float]) -> None:
        state = self._state
        self._clock.tick()
        measured: dict[str, float] = {name: logs[name] for name in _MEASURED if name in logs}
        measured["learning_rate"] = float(self.model.optimizer.learning_rate)
        place = {"epoch": epoch, "step": state.step, "seconds": state.seconds, "characters": state.characters}
        self._log.append(place | measured)
        values = ", ".join(f"{name} {value:.4f}" for name, value in measured.items())
        self._say(f"epoch {epoch}, {state.seconds:.0f} seconds: {values}")


def _check_finite(loss: float, where: str) -> None:
    if not math.isfinite(loss):
        raise InputError(f"The loss {where} is {loss}. Set a lower training.learning_rate.")
