"""Semi-supervised runs whose translators start from the models of finished runs."""

import shutil

import numpy as np
import pytest

from bytenet.csv_log import read_csv_log
from bytenet.datasets import Vocabulary
from bytenet.errors import InputError, MissingFileError
from bytenet.run_folder import RunFolder
from bytenet.training import train
from bytenet.training.starts import take_over_start

from .starting_runs import RECURRENT, failing_at_the_first_step


def test_runs_start_from_supervised_runs(
    semi_config, supervised_run, beginnings, tmp_path, model_weights, assert_equal_weights, capsys
):
    starts = {"forward": supervised_run("one"), "backward": supervised_run("another", "data.reversed=true")}
    settings = [f"semi_supervised.start_{name}={folder.path}" for name, folder in starts.items()]
    train(semi_config(*settings, "model.dropout=0.2"), tmp_path / "run")
    names = " and ".join(str(folder.path) for folder in starts.values())
    taken = "their settings (model.*, except dropout) and their vocabulary"
    said = f"starts from the models of {names}, with {taken}, in which"
    assert said in capsys.readouterr().err
    train(semi_config(settings[1]), tmp_path / "half")
    both, half = beginnings
    for name, folder in starts.items():
        assert_equal_weights(both.translator(name).weights, model_weights(folder))
    assert_equal_weights(half.backward.weights, model_weights(starts["backward"]))
    assert any(np.any(one != other) for one, other in zip(half.forward.weights, both.forward.weights, strict=True))


def test_translators_without_starts_begin_like_supervised_runs(semi_config, beginnings, tmp_path, assert_equal_weights):
    train(semi_config(), tmp_path / "run")
    train(semi_config("semi_supervised.enabled=false"), tmp_path / "supervised")
    train(semi_config("semi_supervised.enabled=false", "data.reversed=true"), tmp_path / "reversed")
    pair, supervised, reversed_ = beginnings
    assert_equal_weights(pair.forward.weights, supervised.weights)
    assert_equal_weights(pair.backward.weights, reversed_.weights)


def test_run_resumes_after_its_start_run_is_deleted(semi_config, supervised_run, pool, unmeasured, tmp_path):
    start = supervised_run("start")
    config = semi_config(f"semi_supervised.start_forward={start.path}", "training.max_steps=1")
    train(config, tmp_path / "run", models=pool)
    shutil.rmtree(start.path)
    longer = semi_config(f"semi_supervised.start_forward={start.path}", "training.max_steps=2")
    folder = train(longer, tmp_path / "run", resume=True, models=pool)
    assert read_csv_log(folder.metrics_path)["step"][-1] == 2


def test_changed_starts_are_not_saved_after_the_first_checkpoint(
    semi_config, supervised_run, pool, unmeasured, tmp_path, capsys
):
    start = supervised_run("start")
    config = semi_config(f"semi_supervised.start_forward={start.path}", "training.max_steps=1")
    train(config, tmp_path / "run", models=pool)
    assert "weights come from the checkpoint" not in capsys.readouterr().err
    config = semi_config("semi_supervised.start_backward=/nowhere", "training.max_steps=2")
    folder = train(config, tmp_path / "run", resume=True, models=pool)
    assert "the weights come from the checkpoint, not from the models that" in capsys.readouterr().err
    for path in (folder.path, folder.path / "backward"):
        settings = RunFolder.open(path).config.semi_supervised
        assert settings.starts == {"forward": str(start.path), "backward": None}


