"""Complete runs, as small as possible: the files they leave, how they measure, and what they refuse."""

import json
from dataclasses import replace

import keras
import numpy as np
import pytest
import tensorflow as tf
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from bytenet.config.families.transformer import TransformerConfig
from bytenet.csv_log import read_csv_log
from bytenet.datasets import load_corpus, pair_lengths
from bytenet.errors import ConfigError, InputError
from bytenet.run_folder import RunFolder
from bytenet.training import train
from bytenet.training.callbacks import TrainingLog
from bytenet.training.checkpoints import checkpoints, latest_checkpoint
from bytenet.training.state import TrainingState, changes_to_train_on


@pytest.fixture(scope="module")
def finished(smallest_config, pool, tmp_path_factory):
    """The folder of a run that measures everything."""
    config = smallest_config(
        "evaluation.continuous_every_steps=2", "evaluation.continuous_train=true", "training.ema_momentum=0.5",
        "model.dropout=0.1",
    )  # fmt: skip
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(TrainingLog, "EVERY_STEPS", 2)
        return config, train(config, tmp_path_factory.mktemp("finished") / "run", models=pool)


def read_log(folder: RunFolder, name: str) -> EventAccumulator:
    return EventAccumulator(str(folder.logs / name)).Reload()


def test_run_leaves_everything_that_later_commands_need(finished):
    config, folder = finished
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


def test_training_pairs_are_measured_like_validation_pairs(finished):
    _, folder = finished
    continuous = read_csv_log(folder.path / "continuous.csv")
    for name in ("cross_entropy", "sentence_cross_entropy", "misclassification", "bleu"):
        assert len(continuous[f"train_{name}"]) == len(continuous[name]) == 4
        assert len(continuous[f"train_{name}_smoothed"]) == len(continuous[name])
    # The loss of a sentence of several characters is larger than the loss of one character.
    assert continuous["train_sentence_cross_entropy"][0] > 2 * continuous["train_cross_entropy"][0]
    assert continuous["train_cross_entropy"] != continuous["cross_entropy"]


def test_tensorboard_shows_scalars_and_sample_translations(finished):
    config, folder = finished
    training = read_log(folder, "train")
    tags = training.Tags()["tensors"]
    assert {"loss", "character_error", "learning_rate", "gradient_norm"} <= set(tags)
    assert [event.step for event in training.Tensors("loss")] == [2, 4, 6]
    validation = read_log(folder, "validation")
    tags = validation.Tags()["tensors"]
    assert {"loss", "bleu", "chrf", "random_batch/bleu", "random_batch/bleu_smoothed"} <= set(tags)
    text = validation.Tensors("translations")[-1].tensor_proto.string_val[0].decode()
    assert text.count("\n") == 2 + config.evaluation.num_samples


def test_the_saved_model_has_the_averaged_weights(finished):
    _, folder = finished
    # The best model must be the last one, because the last checkpoint holds only its average.
    losses = read_csv_log(folder.metrics_path)["val_loss"]
    assert losses[1] < losses[0]
    with np.load(latest_checkpoint(folder.checkpoints)) as saved:
        average = next(saved[name] for name in saved.files if name.endswith("average"))
        tables = [saved[name] for name in saved.files if name.endswith("source_embedding/table")]
    model = folder.load_model()
    own_average = average[: tables[0].size].reshape(tables[0].shape)
    np.testing.assert_allclose(model.source_embedding.table, own_average, rtol=1e-6)
    assert not np.allclose(own_average, tables[0])


def test_max_steps_ends_a_run_in_the_middle_of_an_epoch(smallest_config, pool, tmp_path):
    config = smallest_config("training.max_steps=4")
    folder = train(config, tmp_path / "run", models=pool)
    assert read_csv_log(folder.metrics_path)["step"] == [3, 4]
    assert folder.model_path.exists()
    assert train(config, tmp_path / "run", resume=True, models=pool).path == folder.path
    assert read_csv_log(folder.metrics_path)["step"] == [3, 4]


