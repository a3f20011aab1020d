"""Training of a prepared run, on the Keras backend of this process."""

import itertools
import math
import os
import time
from collections.abc import Callable, Iterator
from typing import Any

import keras

from bytenet.csv_log import CsvLog
from bytenet.datasets.batches.bucketing import plan_from_config
from bytenet.errors import InputError
from bytenet.files import alone_in
from bytenet.layers.fast import use_tap_products
from bytenet.models import TranslationModel, build_model
from bytenet.private_api import build_loss_and_metrics
from bytenet.run_folder import RunFolder
from bytenet.saved.keras_model import load_keras_model
from bytenet.training.checkpoints import latest_checkpoint, restore_checkpoint, save_checkpoint, save_model
from bytenet.training.environment import add_fitting, device_names
from bytenet.training.losses import SentenceCrossEntropy
from bytenet.training.metrics import EPOCH_COLUMNS, CharacterCrossEntropy, CharacterError
from bytenet.training.optimizers.averaging import averaged_weights
from bytenet.training.optimizers.portable_optimizer import portable_optimizer
from bytenet.training.prepared.folder import PreparedFolder
from bytenet.training.prepared.pairs import Batch, PreparedPairs
from bytenet.training.state import TrainingState, is_better

_VALIDATION_ROWS = 64
_SECONDS_BETWEEN_LINES = 30


def fit_prepared(run_dir: str | os.PathLike[str], say: Callable[[str], None] = print) -> RunFolder:
    """Train the model of a folder that `bytenet prepare` made, with `fit` of Keras.

    Each `evaluation.every_epochs` epochs, the model is measured, and it and the state of the training are saved. Called
    again, the training goes on from there.

    Batches come in the order of `bytenet.training.train`, and the loss, the metrics and the updates are the same. The
    initial weights and the random numbers of dropout differ between backends.

    Args:
        run_dir: the folder.
        say: shows a line of progress.

    Returns:
        The run folder. Its `model.keras` is the model after the last epoch; with `training.keep_model: best` and
        `training.early_stopping_metric: val_loss`, the model with the lowest loss on the validation pairs. Other
        scores are not measured, because they need a search, which needs TensorFlow.

    Raises:
        MissingFileError: the folder was not prepared.
        InputError: a file is damaged, the disk is full, the loss is not finite, or another process trains the run.
    """
    run = RunFolder.open(run_dir)
    with alone_in(run, "trains a run"):
        _fit(PreparedFolder(run), say)
    return run


