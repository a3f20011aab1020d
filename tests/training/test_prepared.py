"""A prepared run learns what `train` learns, from the same batches, and goes on where it stopped."""

import shutil
from dataclasses import replace
from itertools import islice

import numpy as np
import pytest
from keras.ops import convert_to_numpy

from bytenet.config.families.convs2s import ConvS2SConfig
from bytenet.csv_log import read_csv_log
from bytenet.datasets import Vocabulary, load_corpus, plan_from_config, training_dataset
from bytenet.errors import ConfigError, InputError, MissingFileError
from bytenet.run_folder import RunFolder
from bytenet.training import train
from bytenet.training.prepared.fitting import fit_prepared, validation_batches
from bytenet.training.prepared.preparation import prepare

# The same optimiser on both ways, and nothing random in a step.
COMPARABLE = ("training.optimizer=keras_adam", "training.keep_model=last", "training.ema_momentum=0.5")


def nothing(line):
    """Show no progress."""


@pytest.fixture
def prepared(smallest_config, tmp_path):
    """Prepare the smallest run, with further overrides, and fit it."""

    def make(name, *overrides, say=nothing):
        folder = prepare(smallest_config(*overrides), tmp_path / name)
        fit_prepared(folder.run, say)
        return folder.run

    return make


@pytest.mark.parametrize("loss", ["character", "sentence"])
def test_batches_are_those_of_the_pipeline(smallest_config, tmp_path, loss):
    config = smallest_config(
        "data.bucketing=optimal", "data.num_buckets=2", "data.num_train=41", f"training.loss={loss}"
    )
    folder = prepare(config, tmp_path / "run")
    pairs, vocabulary = folder.train(), folder.run.vocabulary
    plan = plan_from_config(pairs.lengths, config.data, 1)
    assert any(-1 in batch.indices for batch in plan.epoch(1, 1))  # filler rows
    expected = training_dataset(load_corpus(config.data).train, vocabulary, plan, seed=1, start_epoch=1, loss=loss)
    number = 2 * plan.num_batches
    actual = [*islice(pairs.training_batches(plan, 1, 1, loss), number)]
    for (inputs, targets, weights), batch in zip(actual, expected.take(number), strict=True):
        assert (inputs["source_ids"].dtype, targets.dtype, weights.dtype) == (np.int32, np.int32, np.float32)
        np.testing.assert_array_equal(inputs["source_ids"], batch[0]["source_ids"])
        np.testing.assert_array_equal(inputs["target_ids"], batch[0]["target_ids"])
        np.testing.assert_array_equal(targets, batch[1])
        np.testing.assert_allclose(weights, batch[2], rtol=1e-6)


def test_validation_has_each_pair_once(smallest_config, tmp_path):
    folder = prepare(smallest_config("data.num_validation=7"), tmp_path / "run")
    batches = folder.validation().evaluation_batches([100], batch_size=4)
    rows = np.concatenate([targets for _, targets in batches])
    assert rows.shape == (8, 100)
    encoded = folder.run.vocabulary.encode_batch(load_corpus(folder.run.config.data).validation.target)
    assert sorted(row[row > 0].tolist() for row in rows if row.any()) == sorted(ids.tolist() for ids in encoded)
    arguments = validation_batches(folder.validation(), [100], batch_size=4)
    assert arguments["steps"] == 2
    assert arguments["x"].options().autotune.enabled is False


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


class _StoppedError(Exception):
    """The end of a process."""