def test_evaluations_inside_of_epochs_keep_the_best_model(
    smallest_config, val_losses, eagerly, model_weights, tmp_path, monkeypatch
):
    monkeypatch.setattr(TrainingLog, "EVERY_STEPS", 2)
    longer, shorter = [2.0, 3.0, 1.0, 4.0], [3.0, 1.0]
    val_losses(*longer, *shorter)
    config = smallest_config("evaluation.every_steps=2", "evaluation.num_samples=0")
    folder = train(config, tmp_path / "run")
    metrics = read_csv_log(folder.metrics_path)
    # Three steps an epoch. The end of an epoch comes after step 3, and the end of the run after step 6.
    assert (metrics["step"], metrics["epoch"]) == ([2, 3, 4, 6], [1, 1, 2, 2])
    assert metrics["val_loss"] == longer
    assert all(np.isfinite(metrics["loss"]))
    # The same steps until the best score.
    until_best = train(smallest_config("training.max_steps=4", "evaluation.num_samples=0"), tmp_path / "until_best")
    assert all(map(np.array_equal, model_weights(folder.path), model_weights(until_best.path)))
    tags = read_log(folder, "train").Tags()["tensors"]
    assert "loss" in tags
    assert "val_loss" not in tags


def test_evaluations_by_steps_do_not_need_those_by_epochs(smallest_config, val_losses, eagerly, tmp_path):
    val_losses(4.0, 3.0, 2.0)
    config = smallest_config(
        "training.epochs=3", "evaluation.every_epochs=9", "evaluation.every_steps=3", "evaluation.num_samples=0",
        "training.accumulate_batches=2",
    )  # fmt: skip
    metrics = read_csv_log(train(config, tmp_path / "run").metrics_path)
    measured = [step for step, loss in zip(metrics["step"], metrics["val_loss"], strict=True) if loss == loss]
    assert measured == [3, 6, 9]


def test_only_the_end_of_an_epoch_stops_a_run_without_progress(smallest_config, val_losses, eagerly, tmp_path):
    val_losses(1.0, 2.0, 2.0, 2.0, 2.0)
    config = smallest_config(
        "training.epochs=5", "training.early_stopping_patience=1", "evaluation.every_steps=2",
        "evaluation.num_samples=0",
    )  # fmt: skip
    folder = train(config, tmp_path / "run")
    assert read_csv_log(folder.metrics_path)["step"] == [2, 3, 4, 6]


def test_a_run_without_validation_pairs_saves_its_model_inside_of_epochs(
    smallest_config, without_validation, eagerly, tmp_path, monkeypatch
):
    saved = []
    monkeypatch.setattr(
        "bytenet.training.callbacks.whole_set_evaluation.save_model", lambda model, path: saved.append(path)
    )
    config = smallest_config(*without_validation, "data.batch_size=1", "training.epochs=1", "evaluation.every_steps=1")
    train(config, tmp_path / "run")
    assert len(saved) == 3


def test_early_stopping_ends_the_run_after_its_patience(smallest_config, pool, val_losses, tmp_path):
    val_losses(3.0, 2.0, 2.5, 2.1, 1.0)
    config = smallest_config("training.epochs=5", "training.early_stopping_patience=2", "evaluation.num_samples=0")
    folder = train(config, tmp_path / "run", models=pool)
    assert read_csv_log(folder.metrics_path)["val_loss"] == [3.0, 2.0, 2.5, 2.1]


def test_a_run_stopped_between_evaluations_did_not_stop_early(smallest_config):
    config = smallest_config("training.epochs=30", "training.early_stopping_patience=5", "evaluation.every_epochs=10")
    state = TrainingState(epoch=17, step=51, best_epoch=10, best_scores={"forward": 1.0})
    assert changes_to_train_on(state, config, num_batches=3) == []
    state.epoch, state.step = 20, 60
    assert changes_to_train_on(state, config, 3) == ["a larger training.early_stopping_patience than 5"]


