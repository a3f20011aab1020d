"""Whole runs, as small as they can be."""

import csv
import json
import os
import signal

import keras
import numpy as np
import pytest
import tensorflow as tf
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from bytenet.config import load_config
from bytenet.csv_log import read_csv_log
from bytenet.datasets import load_corpus, pair_lengths
from bytenet.errors import InputError
from bytenet.run_folder import RunFolder
from bytenet.training import train
from bytenet.training.callbacks import StateKeeper
from bytenet.training.checkpoints import checkpoints, latest_checkpoint, restore_checkpoint
from bytenet.training.state import TrainingState
from bytenet.training.trainer import _stopped_early

SMALL_FILES = (
    "data.corpus=files", "data.bucketing=none", "model.dim=4", "model.num_sets=1", "model.dilations=[1]",
    "training.epochs=1", "training.jit_compile=false",
)  # fmt: skip


def read_log(folder: RunFolder, name: str) -> EventAccumulator:
    return EventAccumulator(str(folder.logs / name)).Reload()


def test_a_run_leaves_all_that_later_commands_need(smallest_config, tmp_path):
    config = smallest_config("evaluation.continuous_every_steps=2", "training.ema_momentum=0.5", "model.dropout=0.1")
    folder = train(config, tmp_path / "run")

    opened = RunFolder.open(folder.path)
    assert opened.config == config
    model = opened.load_model()
    assert model.vocab_size == opened.vocabulary.size
    environment = json.loads(folder.environment_path.read_text(encoding="utf-8"))
    assert environment["versions"]["tensorflow"].startswith("2.21")
    assert environment["seed"] == config.training.seed

    metrics = read_csv_log(folder.metrics_path)
    assert metrics["epoch"] == [1, 2]
    assert metrics["step"] == [3, 6]
    assert all(np.isfinite(metrics["loss"]))
    assert all(np.isfinite(metrics["val_loss"]))
    continuous = read_csv_log(folder.path / "continuous.csv")
    assert continuous["step"] == [0, 2, 4, 6]  # also before the first step
    raw, smooth = continuous["cross_entropy"], continuous["cross_entropy_smoothed"]
    keep = 1 - config.evaluation.smoothing
    assert smooth[0] == pytest.approx(raw[0], rel=1e-5)
    assert smooth[1] == pytest.approx((raw[1] + keep * raw[0]) / (1 + keep), rel=1e-5)


def test_training_pairs_are_watched_as_validation_pairs_are(smallest_config, tmp_path):
    settings = ("evaluation.continuous_every_steps=3", "evaluation.continuous_train=true", "training.epochs=1")
    continuous = read_csv_log(train(smallest_config(*settings), tmp_path / "run").path / "continuous.csv")
    for name in ("cross_entropy", "sentence_cross_entropy", "misclassification", "bleu"):
        assert len(continuous[f"train_{name}"]) == len(continuous[name]) >= 1
        assert len(continuous[f"train_{name}_smoothed"]) == len(continuous[name])
    # A sentence of more than one character costs more than a character of it.
    assert continuous["train_sentence_cross_entropy"][0] > 2 * continuous["train_cross_entropy"][0]
    assert continuous["train_cross_entropy"] != continuous["cross_entropy"]


def test_tensorboard_shows_scalars_and_sample_translations(smallest_config, tmp_path, monkeypatch):
    monkeypatch.setattr("bytenet.training.callbacks.training_log.TrainingLog.EVERY_STEPS", 2)
    folder = train(smallest_config("evaluation.continuous_every_steps=3"), tmp_path / "run")

    training = read_log(folder, "train")
    tags = training.Tags()["tensors"]
    assert {"loss", "character_error", "learning_rate", "gradient_norm"} <= set(tags)
    assert [event.step for event in training.Tensors("loss")] == [2, 4, 6]
    validation = read_log(folder, "validation")
    tags = validation.Tags()["tensors"]
    assert {"loss", "bleu", "chrf", "random_batch/bleu", "random_batch/bleu_smoothed"} <= set(tags)
    text = validation.Tensors("translations")[-1].tensor_proto.string_val[0].decode()
    assert text.count("\n") == 2 + smallest_config().evaluation.num_samples


