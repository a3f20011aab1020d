"""Runs whose model starts from the model of a finished run, or from one that ships."""

import re
import shutil
from dataclasses import replace

import pytest

from bytenet.config.families.transformer import TransformerConfig
from bytenet.csv_log import read_csv_log
from bytenet.datasets import Vocabulary, load_corpus
from bytenet.decoding import Translator
from bytenet.errors import InputError
from bytenet.run_folder import RunFolder
from bytenet.training import train

from .starting_runs import failing_at_the_first_step


def test_supervised_run_takes_over_model_and_vocabulary_of_its_start(
    smallest_config, supervised_run, beginnings, tmp_path, model_weights, assert_equal_weights, capsys
):
    start = supervised_run("start", "model.dim=8", "data.min_character_count=40")
    config = smallest_config(f"training.start={start.path}", "model.dropout=0.3")
    folder = train(config, tmp_path / "run")
    model = beginnings[0]
    assert_equal_weights(model.weights, model_weights(start))
    saved = RunFolder.open(folder.path)
    assert saved.vocabulary == start.vocabulary
    assert (saved.config.model.dim, saved.config.model.dropout) == (8, 0.3)
    own = Vocabulary.from_pairs(load_corpus(config.data).train, config.data)
    unknown = len(set(own.characters) - set(start.vocabulary.characters))
    assert unknown > 0
    message = f"in which {unknown} of the {len(own.characters)} characters of the pairs are unknown"
    assert message in capsys.readouterr().err


def test_resumed_run_does_not_need_its_start_and_keeps_its_name(
    smallest_config, supervised_run, pool, unmeasured, tmp_path, capsys
):
    start = supervised_run("start", "model.dim=8")
    settings = f"training.start={start.path}", "training.max_steps=1"
    train(smallest_config(*settings), tmp_path / "run", models=pool)
    assert f"starts from the model of {start.path}" in capsys.readouterr().err
    shutil.rmtree(start.path)
    for name, steps in ((start.path, 2), ("/nowhere", 3)):
        longer = smallest_config(f"training.start={name}", f"training.max_steps={steps}")
        folder = train(longer, tmp_path / "run", resume=True, models=pool)
        assert read_csv_log(folder.metrics_path)["step"][-1] == steps
        assert folder.config.training.start == str(start.path)
        said = capsys.readouterr().err
        assert "starts from" not in said
        assert ("the weights come from the checkpoint, not from the models that" in said) == (name == "/nowhere")


def test_a_run_without_a_checkpoint_does_not_go_on_from_a_start_with_another_vocabulary(
    smallest_config, supervised_run, tmp_path, monkeypatch
):
    start = supervised_run("start")
    config = smallest_config(f"training.start={start.path}")
    with pytest.raises(InputError, match="the loss is nan"), failing_at_the_first_step(monkeypatch):
        train(config, tmp_path / "run")
    shutil.rmtree(start.path)
    supervised_run("start", "data.min_character_count=40")
    with pytest.raises(InputError, match=r"start has another vocabulary than when this run began\. Bring back"):
        train(config, tmp_path / "run", resume=True)


