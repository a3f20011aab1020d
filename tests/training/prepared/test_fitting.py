"""A prepared run learns what `train` learns, from the same batches."""

import keras
import numpy as np
import pytest
from keras.ops import convert_to_numpy

from bytenet.csv_log import read_csv_log
from bytenet.errors import InputError
from bytenet.training import train
from bytenet.training.checkpoints import checkpoints
from bytenet.training.prepared.callbacks import CountedSteps, MeasuredEpochs
from bytenet.training.prepared.fitting import fit_prepared
from bytenet.training.prepared.preparation import prepare

# The same optimiser on both ways, and nothing random in a step.
COMPARABLE = ("training.optimizer=keras_adam", "training.keep_model=last", "training.ema_momentum=0.5")


@pytest.mark.parametrize("mask_padding", ["true", "false"])
def test_fit_learns_what_train_learns(smallest_config, prepared, pool, tmp_path, model_weights, mask_padding):
    masks = f"model.mask_padding={mask_padding}"
    start = train(smallest_config("training.max_steps=1", masks), tmp_path / "start", models=pool).path
    overrides = (*COMPARABLE, masks, f"training.start={start}")
    expected = train(smallest_config(*overrides), tmp_path / "trained")
    fitted = prepared("fitted", *overrides)
    first = model_weights(start)
    for weights, trained, initial in zip(model_weights(fitted), model_weights(expected), first, strict=True):
        np.testing.assert_allclose(weights, trained, atol=2e-5)
        assert not np.allclose(weights, initial, atol=2e-4) or not initial.size
    rows, expected_rows = read_csv_log(fitted.metrics_path), read_csv_log(expected.metrics_path)
    for name in ("epoch", "step", "characters", "loss", "character_error", "val_loss", "learning_rate"):
        np.testing.assert_allclose(rows[name], expected_rows[name], rtol=1e-3, err_msg=name)


def test_training_ends_after_the_last_step_and_measures_when_it_is_due(prepared, eagerly):
    run = prepared("run", "training.epochs=9", "training.max_steps=8", "evaluation.every_epochs=2")
    rows = read_csv_log(run.metrics_path)
    assert rows["step"] == [3, 6, 8]
    assert np.isfinite(rows["val_loss"]).tolist() == [False, True, True]
    environment = run.environment()
    assert len(environment["commands"]) == 2
    assert environment["devices"]