def test_the_saved_model_has_the_averaged_weights(smallest_config, tmp_path):
    folder = train(smallest_config("training.ema_momentum=0.9", "training.epochs=1"), tmp_path / "run")
    with np.load(latest_checkpoint(folder.checkpoints)) as saved:
        average = next(saved[name] for name in saved.files if name.endswith("average"))
        tables = [saved[name] for name in saved.files if name.endswith("source_embedding/table")]
    model = folder.load_model()
    own_average = average[: tables[0].size].reshape(tables[0].shape)
    np.testing.assert_allclose(model.source_embedding.table, own_average, rtol=1e-6)
    assert not np.allclose(own_average, tables[0])


def test_max_steps_ends_a_run_in_the_middle_of_an_epoch(smallest_config, tmp_path):
    folder = train(smallest_config("training.max_steps=4"), tmp_path / "run")
    assert read_csv_log(folder.metrics_path)["step"] == [3, 4]
    assert folder.model_path.exists()
    assert train(smallest_config("training.max_steps=4"), tmp_path / "run", resume=True).path == folder.path
    assert read_csv_log(folder.metrics_path)["step"] == [3, 4]


def test_early_stopping_waits_its_patience_and_keeps_the_best(smallest_config, tmp_path, monkeypatch):
    losses = iter([3.0, 2.0, 2.5, 2.1, 1.0])
    monkeypatch.setattr(
        "bytenet.training.validation.Validator.whole_set",
        lambda self: ({"val_loss": next(losses)}, [""] * len(self.pairs)),
    )
    config = smallest_config("training.epochs=5", "training.early_stopping_patience=2", "evaluation.num_samples=0")
    folder = train(config, tmp_path / "run")
    assert read_csv_log(folder.metrics_path)["val_loss"] == [3.0, 2.0, 2.5, 2.1]


def test_a_run_stopped_between_evaluations_did_not_stop_early(smallest_config):
    config = smallest_config("training.early_stopping_patience=5", "evaluation.every_epochs=10")
    state = TrainingState(epoch=17, best_epoch=10, best_scores={"forward": 1.0})
    assert not _stopped_early(state, config)
    state.epoch = 20
    assert _stopped_early(state, config)


def test_patience_without_validation_pairs_is_warned_of(tmp_path, capsys):
    (tmp_path / "text").write_text("ab\nb\nabb\n", encoding="utf-8")
    files = [f"data.train_{side}={tmp_path / 'text'}" for side in ("source", "target")]
    config = load_config("multi30k", [*SMALL_FILES, *files, "training.early_stopping_patience=2"])
    train(config, tmp_path / "run")
    assert "there are no validation pairs, so training.early_stopping_patience does nothing" in capsys.readouterr().err


def test_a_loss_that_is_no_number_ends_with_advice(smallest_config, tmp_path):
    config = smallest_config("training.learning_rate=1.0e+30", "training.clip_norm=null", "model.variant=no_norm")
    with pytest.raises(InputError, match=r"loss is .*(nan|inf) at step .*training\.learning_rate"):
        train(config, tmp_path / "run")


def test_an_interrupted_run_says_how_to_go_on_and_ends_like_an_unbroken_one(smallest_config, tmp_path, monkeypatch):
    config = smallest_config("training.ema_momentum=0.5")
    unbroken = train(config, tmp_path / "unbroken")

    count = StateKeeper.on_train_batch_end

    def count_and_interrupt(self, batch, logs=None):
        count(self, batch, logs)
        if self._state.step == 2:
            os.kill(os.getpid(), signal.SIGTERM)

    with monkeypatch.context() as patch:
        patch.setattr(StateKeeper, "on_train_batch_end", count_and_interrupt)
        with pytest.raises(KeyboardInterrupt, match=r"step 2; everything is saved.*bytenet train --resume --run"):
            train(config, tmp_path / "broken")
    broken = train(config, tmp_path / "broken", resume=True)

    unbroken_metrics = read_csv_log(unbroken.metrics_path)
    broken_metrics = read_csv_log(broken.metrics_path)
    for name in ("step", "characters", "loss", "character_error", "val_loss", "val_chrf"):
        assert broken_metrics[name] == pytest.approx(unbroken_metrics[name], rel=1e-4), name


def test_checkpoints_are_kept_in_the_number_asked_for(smallest_config, tmp_path):
    config = smallest_config("training.checkpoint_every_steps=1", "training.keep_checkpoints=2")
    folder = train(config, tmp_path / "run")
    assert [path.name for path in checkpoints(folder.checkpoints)] == ["step-00000005.npz", "step-00000006.npz"]