def test_a_finished_run_names_all_limits_that_hold(smallest_config):
    config = smallest_config("training.epochs=2", "training.max_steps=6")
    changes = changes_to_train_on(TrainingState(epoch=2, step=6), config, num_batches=3)
    assert changes == ["a larger training.epochs than 2", "a larger training.max_steps than 6"]


def test_loss_that_is_not_finite_ends_the_run_with_advice(smallest_config, eagerly, tmp_path):
    config = smallest_config("training.learning_rate=1.0e+30", "training.clip_norm=null", "model.variant=no_norm")
    with pytest.raises(InputError, match=r"loss is .*(nan|inf) at step .*training\.learning_rate"):
        train(config, tmp_path / "run")


def test_configured_number_of_checkpoints_is_kept(smallest_config, pool, tmp_path):
    config = smallest_config("training.checkpoint_every_steps=1", "training.keep_checkpoints=2")
    folder = train(config, tmp_path / "run", models=pool)
    assert [path.name for path in checkpoints(folder.checkpoints)] == ["step-00000005.npz", "step-00000006.npz"]


@pytest.mark.parametrize("variant", ["bytenet", "simplified", "selu", "no_norm"])
def test_every_variant_trains_with_the_settings_of_the_thesis(smallest_config, eagerly, tmp_path, variant):
    config = smallest_config(
        f"model.variant={variant}", "model.settings=thesis", "data.unknown=drop", "training.loss=sentence",
        "training.clip_norm=null", "evaluation.batch_norm_statistics=batch", "training.max_steps=1",
    )  # fmt: skip
    folder = train(config, tmp_path / "run")
    assert np.isfinite(read_csv_log(folder.metrics_path)["val_loss"][0])


def test_mixed_precision_trains(smallest_config, policy, tmp_path):
    trained = keras.callbacks.Callback()  # gets the model
    with policy("float32"):
        folder = train(smallest_config("training.mixed_precision=true"), tmp_path / "run", more_callbacks=[trained])
    encoder = trained.model.encoder
    assert (encoder.compute_dtype, encoder.variable_dtype) == ("bfloat16", "float32")
    losses = read_csv_log(folder.metrics_path)["loss"]
    assert losses[1] < losses[0]


def test_run_compiled_with_xla_has_nearly_the_same_losses(smallest_config, pool, unmeasured, tmp_path):
    trained = keras.callbacks.Callback()  # gets the model
    plain = train(smallest_config(), tmp_path / "plain", models=pool)
    compiled = train(smallest_config("training.jit_compile=true"), tmp_path / "compiled", more_callbacks=[trained])
    assert trained.model.jit_compile is True
    losses = [read_csv_log(folder.metrics_path)["loss"] for folder in (plain, compiled)]
    assert losses[0] == pytest.approx(losses[1], rel=1e-3)


@pytest.fixture(scope="module")
def measured_alone(smallest_config, tmp_path_factory):
    """The metrics of a run that reuses no model of another run."""
    folder = train(smallest_config("training.epochs=1"), tmp_path_factory.mktemp("alone") / "run")
    return read_csv_log(folder.metrics_path)