def test_stopped_fit_goes_on_to_the_same_end(
    smallest_config, prepared, tmp_path, equal_final_states, model_weights, eagerly
):
    overrides = ("model.dropout=0.2", "training.ema_momentum=0.5", "training.epochs=3")
    whole = prepared("whole", *overrides)
    stopped = prepare(smallest_config(*overrides), tmp_path / "stopped").run

    def stop(line):
        if line.startswith("epoch 2"):  # its checkpoint is not saved yet
            raise _StoppedError

    with pytest.raises(_StoppedError):
        fit_prepared(stopped, stop)
    lines: list[str] = []
    fit_prepared(stopped, lines.append)
    assert "resumed from step-00000003.npz, after epoch 1" in lines
    state, _ = equal_final_states(stopped.path, whole.path)
    assert (state["epoch"], state["step"]) == (3, 9)
    for one, other in zip(model_weights(stopped.path), model_weights(whole.path), strict=True):
        np.testing.assert_array_equal(one, other)
    assert read_csv_log(stopped.metrics_path)["epoch"] == [1, 2, 3]
    fit_prepared(stopped, lines.append)
    assert lines[-1] == "This run is finished. To train on, set a larger training.epochs than 3 in its config.yaml."


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


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("training.accumulate_batches=2", "training.accumulate_batches is 2"),
        ("training.schedule=plateau", "training.schedule is plateau"),
        ("training.devices=[CPU:0]", "training.devices is"),
        ("training.deterministic=true", "training.deterministic is true"),
        ("training.checkpoint_every_steps=5", "training.checkpoint_every_steps is 5"),
        ("evaluation.batch_norm_statistics=batch", "evaluation.batch_norm_statistics is batch"),
        ("evaluation.beam_size=2", "evaluation.beam_size is 2"),
        ("evaluation.continuous_every_steps=5", "evaluation.continuous_every_steps is 5"),
        ("evaluation.every_steps=5", "evaluation.every_steps is 5"),
        ("evaluation.continuous_train=true", "evaluation.continuous_train is true"),
        ("training.optimizer=adamm", "Did you mean adam"),
        ("training.r_drop=5", "the model has no dropout"),
        ("training.optimizer_arguments={weight_decay: 1e-3}", "adam takes no arguments"),
        ("semi_supervised.enabled=true", "semi_supervised.enabled is true"),
    ],
)
def test_what_fit_cannot_do_is_refused_when_it_is_prepared(smallest_config, tmp_path, override, message):
    with pytest.raises(ConfigError, match=message):
        prepare(smallest_config(override), tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_decoding_that_the_model_cannot_do_is_refused_when_it_is_prepared(smallest_config, tmp_path):
    with pytest.raises(InputError, match=r"decoding\.coverage_penalty needs a model with attention"):
        prepare(smallest_config("decoding.coverage_penalty=0.2"), tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_patience_needs_a_score_that_fit_measures(smallest_config, tmp_path):
    config = smallest_config("training.early_stopping_patience=2", "training.early_stopping_metric=val_bleu")
    with pytest.raises(ConfigError, match=r"early_stopping_patience is 2, but .*metric is val_bleu"):
        prepare(config, tmp_path / "run")


def test_run_that_was_not_prepared_is_refused(supervised_run):
    with pytest.raises(
        MissingFileError, match=r"not prepared by `bytenet prepare`\. Continue it with `bytenet train --resume"
    ):
        fit_prepared(supervised_run("run").path)


def test_damaged_pairs_are_named(smallest_config, tmp_path):
    folder = prepare(smallest_config(), tmp_path / "run")
    path = folder.run.prepared / "train.npz"
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])
    with pytest.raises(InputError, match=r"train\.npz is damaged"):
        fit_prepared(folder.run)


def test_loss_that_is_not_finite_ends_the_training(smallest_config, tmp_path, eagerly):
    config = smallest_config("training.clip_norm=null", "training.optimizer=sgd", "training.learning_rate=1e30")
    run = prepare(config, tmp_path / "run").run
    with pytest.raises(InputError, match=r"Set a lower training\.learning_rate"):
        fit_prepared(run)


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
    fit_prepared(run, lines.append)
    assert "To train on, set a larger training.early_stopping_patience than 2 in its config.yaml." in lines[-1]


def test_trained_model_without_its_checkpoints_is_not_fitted_again(prepared, eagerly):
    run = prepared("run", "training.epochs=1")
    shutil.rmtree(run.checkpoints)
    before = run.model_path.read_bytes()
    with pytest.raises(InputError, match="has a trained model, but no checkpoint"):
        fit_prepared(run)
    assert run.model_path.read_bytes() == before


def test_validation_has_as_many_sentences_as_the_setting_says(smallest_config, tmp_path):
    assert len(prepare(smallest_config("evaluation.max_sentences=3"), tmp_path / "run").validation()) == 3


def test_run_without_validation_pairs_is_fitted(prepared, tmp_path, eagerly):
    for side, text in (("source", "ab\nba\n"), ("target", "a\nb\n")):
        (tmp_path / side).write_text(text * 8)
    files = [f"data.train_{side}={tmp_path / side}" for side in ("source", "target")]
    run = prepared("run", "data.corpus=files", "data.source_language=de", "data.target_language=en", *files)
    assert np.isnan(read_csv_log(run.metrics_path)["val_loss"]).all()
    assert run.model_path.is_file()


def test_a_decoder_that_does_not_read_the_source_is_refused(smallest_config, tmp_path):
    config = replace(smallest_config(), model=ConvS2SConfig(attention_layers=()))
    for make in (prepare, train):
        with pytest.raises(ConfigError, match=r"attention_layers is empty, so .* would not read the source\. Give "):
            make(config, tmp_path / "run")
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("name", ["start.keras", "validation.npz"])
def test_incomplete_copy_is_refused(smallest_config, supervised_run, tmp_path, name):
    start = [f"training.start={supervised_run('start').path}"] if name == "start.keras" else []
    folder = prepare(smallest_config(*start), tmp_path / "run")
    (folder.run.prepared / name).unlink()
    with pytest.raises(MissingFileError, match=rf"{name} is missing\. Copy the whole folder again"):
        fit_prepared(folder.run)


def kill_a_preparation(config, path, monkeypatch):
    """Leave the folder as a process leaves it that is killed just before the folder is a run."""

    def kill(*arguments):
        raise _StoppedError

    with monkeypatch.context() as patch:
        patch.setattr("bytenet.run_folder.RunFolder.go_on_with", kill)
        with pytest.raises(_StoppedError):
            prepare(config, path)