def test_model_with_the_lowest_loss_is_kept(prepared, monkeypatch, eagerly):
    overrides = ("training.keep_model=best", "training.early_stopping_metric=val_loss", "training.epochs=3")
    saved: list[float] = []
    monkeypatch.setattr(
        "bytenet.training.prepared.callbacks.save_model",
        lambda model, path: saved.append(float(convert_to_numpy(model.optimizer.iterations))),
    )
    run = prepared("run", *overrides, "training.learning_rate=0.3")
    losses = read_csv_log(run.metrics_path)["val_loss"]
    best = [step for step, loss in zip((3, 6, 9), losses, strict=True) if loss == min(losses[: step // 3])]
    assert saved == best
    assert len(best) < 3  # with this rate, an epoch made it worse


def test_loss_that_is_not_finite_ends_the_training(smallest_config, tmp_path, eagerly):
    config = smallest_config("training.clip_norm=null", "training.optimizer=sgd", "training.learning_rate=1e30")
    run = prepare(config, tmp_path / "run").run
    with pytest.raises(InputError, match=r"^The loss of epoch 1 is nan\. .* a lower training\.learning_rate"):
        fit_prepared(run)


def _spoil_a_weight(callback):
    """Make a weight NaN. The loss of the step was finite."""
    weight = callback.model.trainable_weights[0]
    weight.assign(np.full(weight.shape, np.nan))


@pytest.mark.parametrize(
    ("spoil", "val_loss", "message"),
    [
        (lambda callback: None, float("nan"), "^The loss on the validation pairs after epoch 1 is nan"),
        (_spoil_a_weight, 1.0, "^After epoch 1, 1 of the .* arrays of weights .* not finite; the first is "),
    ],
    ids=["val_loss", "weights"],
)
def test_a_model_that_is_not_finite_is_not_saved(
    smallest_config, tmp_path, monkeypatch, eagerly, spoil, val_loss, message
):
    count = CountedSteps.on_train_batch_end

    def count_and_spoil(self, batch, logs=None):
        count(self, batch, logs)
        spoil(self)

    monkeypatch.setattr(CountedSteps, "on_train_batch_end", count_and_spoil)
    monkeypatch.setattr(MeasuredEpochs, "_val_loss", lambda self: val_loss)
    run = prepare(smallest_config("training.max_steps=1"), tmp_path / "run").run
    with pytest.raises(InputError, match=rf"{message}.*\. Checkpoints of earlier steps, if there are any, are intact"):
        fit_prepared(run)
    assert not run.model_path.exists()
    assert not checkpoints(run.checkpoints)


def test_a_start_whose_loss_is_not_finite_is_not_saved(smallest_config, supervised_run, tmp_path, monkeypatch):
    start = supervised_run("start").path
    monkeypatch.setattr(MeasuredEpochs, "_val_loss", lambda self: float("nan"))
    run = prepare(smallest_config(f"training.start={start}"), tmp_path / "run").run
    with pytest.raises(InputError, match=r"^The loss of the model of training\.start on the validation pairs is nan"):
        fit_prepared(run)
    assert not run.model_path.exists()


def test_fit_stops_without_progress_and_says_that_the_run_is_finished(prepared):
    patience = ("training.early_stopping_patience=2", "training.early_stopping_metric=val_loss")
    lines: list[str] = []
    run = prepared("run", *patience, "training.epochs=30", "training.learning_rate=0.5", say=lines.append)
    losses = read_csv_log(run.metrics_path)["val_loss"]
    assert len(losses) < 30
    assert np.argmin(losses) == len(losses) - 3
    assert lines[-2] == "val_loss has not improved in 2 epochs, so training stops early."
    kept = f"the one from epoch {len(losses) - 2}, with the best val_loss ({min(losses):.4g})"
    assert lines[-1].startswith(f"The model is {run.model_path}: {kept}.\nNext: bytenet translate {run.path} FILE")
    assert lines[-1].endswith(f", or bytenet evaluate {run.path}")
    fit_prepared(run, lines.append)
    assert "set training.early_stopping_patience to more than 2 in its config.yaml." in lines[-1]


def test_run_without_validation_pairs_is_fitted(prepared, tmp_path, eagerly):
    for side, text in (("source", "ab\nba\n"), ("target", "a\nb\n")):
        (tmp_path / side).write_text(text * 8)
    files = [f"data.train_{side}={tmp_path / side}" for side in ("source", "target")]
    languages = ("data.source_language=de", "data.target_language=en")
    lines: list[str] = []
    run = prepared("run", "data.corpus=files", *languages, *files, say=lines.append)
    assert lines[-1].endswith(f"or bytenet evaluate {run.path} --source FILE --reference FILE")
    assert np.isnan(read_csv_log(run.metrics_path)["val_loss"]).all()
    assert run.model_path.is_file()


def test_last_line_fits_a_machine_without_tensorflow(prepared, eagerly, monkeypatch):
    monkeypatch.setattr("bytenet.training.prepared.fitting.find_spec", lambda name: None)
    lines: list[str] = []
    run = prepared("run", "training.epochs=1", say=lines.append)
    assert lines[-1].endswith(
        f"\nNext: copy {run.path} to a machine with TensorFlow. There: bytenet translate RUN FILE"
    )


@pytest.mark.parametrize("schedule", ["step", "cosine"])
def test_learning_rates_are_those_of_train(smallest_config, prepared, unmeasured, eagerly, tmp_path, schedule):
    overrides = (
        f"training.schedule={schedule}", "training.decay_start_epoch=1", "training.warmup_steps=2", "training.epochs=3",
    )  # fmt: skip
    expected = read_csv_log(train(smallest_config(*overrides), tmp_path / "trained").metrics_path)
    fitted = read_csv_log(prepared("fitted", *overrides).metrics_path)
    assert len(set(expected["learning_rate"])) == 3
    np.testing.assert_allclose(fitted["learning_rate"], expected["learning_rate"], rtol=1e-5)


def test_start_is_measured_and_kept_if_no_epoch_is_better(smallest_config, prepared, pool, tmp_path, model_weights):
    start = train(smallest_config("training.epochs=2"), tmp_path / "start", models=pool).path
    too_high = ("training.learning_rate=30", "training.clip_norm=null", "training.keep_model=best")
    run = prepared("run", f"training.start={start}", *too_high, "training.epochs=2")
    rows = read_csv_log(run.metrics_path)
    assert (rows["epoch"], rows["step"]) == ([0, 1, 2], [0, 3, 6])
    assert min(rows["val_loss"]) == rows["val_loss"][0]
    for one, other in zip(model_weights(run.path), model_weights(start), strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize(
    ("metric", "keep", "warnings"),
    [
        ("val_bleu", "best", ["warning: BLEU is not measured here, so the last model is kept."]),
        ("val_chrf", "best", ["warning: chrF is not measured here, so the last model is kept."]),
        ("val_bleu", "last", []),
        ("val_loss", "best", []),
    ],
)
def test_a_best_model_by_a_score_that_is_not_measured_gives_one_warning(
    smallest_config, tmp_path, monkeypatch, metric, keep, warnings
):
    monkeypatch.setattr(keras.Model, "fit", lambda self, *arguments, **options: None)
    config = smallest_config(f"training.early_stopping_metric={metric}", f"training.keep_model={keep}")
    for_prepare: list[str] = []
    for_fit: list[str] = []
    run = prepare(config, tmp_path / "run", for_prepare.append).run
    fit_prepared(run, for_fit.append)
    for lines in (for_prepare, for_fit):
        said = [line.partition(" For the one with the lowest loss, set ")[0] for line in lines if "warning" in line]
        assert said == warnings