def test_what_was_measured_after_the_checkpoint_is_forgotten_on_resume(smallest_config, tmp_path):
    folder = train(smallest_config(), tmp_path / "run")
    checkpoints(folder.checkpoints)[-1].unlink()  # as if the run had been killed before it was saved
    train(smallest_config(), tmp_path / "run", resume=True)
    with open(folder.metrics_path, encoding="utf-8", newline="") as file:
        assert [row["step"] for row in csv.DictReader(file)] == ["3", "6"]


@pytest.mark.parametrize("variant", ["bytenet", "simplified", "selu", "no_norm"])
def test_every_variant_trains_in_the_thesis_way(smallest_config, tmp_path, variant):
    config = smallest_config(
        f"model.variant={variant}", "model.settings=thesis", "data.unknown=drop", "training.loss=sentence",
        "training.clip_norm=null", "evaluation.batch_norm_statistics=batch", "training.epochs=1",
    )  # fmt: skip
    folder = train(config, tmp_path / "run")
    assert np.isfinite(read_csv_log(folder.metrics_path)["val_loss"][0])


def test_mixed_precision_trains(smallest_config, tmp_path):
    try:
        folder = train(smallest_config("training.mixed_precision=true"), tmp_path / "run")
    finally:
        keras.mixed_precision.set_global_policy("float32")
    losses = read_csv_log(folder.metrics_path)["loss"]
    assert losses[1] < losses[0]


def test_compiled_with_xla_it_trains_alike(smallest_config, tmp_path):
    plain = train(smallest_config(), tmp_path / "plain")
    compiled = train(smallest_config("training.jit_compile=true"), tmp_path / "compiled")
    losses = [read_csv_log(folder.metrics_path)["loss"] for folder in (plain, compiled)]
    assert losses[0] == pytest.approx(losses[1], rel=1e-3)