def test_failed_or_killed_preparation_can_be_repeated(smallest_config, tmp_path, monkeypatch):
    kill_a_preparation(smallest_config(), tmp_path / "run", monkeypatch)
    assert len(prepare(smallest_config(), tmp_path / "run").run.environment()["commands"]) == 1


def test_train_after_a_killed_preparation_is_a_run_of_its_own(smallest_config, pool, tmp_path, monkeypatch):
    kill_a_preparation(smallest_config(), tmp_path / "run", monkeypatch)
    run = train(smallest_config("training.max_steps=1", "data.num_train=32"), tmp_path / "run", models=pool)
    assert not run.is_prepared
    assert len(run.environment()["commands"]) == 1


def test_preparation_does_not_replace_a_run_that_began_meanwhile(smallest_config, tmp_path, monkeypatch):
    monkeypatch.setattr(
        "bytenet.training.prepared.preparation.load_starts",
        lambda *arguments: RunFolder.create(tmp_path / "run", smallest_config(), Vocabulary("ab")),
    )
    with pytest.raises(InputError, match="holds a run already"):
        prepare(smallest_config(), tmp_path / "run")


def test_folder_that_was_not_prepared_is_named(tmp_path):
    with pytest.raises(MissingFileError, match=r"is not a prepared run: .* Make it with `bytenet prepare "):
        fit_prepared(tmp_path / "nothing")


@pytest.mark.parametrize("schedule", ["step", "cosine"])
def test_learning_rates_are_those_of_train(smallest_config, prepared, unmeasured, eagerly, tmp_path, schedule):
    overrides = (
        f"training.schedule={schedule}", "training.decay_start_epoch=1", "training.warmup_steps=2", "training.epochs=3",
    )  # fmt: skip
    expected = read_csv_log(train(smallest_config(*overrides), tmp_path / "trained").metrics_path)
    fitted = read_csv_log(prepared("fitted", *overrides).metrics_path)
    assert len(set(expected["learning_rate"])) == 3
    np.testing.assert_allclose(fitted["learning_rate"], expected["learning_rate"], rtol=1e-5)


def test_run_that_ended_inside_an_epoch_does_not_go_on(prepared, eagerly):
    lines: list[str] = []
    run = prepared("run", "training.epochs=9", "training.max_steps=4", say=lines.append)
    losses = read_csv_log(run.metrics_path)["val_loss"]
    assert losses[1] < losses[0]
    assert f"the one from epoch 2, with the best val_loss ({losses[1]:.4g})" in lines[-1]
    lines.clear()
    fit_prepared(run, lines.append)
    assert [line.partition(",")[0] for line in lines] == ["This run ended at batch 1 of epoch 2"]
    change(run, "max_steps: 4", "max_steps: 8")
    with pytest.raises(InputError, match=r"ended at batch 1 of epoch 2, because of training\.max_steps"):
        fit_prepared(run)


@pytest.mark.parametrize(
    ("setting", "other"), [("batch_size: 16", "batch_size: 12"), ("shuffle: corpus", "shuffle: buffer")]
)
def test_run_does_not_go_on_with_other_batches(prepared, setting, other, eagerly):
    run = prepared("run")
    change(run, "epochs: 2", "epochs: 3")
    change(run, setting, other)
    with pytest.raises(InputError, match="The training data or its batches are not those"):
        fit_prepared(run)


def change(run, setting, other):
    """Change a setting of a run, as a user would in an editor."""
    content = run.config_path.read_text(encoding="utf-8")
    assert content.count(f"  {setting}\n") == 1
    run.config_path.write_text(content.replace(f"  {setting}\n", f"  {other}\n"), encoding="utf-8")
    run.__dict__.pop("config", None)


def test_messages_name_the_command_that_trains_a_prepared_run(smallest_config, tmp_path):
    run = prepare(smallest_config(), tmp_path / "run").run
    with pytest.raises(MissingFileError, match="Continue it with `bytenet fit "):
        run.load_model()
    with pytest.raises(InputError, match=r"holds a run already\. Continue it with `bytenet fit "):
        prepare(smallest_config(), run.path)
    with pytest.raises(InputError, match=r"made by `bytenet prepare`\. Train it with `bytenet fit "):
        train(smallest_config(), run.path, resume=True)


def test_start_is_measured_and_kept_if_no_epoch_is_better(smallest_config, prepared, pool, tmp_path, model_weights):
    start = train(smallest_config("training.epochs=2"), tmp_path / "start", models=pool).path
    too_high = ("training.learning_rate=30", "training.clip_norm=null", "training.keep_model=best")
    run = prepared("run", f"training.start={start}", *too_high, "training.epochs=2")
    rows = read_csv_log(run.metrics_path)
    assert (rows["epoch"], rows["step"]) == ([0, 1, 2], [0, 3, 6])
    assert min(rows["val_loss"]) == rows["val_loss"][0]
    for one, other in zip(model_weights(run.path), model_weights(start), strict=True):
        np.testing.assert_array_equal(one, other)