@pytest.mark.thorough
def test_frozen_translator_is_copied_from_latest_start(
    semi_config, supervised_run, eagerly, unmeasured, tmp_path, monkeypatch, model_weights, assert_equal_weights
):
    forward = supervised_run("start")
    backward = [supervised_run(name, "data.reversed=true") for name in ("a", "other")]
    first, second = (
        semi_config(
            "semi_supervised.trained=forward", f"semi_supervised.start_forward={forward.path}",
            f"semi_supervised.start_backward={start.path}", "training.max_steps=1",
        )
        for start in backward
    )  # fmt: skip
    with pytest.raises(InputError, match="the loss is nan"), failing_at_the_first_step(monkeypatch):
        train(first, tmp_path / "run")
    assert_equal_weights(model_weights(tmp_path / "run" / "backward"), model_weights(backward[0].path))
    folder = train(second, tmp_path / "run", resume=True)
    assert_equal_weights(model_weights(folder.path / "backward"), model_weights(backward[1].path))


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        (("data.unknown=drop",), r"data\.unknown is drop, but the model of semi_supervised\.start_forward has symbol"),
        (RECURRENT, r"model\.family is recurrent, but the model of semi_supervised\.start_forward has bytenet"),
    ],
)
def test_unsuitable_start_is_refused_with_an_explanation(semi_config, supervised_run, tmp_path, overrides, message):
    start = supervised_run("start")
    with pytest.raises(InputError, match=message):
        train(semi_config(f"semi_supervised.start_forward={start.path}", *overrides), tmp_path / "run")
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("of_backward", "message"),
    [
        (
            "data.min_character_count=40",
            r"The model .*back has another vocabulary than the model .*start of semi_supervised\.start_forward, so the",
        ),
        ("model.dim=6", r"The model of the start .*back differs from the model of this run: dim 6 there, 4 here"),
        ("model.variant=selu", r"The model of the start .*back differs .*: .*activation 'selu' there, 'relu' here"),
    ],
)
def test_two_starts_that_do_not_fit_each_other_are_refused(semi_config, supervised_run, tmp_path, of_backward, message):
    forward, backward = supervised_run("start"), supervised_run("back", "data.reversed=true", of_backward)
    starts = (f"semi_supervised.start_forward={forward.path}", f"semi_supervised.start_backward={backward.path}")
    with pytest.raises(InputError, match=message):
        train(semi_config(*starts), tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_a_start_of_the_other_direction_is_refused(semi_config, supervised_run, tmp_path):
    start = supervised_run("start")
    with pytest.raises(
        InputError, match=r"^semi_supervised\.start_backward: .* translates de to en; expected a model from en to de\."
    ):
        train(semi_config(f"semi_supervised.start_backward={start.path}"), tmp_path / "run")
    assert not (tmp_path / "run").exists()


@pytest.mark.thorough
def test_start_is_listed_once_even_if_the_run_begins_twice(
    semi_config, supervised_run, pool, unmeasured, tmp_path, monkeypatch
):
    start = supervised_run("start")
    config = semi_config(f"semi_supervised.start_forward={start.path}", "training.max_steps=1")
    with pytest.raises(InputError, match="the loss is nan"), failing_at_the_first_step(monkeypatch):
        train(config, tmp_path / "run", models=pool)
    folder = train(config, tmp_path / "run", resume=True, models=pool)
    for path in (folder.path, folder.path / "backward"):
        assert read_csv_log(RunFolder(path).metrics_path)["epoch"] == [0, 1]


def test_all_starts_are_opened_before_the_corpus_is_read(semi_config, supervised_run):
    start = supervised_run("start")
    with pytest.raises(MissingFileError, match="nowhere does not exist"):
        take_over_start(
            semi_config(f"semi_supervised.start_forward={start.path}", "semi_supervised.start_backward=/nowhere")
        )


def test_missing_start_is_named_in_the_error(semi_config, tmp_path):
    config = semi_config(f"semi_supervised.start_backward={tmp_path / 'nowhere'}")
    with pytest.raises(MissingFileError, match=r"nowhere does not exist; expected the folder of a run"):
        train(config, tmp_path / "run")
    assert not (tmp_path / "run").exists()
    RunFolder.create(tmp_path / "run", config, Vocabulary.from_texts(["1"]))
    with pytest.raises(InputError, match=r"holds a run already\. Continue it with .*--resume"):
        train(config, tmp_path / "run")
