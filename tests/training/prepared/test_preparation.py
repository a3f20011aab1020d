"""What `fit` cannot do is refused when a run is prepared. A preparation can be repeated, and does not replace a run."""

from dataclasses import replace

import pytest

from bytenet.config.families.convs2s import ConvS2SConfig
from bytenet.datasets import Vocabulary
from bytenet.errors import ConfigError, InputError, MissingFileError
from bytenet.run_folder import RunFolder
from bytenet.training import train
from bytenet.training.prepared.preparation import prepare


class _StoppedError(Exception):
    """The end of a process."""


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("training.accumulate_batches=2", "training.accumulate_batches is 2"),
        ("training.schedule=plateau", "training.schedule is plateau"),
        ("training.devices=[CPU:0]", "training.devices is"),
        ("training.deterministic=true", "training.deterministic is true"),
        ("training.checkpoint_every_steps=5", "training.checkpoint_every_steps is 5"),
        ("training.checkpoint_every_seconds=60", r"training.checkpoint_every_seconds is 60\.0"),
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


def test_r_drop_may_need_a_dropout_of_the_start(smallest_config, supervised_run, tmp_path):
    family = ("model.family=transformer", "model.num_sets=null", "model.dilations=null", "model.heads=2")
    layers = ("model.encoder_layers=1", "model.decoder_layers=1")
    start = supervised_run("start", *family, *layers, "model.attention_dropout=0.1")
    prepare(smallest_config(f"training.start={start.path}", "training.r_drop=1"), tmp_path / "run")


def test_settings_without_effect_are_named(smallest_config, tmp_path):
    said: list[str] = []
    prepare(smallest_config("training.sync_batch_norm=false", "semi_supervised.beam_size=2"), tmp_path, said.append)
    assert said == [
        "warning: training.sync_batch_norm false has no effect, because the batches are not split over several "
        "devices.",
        "semi_supervised.beam_size 2 has no effect, because semi_supervised.enabled is false. To learn from "
        "monolingual text, set it to true.",
    ]


def test_decoding_that_the_model_cannot_do_is_refused_when_it_is_prepared(smallest_config, tmp_path):
    with pytest.raises(InputError, match=r"decoding\.coverage_penalty needs a model with attention"):
        prepare(smallest_config("decoding.coverage_penalty=0.2"), tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_patience_needs_a_score_that_fit_measures(smallest_config, tmp_path):
    config = smallest_config("training.early_stopping_patience=2", "training.early_stopping_metric=val_bleu")
    with pytest.raises(ConfigError, match=r"early_stopping_patience is 2, but .*metric is val_bleu"):
        prepare(config, tmp_path / "run")


def test_a_decoder_that_does_not_read_the_source_is_refused(smallest_config, tmp_path):
    config = replace(smallest_config(), model=ConvS2SConfig(attention_layers=()))
    for make in (prepare, train):
        with pytest.raises(ConfigError, match=r"attention_layers is empty, so .* would not read the source\. Give "):
            make(config, tmp_path / "run")
    assert not (tmp_path / "run").exists()


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


def test_messages_name_the_command_that_trains_a_prepared_run(smallest_config, tmp_path):
    run = prepare(smallest_config(), tmp_path / "run").run
    with pytest.raises(MissingFileError, match="If it was stopped, continue it with `bytenet fit "):
        run.load_model()
    with pytest.raises(InputError, match=r"holds a run already\. Continue it with `bytenet fit "):
        prepare(smallest_config(), run.path)
    with pytest.raises(InputError, match=r"made by `bytenet prepare`\. Train it with `bytenet fit "):
        train(smallest_config(), run.path, resume=True)