@pytest.mark.thorough
@pytest.mark.parametrize("before", ["evaluation.beam_size=2", "evaluation.batch_norm_statistics=batch"])
def test_reused_model_is_measured_with_the_settings_of_its_run(smallest_config, measured_alone, pool, tmp_path, before):
    train(smallest_config("training.epochs=1", before), tmp_path / "before", models=pool)
    again = read_csv_log(train(smallest_config("training.epochs=1"), tmp_path / "run", models=pool).metrics_path)
    for name in ("loss", "val_loss", "val_chrf", "val_misclassification"):
        assert again[name] == pytest.approx(measured_alone[name], rel=1e-4), name


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        (["training.optimizer=sgdd"], ConfigError, r"training\.optimizer is 'sgdd', but should be one of .*sgd\?"),
        (['training.devices=["GPU:7"]'], InputError, r"'GPU:7'.*CPU:0"),
        (
            ["training.jit_compile=true", "training.deterministic=true"],
            InputError,
            r"jit_compile.*auto or false",
        ),
        (["decoding.replace_unknown=true"], InputError, r"decoding\.replace_unknown needs .* attention.*it to false\."),
        (["decoding.coverage_penalty=0.2"], InputError, r"decoding\.coverage_penalty needs .* attention.*it to 0\."),
        (
            ["semi_supervised.enabled=true", "data.num_monolingual=32", "decoding.coverage_penalty=0.2"],
            InputError,
            r"decoding\.coverage_penalty needs a model with attention",
        ),
    ],
)
def test_impossible_settings_are_refused_before_the_run_folder_is_made(
    smallest_config, tmp_path, monkeypatch, settings, error, message
):
    monkeypatch.setattr("tensorflow.config.experimental.enable_op_determinism", lambda: None)
    with pytest.raises(error, match=message):
        train(smallest_config(*settings), tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_resumed_run_may_turn_off_what_its_model_cannot_do(semi_config, supervised_run, beginnings):
    folder = supervised_run("run", "decoding.replace_unknown=true")
    folder.model_path.unlink()  # as if the run had been killed at once
    with pytest.raises(InputError, match=r"decoding\.replace_unknown needs .* Set it to false\."):
        train(folder.config, folder.path, resume=True)
    train(semi_config("semi_supervised.enabled=false"), folder.path, resume=True)
    assert len(beginnings) == 1


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (
            ["data.max_length=40"],
            r"The longest batch of training has \d+ symbols.*reads at most 12\. Set data\.max_length",
        ),
        (["data.max_length=11"], r"The longest validation pair has 1\d symbols.*or set model\.max_positions to 1\d\."),
    ],
)
def test_sequences_longer_than_the_positions_of_a_model_are_refused(smallest_config, tmp_path, settings, message):
    model = TransformerConfig(dim=4, heads=1, positions="learned", max_positions=12)
    with pytest.raises(ConfigError, match=message):
        train(replace(smallest_config(*settings), model=model), tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_padded_lengths_are_saved_for_models_that_read_padding(smallest_config, beginnings, tmp_path):
    folder = train(smallest_config("model.settings=thesis"), tmp_path / "run")
    vocabulary = folder.vocabulary
    assert folder.trained_lengths == [pair_lengths(load_corpus(folder.config.data).train, vocabulary).max()]


@pytest.mark.parametrize(("keep", "value"), [("best", 1.0), ("last", 2.0)])
def test_the_best_or_the_last_model_is_kept_and_named(
    smallest_config, pool, tmp_path, monkeypatch, capsys, keep, value
):
    scores = iter([1.0, 2.0])

    def mark_model(self):
        score = next(scores)
        self._model.head.bias.assign(np.full(self._model.vocab_size, score))
        return {"val_loss": score}, [""] * len(self.pairs)

    monkeypatch.setattr("bytenet.training.validation.Validator.whole_set", mark_model)
    config = smallest_config(f"training.keep_model={keep}", "evaluation.num_samples=0")
    folder = train(config, tmp_path / "run", models=pool)
    np.testing.assert_array_equal(folder.load_model().head.bias, value)
    kept = {"best": "the one from epoch 1, with the best val_loss (1)", "last": "the last one, after step 6"}[keep]
    last_lines = (
        f"The model is {folder.model_path}: {kept}.\n"
        f"Next: bytenet translate {folder.path} FILE, or bytenet evaluate {folder.path}\n"
    )
    assert capsys.readouterr().err.endswith(last_lines)


def test_full_disk_while_writing_logs_is_explained(smallest_config, pool, tmp_path, monkeypatch):
    def fill_disk(*arguments, **options):
        raise tf.errors.ResourceExhaustedError(None, None, "events: No space left on device")

    monkeypatch.setattr("bytenet.training.callbacks.training_log.tf.summary.scalar", fill_disk)
    monkeypatch.setattr(TrainingLog, "EVERY_STEPS", 1)
    with pytest.raises(InputError, match=r"disk is full.*logs.*--resume"):
        train(smallest_config(), tmp_path / "run", models=pool)
