"""Whole runs, as small as they can be."""

import csv
import json
import os
import signal

import keras
import numpy as np
import pytest
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from bytenet.csv_log import read_csv_log
from bytenet.errors import InputError
from bytenet.run_folder import RunFolder
from bytenet.training import train
from bytenet.training.callbacks import StateKeeper
from bytenet.training.checkpoints import checkpoints, latest_checkpoint


def read_log(folder: RunFolder, name: str) -> EventAccumulator:
    return EventAccumulator(str(folder.logs / name)).Reload()


def test_a_run_leaves_all_that_later_commands_need(smallest_config, tmp_path):
    config = smallest_config(
        "evaluation.continuous_every_steps=2", "training.ema_momentum=0.5", "model.dropout=0.1"
    )
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
    assert metrics["loss"][1] < metrics["loss"][0]
    assert all(np.isfinite(metrics["val_loss"]))
    continuous = read_csv_log(folder.path / "continuous.csv")
    assert continuous["step"] == [2, 4, 6]
    raw, smooth = continuous["cross_entropy"], continuous["cross_entropy_smoothed"]
    keep = 1 - config.evaluation.smoothing
    assert smooth[0] == pytest.approx(raw[0], rel=1e-5)
    assert smooth[1] == pytest.approx((raw[1] + keep * raw[0]) / (1 + keep), rel=1e-5)


def test_tensorboard_shows_scalars_and_sample_translations(smallest_config, tmp_path, monkeypatch):
    monkeypatch.setattr("bytenet.training.callbacks.TrainingLog.EVERY_STEPS", 2)
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


def test_a_loss_that_is_no_number_ends_with_advice(smallest_config, tmp_path):
    config = smallest_config("training.learning_rate=1.0e+30", "training.clip_norm=null", "model.variant=no_norm")
    with pytest.raises(InputError, match=r"loss is (nan|inf) at step .*training\.learning_rate"):
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
        with pytest.raises(KeyboardInterrupt, match=r"step 2, all saved.*bytenet train --resume --run"):
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


def test_xla_on_several_devices_is_refused(smallest_config, tmp_path):
    config = smallest_config("training.jit_compile=true", "training.deterministic=true")
    with pytest.raises(InputError, match=r"jit_compile.*auto or false"):
        train(config, tmp_path / "run")


def test_unknown_devices_are_refused_with_those_there_are(smallest_config, tmp_path):
    with pytest.raises(InputError, match=r"'GPU:7'.*CPU:0"):
        train(smallest_config('training.devices=["GPU:7"]'), tmp_path / "run")