def test_xla_with_determinism_is_refused_before_anything_is_made(smallest_config, tmp_path, monkeypatch):
    monkeypatch.setattr("tensorflow.config.experimental.enable_op_determinism", lambda: None)
    config = smallest_config("training.jit_compile=true", "training.deterministic=true")
    with pytest.raises(InputError, match=r"jit_compile.*auto or false"):
        train(config, tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_unknown_devices_are_refused_with_those_there_are(smallest_config, tmp_path):
    with pytest.raises(InputError, match=r"'GPU:7'.*CPU:0"):
        train(smallest_config('training.devices=["GPU:7"]'), tmp_path / "run")
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("when", ["the last step of an epoch", "the last step of all"])
def test_interrupted_at_a_border_it_still_evaluates_and_saves(smallest_config, tmp_path, monkeypatch, when):
    count = StateKeeper.on_train_batch_end

    def count_and_interrupt(self, batch, logs=None):
        count(self, batch, logs)
        if self._state.step == (3 if when == "the last step of an epoch" else 6):
            os.kill(os.getpid(), signal.SIGINT)

    with monkeypatch.context() as patch:
        patch.setattr(StateKeeper, "on_train_batch_end", count_and_interrupt)
        with pytest.raises(KeyboardInterrupt):
            train(smallest_config(), tmp_path / "run")
    folder = train(smallest_config(), tmp_path / "run", resume=True)
    assert read_csv_log(folder.metrics_path)["step"] == [3, 6]
    assert folder.model_path.exists()


def test_killed_during_an_epochs_evaluation_it_repeats_what_was_not_saved(smallest_config, tmp_path, monkeypatch):
    config = smallest_config("training.checkpoint_every_steps=1", "training.epochs=1")

    def die(self):
        raise SystemExit("killed")

    with monkeypatch.context() as patch:
        patch.setattr("bytenet.training.validation.Validator.whole_set", die)
        with pytest.raises(SystemExit):
            train(config, tmp_path / "run")
    folder = train(config, tmp_path / "run", resume=True)
    assert read_csv_log(folder.metrics_path)["step"] == [3]
    assert folder.model_path.exists()


def test_a_finished_run_goes_on_when_it_is_given_more_epochs(smallest_config, tmp_path):
    folder = train(smallest_config("training.epochs=1", "model.dropout=0.1"), tmp_path / "run")
    train(smallest_config("training.epochs=2", "model.dropout=0.1"), tmp_path / "run", resume=True)
    assert read_csv_log(folder.metrics_path)["step"] == [3, 6]
    assert len(folder.environment()["commands"]) == 2
    train(smallest_config("training.epochs=2", "model.dropout=0.1"), tmp_path / "run", resume=True)
    assert len(folder.environment()["commands"]) == 2, "nothing was trained"


def test_a_changed_corpus_is_refused_on_resume(smallest_config, tmp_path):
    files = {}
    for side, lines in (("source", ["ab", "ba", "aab"]), ("target", ["AB", "BA", "AAB"])):
        files[side] = tmp_path / side
        files[side].write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    overrides = [f"{key}" for key in SMALL_FILES] + [f"data.train_{side}={path}" for side, path in files.items()]
    (tmp_path / "settings.yaml").write_text("{}\n", encoding="utf-8")
    train(load_config(tmp_path / "settings.yaml", overrides), tmp_path / "run")
    files["source"].write_text("ab\nba\nbba\n", encoding="utf-8")
    saved = (tmp_path / "run" / "config.yaml").read_text(encoding="utf-8")
    with pytest.raises(InputError, match=r"not those that the run of .* began with"):
        train(load_config(tmp_path / "settings.yaml", [*overrides, "training.epochs=2"]), tmp_path / "run", resume=True)
    assert (tmp_path / "run" / "config.yaml").read_text(encoding="utf-8") == saved


def test_what_pairs_were_padded_to_is_kept_for_models_that_read_it(smallest_config, tmp_path):
    overrides = ("model.settings=thesis", "training.max_steps=1", "data.bucketing=none")
    folder = train(smallest_config(*overrides), tmp_path / "run")
    vocabulary = folder.vocabulary
    assert folder.trained_lengths == [pair_lengths(load_corpus(folder.config.data).train, vocabulary).max()]


def test_other_validation_pairs_are_refused_on_resume(smallest_config, tmp_path, monkeypatch):
    def forgetting_validation(*arguments):
        state = restore_checkpoint(*arguments)
        del (saved := state.to_dict())["validation"]
        return TrainingState.from_dict(saved)

    paths = {}
    for name, lines in {"train_source": "ab\nba\n", "train_target": "AB\nBA\n", "a": "a\n", "b": "b\n"}.items():
        paths[name] = tmp_path / name
        paths[name].write_text(lines, encoding="utf-8")
    sides = [f"data.{name}={paths[name]}" for name in ("train_source", "train_target")]
    first, second = (
        smallest_config(*SMALL_FILES, *sides, f"data.validation_source={path}", f"data.validation_target={path}")
        for path in (paths["a"], paths["b"])
    )
    train(first, tmp_path / "run")
    with pytest.raises(InputError, match=r"The validation pairs are not those .* its best score means nothing"):
        train(second, tmp_path / "run", resume=True)

    # Of a version that did not keep them.
    monkeypatch.setattr("bytenet.training.trainer.restore_checkpoint", forgetting_validation)
    train(second, tmp_path / "run", resume=True)


def test_targets_longer_than_the_rule_are_warned_of(smallest_config, tmp_path, capsys):
    train(smallest_config("model.unfold_scale=0.2", "model.unfold_offset=0", "training.epochs=1"), tmp_path / "run")
    assert "of the training targets are longer than the model may write" in capsys.readouterr().err


@pytest.mark.parametrize(("keep", "value"), [("best", 1.0), ("last", 2.0)])
def test_the_best_or_the_last_model_is_kept(smallest_config, tmp_path, monkeypatch, keep, value):
    scores = iter([1.0, 2.0])

    def mark_model(self):
        score = next(scores)
        self._model.head.bias.assign(np.full(self._model.vocab_size, score))
        return {"val_loss": score}, [""] * len(self.pairs)

    monkeypatch.setattr("bytenet.training.validation.Validator.whole_set", mark_model)
    folder = train(smallest_config(f"training.keep_model={keep}", "evaluation.num_samples=0"), tmp_path / "run")
    np.testing.assert_array_equal(folder.load_model().head.bias, value)


def test_a_full_disk_under_the_logs_is_explained(smallest_config, tmp_path, monkeypatch):
    def fill_disk(*arguments, **options):
        raise tf.errors.ResourceExhaustedError(None, None, "events: No space left on device")

    monkeypatch.setattr("bytenet.training.callbacks.training_log.tf.summary.scalar", fill_disk)
    monkeypatch.setattr("bytenet.training.callbacks.training_log.TrainingLog.EVERY_STEPS", 1)
    with pytest.raises(InputError, match=r"disk is full.*logs.*--resume"):
        train(smallest_config(), tmp_path / "run")