def test_runs_start_from_models_that_ship(
    smallest_config, semi_config, supervised_run, beginnings, tmp_path, monkeypatch, ship, model_weights,
    assert_equal_weights,
):  # fmt: skip
    start = supervised_run("start", "model.dim=8")
    folder = tmp_path / "pretrained"
    folder.mkdir()
    Translator.from_run(start.path).export(folder / "de-en.bytenet", engines="full", languages=("de", "en"))
    ship(folder)
    monkeypatch.chdir(tmp_path)
    for names, right in (
        (("source_language=German",), "data.source_language to de and data.target_language to en"),
        (("source_language=German", "reversed=true"), "data.source_language to en and data.target_language to de"),
    ):
        wrong = smallest_config("training.start=de-en", *(f"data.{name}" for name in names))
        with pytest.raises(
            InputError, match=rf"Leave out training\.start to .* Only if your text is in .*, set {right}\."
        ):
            train(wrong, tmp_path / "run")
    run = train(smallest_config("training.start=de-en", "model.dropout=0.3"), tmp_path / "run")
    saved = RunFolder.open(run.path)
    assert saved.vocabulary == start.vocabulary
    assert saved.config.training.start == "de-en"
    assert (saved.config.model.dim, saved.config.model.dropout) == (8, 0.3)
    semi = RunFolder.open(train(semi_config("semi_supervised.start_forward=de-en"), tmp_path / "semi").path)
    assert (semi.vocabulary, semi.config.model.dim) == (start.vocabulary, 8)
    model, pair = beginnings
    for weights in (model.weights, pair.forward.weights):
        assert_equal_weights(weights, model_weights(start))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (
            ["data.reversed=true"],
            r"^training.start: .* expected a model from en to de\. Train a run of the other direct",
        ),
        (
            ["data.source_language=da"],
            r"^training.start: .* expected a model from da to en\. Leave out training\.start to ",
        ),
        (["semi_supervised.enabled=true"], "training.start is for training on pairs alone"),
        (["data.unknown=error"], r"data.unknown is error, but .* has symbol\. Leave out data.unknown, or the preset"),
    ],
)
def test_start_that_does_not_fit_the_run_is_refused(smallest_config, supervised_run, tmp_path, settings, message):
    start = supervised_run("start")
    config = smallest_config(f"training.start={start.path}", *settings)
    with pytest.raises(InputError, match=message):
        train(config, tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_start_of_another_family_is_refused(smallest_config, supervised_run, tmp_path):
    config = replace(smallest_config(f"training.start={supervised_run('start').path}"), model=TransformerConfig())
    with pytest.raises(InputError, match=r"model\.family is transformer, but the model of training\.start has bytenet"):
        train(config, tmp_path / "run")


def test_pair_that_a_start_cannot_read_gives_no_advice_to_change_the_model(smallest_config, supervised_run, tmp_path):
    family = ("model.family=transformer", "model.num_sets=null", "model.dilations=null", "model.heads=2")
    start = supervised_run("start", *family, "model.positions=learned", "model.max_positions=12")
    with pytest.raises(InputError, match=r"The longest validation pair .* reads at most 12\. Leave out the pair\.$"):
        train(smallest_config(f"training.start={start.path}", "data.max_length=11"), tmp_path / "run")


def test_all_rates_of_dropout_are_those_of_the_run(smallest_config, supervised_run, tmp_path):
    family = ("model.family=transformer", "model.num_sets=null", "model.dilations=null", "model.heads=2")
    start = supervised_run("start", *family, "model.encoder_layers=1", "model.decoder_layers=1")
    settings = (*family, f"training.start={start.path}", "model.attention_dropout=0.1", "model.dropout=0.2")
    folder = train(smallest_config(*settings), tmp_path / "run")
    assert folder.config.model.dropout_rates == {
        "dropout": 0.2, "character_dropout": 0.0, "attention_dropout": 0.1, "activation_dropout": 0.0,
    }  # fmt: skip
    assert folder.config.model.encoder_layers == 1


def test_start_is_the_model_of_the_run_if_no_epoch_is_better(
    smallest_config, supervised_run, tmp_path, model_weights, assert_equal_weights, capsys
):
    start = supervised_run("start", "training.learning_rate=0.01", "training.epochs=4")
    too_high = ("training.learning_rate=30", "training.clip_norm=null")
    folder = train(smallest_config(f"training.start={start.path}", *too_high), tmp_path / "run")
    assert_equal_weights(model_weights(folder), model_weights(start))
    metrics = read_csv_log(folder.metrics_path)
    assert (metrics["epoch"][0], metrics["step"][0]) == (0, 0)
    assert min(metrics["val_loss"]) == metrics["val_loss"][0]
    said = f"before the first step: .*val_loss {metrics['val_loss'][0]:.4g}"
    assert re.search(said, capsys.readouterr().err)


def test_unknown_character_of_a_validation_pair_is_refused_before_the_folder_is_made(smallest_config, tmp_path):
    for name, text in (("train", "ab\nb\nabb\n"), ("validation", "abc\n")):
        (tmp_path / name).write_text(text, encoding="utf-8")
    files = [
        f"data.{name}_{side}={tmp_path / name}" for name in ("train", "validation") for side in ("source", "target")
    ]
    nothing = [f"data.{name}=null" for name in ("num_train", "num_validation", "num_test")]
    with pytest.raises(InputError, match=r"The character 'c' \(U\+0063\) of 'abc' is not in the vocabulary"):
        train(smallest_config("data.corpus=files", *nothing, *files, "data.unknown=error"), tmp_path / "run")
    assert not (tmp_path / "run").exists()
