"""What runs refuse, and what ends them with an explanation."""

from dataclasses import replace

import keras
import pytest
import tensorflow as tf

from bytenet.config.families.transformer import TransformerConfig
from bytenet.errors import ConfigError, InputError
from bytenet.training import train
from bytenet.training.callbacks import TrainingLog


def test_loss_that_is_not_finite_ends_the_run_with_advice(smallest_config, eagerly, tmp_path):
    config = smallest_config("training.learning_rate=1.0e+30", "training.clip_norm=null", "model.variant=no_norm")
    with pytest.raises(InputError, match=r"loss is .*(nan|inf) at step .*training\.learning_rate"):
        train(config, tmp_path / "run")


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


def test_full_disk_while_writing_logs_is_explained(smallest_config, pool, tmp_path, monkeypatch):
    def fill_disk(*arguments, **options):
        raise tf.errors.ResourceExhaustedError(None, None, "events: No space left on device")

    monkeypatch.setattr("bytenet.training.callbacks.training_log.tf.summary.scalar", fill_disk)
    monkeypatch.setattr(TrainingLog, "EVERY_STEPS", 1)
    with pytest.raises(InputError, match=r"disk is full.*logs.*Free some space\. Resume with: bytenet train --resume"):
        train(smallest_config(), tmp_path / "run", models=pool)


def _failing(hook):
    """A callback that fails in a method as an operation does for which there is too little memory."""

    def fail(*arguments, **options):
        raise tf.errors.ResourceExhaustedError(None, None, "OOM when allocating tensor with shape[9,9]")

    return keras.callbacks.LambdaCallback(**{hook: fail})


@pytest.mark.parametrize(
    ("settings", "advice"),
    [
        (
            ["data.batch_chars=200"],
            r"data\.batch_chars \(now 200\)\. For batches of half the size, training\.accumulate_batches=2 keeps ",
        ),
        (["training.accumulate_batches=3"], r"data\.batch_size \(now 16\)\. .* training\.accumulate_batches=6 keeps "),
        (
            ["semi_supervised.enabled=true", "semi_supervised.batch_size=5", "data.num_monolingual=32"],
            r"data\.batch_size \(now 16\) and semi_supervised\.batch_size \(now 5\)\.$",
        ),
    ],
)
def test_too_little_memory_for_a_step_is_explained(smallest_config, tmp_path, settings, advice):
    with pytest.raises(InputError, match=rf"too little memory for the batches\. .* new run folder with a .*{advice}"):
        train(smallest_config(*settings), tmp_path / "run", more_callbacks=[_failing("on_train_batch_begin")])


def test_too_little_memory_after_a_step_is_no_reason_for_smaller_batches(smallest_config, eagerly, tmp_path):
    with pytest.raises(tf.errors.ResourceExhaustedError):
        train(smallest_config(), tmp_path / "run", more_callbacks=[_failing("on_train_batch_end")])