def _fit(folder: PreparedFolder, say: Callable[[str], None]) -> None:
    run, config = folder.run, folder.run.config
    pairs = PreparedPairs.load(folder.train_path)
    plan = plan_from_config(pairs.lengths, config.data, 1)
    total_steps = config.training.total_steps(plan.num_batches)
    model = compiled_model(folder, total_steps)
    state = TrainingState()
    if (checkpoint := latest_checkpoint(run.checkpoints)) is not None:
        state = restore_checkpoint(checkpoint, model, [model])
        say(f"resumed from {checkpoint.name}, after epoch {state.epoch}")
    if state.step >= total_steps:
        say("This run is finished. To train on, set a larger training.epochs in its config.yaml.")
        return
    add_fitting(run)
    say(
        f"{len(pairs):,} pairs, {plan.num_batches:,} batches an epoch, {total_steps:,} steps, "
        f"{model.count_params():,} parameters, {keras.backend.backend()} on {', '.join(device_names())}"
    )
    seed, loss = config.training.seed, config.training.loss
    model.fit(
        _for_keras(lambda: pairs.training_batches(plan, seed, state.epoch, loss)),
        initial_epoch=state.epoch,
        epochs=-(-total_steps // plan.num_batches),
        steps_per_epoch=plan.num_batches,
        callbacks=[
            _Steps(state, total_steps, pairs.target_characters / plan.num_batches, say),
            # One shape, which is compiled once.
            _Epochs(run, state, total_steps, _validation(folder, plan.padded_lengths[-1:]), say),
        ],
        shuffle=False,
        verbose=0,
    )


def compiled_model(folder: PreparedFolder, total_steps: int) -> TranslationModel:
    """The model of a prepared run with its first weights, its optimiser, loss and metrics.

    Args:
        folder: of the run.
        total_steps: of the run, for the schedule of the learning rate.
    """
    run, training = folder.run, folder.run.config.training
    keras.utils.set_random_seed(training.seed)
    keras.mixed_precision.set_global_policy("mixed_bfloat16" if training.mixed_precision else "float32")
    model = build_model(run.config.model, run.vocabulary.size)
    if folder.start_path.is_file():
        model.set_weights(load_keras_model(folder.start_path).get_weights())
    if keras.backend.backend() == "jax":
        use_tap_products(model, on_gpu=any("gpu" in name for name in keras.distribution.list_devices()))
    model.compile(
        optimizer=portable_optimizer(training, total_steps),
        loss=SentenceCrossEntropy(training.label_smoothing),
        metrics=[CharacterError(), CharacterCrossEntropy()],
        jit_compile=training.jit_compile,
    )
    # Make all variables before the first step, so that a checkpoint can be restored into them.
    model.optimizer.build(model.trainable_variables)
    ids = keras.KerasTensor((None, None), "int32")
    build_loss_and_metrics(model, ids, keras.KerasTensor((None, None, model.vocab_size), "float32"))
    return model


def _validation(folder: PreparedFolder, padded_lengths: list[int]) -> dict[str, Any]:
    """The arguments of `evaluate` for the validation pairs; none without such pairs."""
    if not folder.validation_path.is_file():
        return {}
    pairs = PreparedPairs.load(folder.validation_path)
    batches = pairs.evaluation_batches(padded_lengths, _VALIDATION_ROWS)
    endless = _for_keras(lambda: (batch for batch in itertools.cycle(batches)))
    return {"x": endless, "steps": len(batches)}


def _for_keras(batches: Callable[[], Iterator[Batch]]) -> Any:
    """Endless batches as `fit` takes them."""
    if keras.backend.backend() != "tensorflow":
        return batches()
    # Of a generator, Keras guesses which axes of the batches differ from the first two of them.
    import tensorflow as tf

    ids, weights = tf.TensorSpec((None, None), tf.int32), tf.TensorSpec((None,), tf.float32)
    signature = ({"source_ids": ids, "target_ids": ids}, ids, weights)
    return tf.data.Dataset.from_generator(batches, output_signature=signature)


class _Steps(keras.callbacks.Callback):
    """Counts steps, characters and seconds, shows the progress, and ends the training."""

    def __init__(self, state: TrainingState, total_steps: int, characters: float, say: Callable[[str], None]):
        super().__init__()
        self._state = state
        self._total_steps = total_steps
        self._characters = characters
        self._say = say
        self._last_time = self._last_line = time.monotonic()

    def on_train_batch_end(self, batch, logs=None):
        state, now = self._state, time.monotonic()
        state.step += 1
        state.characters = round(state.step * self._characters)
        state.seconds += now - self._last_time
        self._last_time = now
        if state.step >= self._total_steps:
            self.model.stop_training = True
        if now - self._last_line >= _SECONDS_BETWEEN_LINES:
            self._last_line = now
            loss = float((logs or {}).get("loss", float("nan")))
            self._say(f"step {state.step:,} of {self._total_steps:,}, {state.seconds:.0f} seconds: loss {loss:.4f}")


class _Epochs(keras.callbacks.Callback):
    """Measures and saves the model, and saves the state of the training."""

    def __init__(
        self, run: RunFolder, state: TrainingState, total_steps: int, validation: dict[str, Any],
        say: Callable[[str], None],
    ):  # fmt: skip
        super().__init__()
        self._run = run
        self._state = state
        self._total_steps = total_steps
        self._validation = validation
        self._say = say
        self._log = CsvLog(run.metrics_path, EPOCH_COLUMNS)
        self._log.drop_after(state.step or -1)

    def on_epoch_end(self, epoch, logs=None):
        state, config, logs = self._state, self._run.config, dict(logs or {})
        if not math.isfinite(logs["loss"]):
            raise InputError(f"The loss of epoch {epoch + 1} is {logs['loss']}. Set a lower training.learning_rate.")
        state.epoch = epoch + 1
        is_due = state.epoch % config.evaluation.every_epochs == 0 or state.step >= self._total_steps
        if is_due:
            with averaged_weights(self.model):
                if self._validation:
                    scores = self.model.evaluate(**self._validation, verbose=0, return_dict=True)
                    logs["val_loss"] = scores["character_cross_entropy"]
                if self._is_kept(logs.get("val_loss")):
                    save_model(self.model, self._run.model_path)
        measured = {name: logs[name] for name in ("loss", "character_error", "val_loss") if name in logs}
        measured["learning_rate"] = float(self.model.optimizer.learning_rate)
        place = {"epoch": state.epoch, "step": state.step, "seconds": state.seconds, "characters": state.characters}
        self._log.append(place | measured)
        values = ", ".join(f"{name} {value:.4f}" for name, value in measured.items())
        self._say(f"epoch {state.epoch}, {state.seconds:.0f} seconds: {values}")
        if is_due:
            save_checkpoint(self._run.checkpoints, self.model, [self.model], state, config.training.keep_checkpoints)

    def _is_kept(self, val_loss: float | None) -> bool:
        """Whether the model of this epoch is the model of the run."""
        state, training = self._state, self._run.config.training
        if training.keep_model == "last" or training.early_stopping_metric != "val_loss" or val_loss is None:
            return True
        if not is_better("val_loss", val_loss, state.best_scores.get("forward")):
            return False
        state.best_scores["forward"], state.best_epoch = val_loss, state.epoch
        return True
