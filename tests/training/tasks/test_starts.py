"""Runs whose translators start from the models of finished runs."""

import shutil
from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import pytest

from bytenet.csv_log import read_csv_log
from bytenet.datasets import Vocabulary, load_corpus
from bytenet.decoding import Translator
from bytenet.errors import ConfigError, InputError, MissingFileError
from bytenet.models import build_model
from bytenet.run_folder import RunFolder
from bytenet.training import train
from bytenet.training.callbacks import StateKeeper

RECURRENT = ("model.family=recurrent", "model.num_sets=null", "model.dilations=null")


@contextmanager
def failing_at_the_first_step(monkeypatch):
    """Inside this context, a run fails before it has a checkpoint."""

    def fail(self, batch, logs=None):
        raise InputError("the loss is nan")

    with monkeypatch.context() as patch:
        patch.setattr(StateKeeper, "on_train_batch_end", fail)
        yield


def test_runs_start_from_supervised_runs(
    semi_config, supervised_run, beginnings, tmp_path, model_weights, assert_equal_weights
):
    starts = {"forward": supervised_run("one"), "backward": supervised_run("another", "data.reversed=true")}
    settings = [f"semi_supervised.start_{name}={folder.path}" for name, folder in starts.items()]
    train(semi_config(*settings, "model.dropout=0.2"), tmp_path / "run")
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
    assert "the weights come from the checkpoint, not from the runs that" in capsys.readouterr().err
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
    with pytest.raises(InputError, match="nan"), failing_at_the_first_step(monkeypatch):
        train(first, tmp_path / "run")
    assert_equal_weights(model_weights(tmp_path / "run" / "backward"), model_weights(backward[0].path))
    folder = train(second, tmp_path / "run", resume=True)
    assert_equal_weights(model_weights(folder.path / "backward"), model_weights(backward[1].path))


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        (("data.unknown=drop",), r"another vocabulary than this one.*data\.unknown"),
        (("model.dim=6",), r"The model of the start .*start differs .*: dim 4 there, 6 here"),
        (("model.variant=selu",), r"differs .*: .*activation 'relu' there, 'selu' here"),
        (RECURRENT, r"The model of the start .*start differs from the model of this run"),
    ],
)
def test_unsuitable_start_is_refused_with_an_explanation(semi_config, supervised_run, tmp_path, overrides, message):
    start = supervised_run("start")
    with pytest.raises(InputError, match=message):
        train(semi_config(f"semi_supervised.start_forward={start.path}", *overrides), tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_a_start_of_the_other_direction_is_refused(semi_config, supervised_run, tmp_path):
    start = supervised_run("start")
    with pytest.raises(InputError, match=r"translates de to en, but the backward .* must translate en to de\."):
        train(semi_config(f"semi_supervised.start_backward={start.path}"), tmp_path / "run")
    assert not (tmp_path / "run").exists()


@pytest.mark.thorough
def test_start_is_listed_once_even_if_the_run_begins_twice(
    semi_config, supervised_run, pool, unmeasured, tmp_path, monkeypatch
):
    start = supervised_run("start")
    config = semi_config(f"semi_supervised.start_forward={start.path}", "training.max_steps=1")
    with pytest.raises(InputError, match="nan"), failing_at_the_first_step(monkeypatch):
        train(config, tmp_path / "run", models=pool)
    folder = train(config, tmp_path / "run", resume=True, models=pool)
    for path in (folder.path, folder.path / "backward"):
        assert read_csv_log(RunFolder(path).metrics_path)["epoch"] == [0, 1]


def test_missing_start_is_named_in_the_error(semi_config, tmp_path):
    config = semi_config(f"semi_supervised.start_backward={tmp_path / 'nowhere'}")
    with pytest.raises(MissingFileError, match=r"nowhere does not exist; expected the folder of a run"):
        train(config, tmp_path / "run")
    assert not (tmp_path / "run").exists()
    RunFolder.create(tmp_path / "run", config, Vocabulary.from_texts(["1"]))
    with pytest.raises(InputError, match=r"holds a run already\. Resume it with .*--resume"):
        train(config, tmp_path / "run")


def test_supervised_run_takes_over_model_and_vocabulary_of_its_start(
    smallest_config, supervised_run, beginnings, tmp_path, model_weights, assert_equal_weights, capsys
):
    start = supervised_run("start", "model.dim=8", "data.min_character_count=40")
    config = smallest_config(f"training.start={start.path}", "model.dropout=0.3")
    folder = train(config, tmp_path / "run")
    assert_equal_weights(beginnings[0].weights, model_weights(start))
    saved = RunFolder.open(folder.path)
    assert saved.vocabulary == start.vocabulary
    assert (saved.config.model.dim, saved.config.model.dropout) == (8, 0.3)
    own = Vocabulary.from_pairs(load_corpus(config.data).train, config.data)
    unknown = len(set(own.characters) - set(start.vocabulary.characters))
    assert unknown > 0
    message = f"in which {unknown} of the {len(own.characters)} characters of the pairs are unknown"
    assert message in capsys.readouterr().err


def test_resumed_run_does_not_need_its_start(smallest_config, supervised_run, pool, unmeasured, tmp_path):
    start = supervised_run("start", "model.dim=8")
    settings = f"training.start={start.path}", "training.max_steps=1"
    train(smallest_config(*settings), tmp_path / "run", models=pool)
    shutil.rmtree(start.path)
    longer = smallest_config(settings[0], "training.max_steps=2")
    folder = train(longer, tmp_path / "run", resume=True, models=pool)
    assert read_csv_log(folder.metrics_path)["step"][-1] == 2


@pytest.mark.parametrize("kind", ["run", "file"])
@pytest.mark.parametrize(
    "settings",
    [
        (), ("model.source_attention=full",), ("model.source_attention=full", "model.attention_blocks=[1]"),
        ("model.block_size=small",), ("model.activation=selu",),
    ],
)  # fmt: skip
def test_added_sets_change_nothing_at_first(settings, kind, smallest_config, supervised_run, beginnings, tmp_path):
    start = supervised_run("start", "model.dim=8", "model.dilations=[1,2]", *settings)
    path = start.path
    if kind == "file":
        path = tmp_path / "start.bytenet"
        Translator.from_run(start.path).export(path, engines="full", languages=start.config.data.languages)
    folder = train(smallest_config(f"training.start={path}", "training.added_sets=2"), tmp_path / "run")
    saved = RunFolder.open(folder.path).config.model
    assert saved == replace(start.config.model, num_sets=3)
    deeper = build_model(saved, start.vocabulary.size)
    for weight, value in zip(deeper.weights, beginnings[0].weights, strict=True):
        weight.assign(value)
    random = np.random.default_rng(0)
    ids = {f"{side}_ids": random.integers(1, start.vocabulary.size, (2, 9)) for side in ("source", "target")}
    np.testing.assert_array_equal(deeper(ids), start.load_model()(ids))


def test_added_sets_learn_and_are_added_once(smallest_config, supervised_run, pool, unmeasured, tmp_path):
    start = supervised_run("start", "model.source_attention=full")
    settings = f"training.start={start.path}", "training.added_sets=1"
    train(smallest_config(*settings, "training.max_steps=2"), tmp_path / "run", models=pool)
    folder = train(smallest_config(*settings, "training.max_steps=4"), tmp_path / "run", resume=True, models=pool)
    assert folder.config.model.num_sets == 2
    assert read_csv_log(folder.metrics_path)["step"][-1] == 4
    model = folder.load_model()
    last = [model.encoder.blocks[-1].recover_dim, model.decoder.blocks[-1].recover_dim, model.decoder.attentions[-1]]
    assert all(np.any(weight) for layer in last for weight in layer.weights)


@pytest.mark.parametrize("name", ["encoder", "decoder"])
def test_no_set_becomes_the_identity_if_none_is_added(name, supervised_run):
    stack = getattr(supervised_run("start", "model.source_attention=full").load_model(), name)
    before = [np.array(weight) for weight in stack.weights]
    stack.make_last_sets_identity(0)
    for weight, value in zip(stack.weights, before, strict=True):
        np.testing.assert_array_equal(weight, value)


def test_number_of_added_sets_is_fixed_before_the_first_checkpoint(
    smallest_config, supervised_run, unmeasured, tmp_path, monkeypatch
):
    start = supervised_run("start")
    settings = f"training.start={start.path}", "training.max_steps=1"
    with pytest.raises(InputError, match="nan"), failing_at_the_first_step(monkeypatch):
        train(smallest_config(*settings, "training.added_sets=1"), tmp_path / "run")
    with pytest.raises(ConfigError, match=r"has training\.added_sets = 1, which cannot become 2"):
        train(smallest_config(*settings, "training.added_sets=2"), tmp_path / "run", resume=True)
    folder = train(smallest_config(*settings, "training.added_sets=1"), tmp_path / "run", resume=True)
    assert folder.config.model.num_sets == 2


def test_sets_are_added_only_to_a_bytenet_that_is_a_start(smallest_config, supervised_run, tmp_path):
    with pytest.raises(ConfigError, match=r"training\.added_sets adds to the model of training\.start"):
        train(smallest_config("training.added_sets=1"), tmp_path / "run")
    two = supervised_run("two", "model.num_sets=2")
    with pytest.raises(ConfigError, match=r"With the 2 of the start, the model would have more than 1,000 sets"):
        train(smallest_config(f"training.start={two.path}", "training.added_sets=999"), tmp_path / "run")
    start = supervised_run("start", *RECURRENT)
    config = smallest_config(f"training.start={start.path}", "training.added_sets=1")
    with pytest.raises(ConfigError, match="for the family bytenet; the start is a recurrent"):
        train(config, tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_runs_start_from_models_that_ship(
    smallest_config, semi_config, supervised_run, beginnings, tmp_path, monkeypatch, model_weights, assert_equal_weights
):
    start = supervised_run("start", "model.dim=8")
    folder = tmp_path / "pretrained"
    folder.mkdir()
    Translator.from_run(start.path).export(folder / "de-en.bytenet", engines="full", languages=("de", "en"))
    monkeypatch.setattr("bytenet.lite.pretrained._folder", lambda: folder)
    monkeypatch.chdir(tmp_path)
    run = train(smallest_config("training.start=de-en", "model.dropout=0.3"), tmp_path / "run")
    saved = RunFolder.open(run.path)
    assert saved.vocabulary == start.vocabulary
    assert saved.config.training.start == "de-en"
    assert (saved.config.model.dim, saved.config.model.dropout) == (8, 0.3)
    train(semi_config("semi_supervised.start_forward=de-en", "model.dim=8"), tmp_path / "semi")
    model, pair = beginnings
    for weights in (model.weights, pair.forward.weights):
        assert_equal_weights(weights, model_weights(start))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (["data.reversed=true"], "translates de to en, but the new translator must translate en to de"),
        (["semi_supervised.enabled=true"], "training.start is for training on pairs alone"),
    ],
)
def test_start_that_does_not_fit_the_run_is_refused(smallest_config, supervised_run, tmp_path, settings, message):
    start = supervised_run("start")
    config = smallest_config(f"training.start={start.path}", *settings)
    with pytest.raises(InputError, match=message):
        train(config, tmp_path / "run")
    assert not (tmp_path / "run").exists()


@pytest.fixture
def synthetic(tmp_path):
    """Settings for two synthetic pairs of digits."""
    settings = []
    for side, lines in (("source", "one two\nthree\n"), ("target", "12\n3\n")):
        (tmp_path / side).write_text(lines, encoding="utf-8")
        settings.append(f"data.synthetic_{side}={tmp_path / side}")
    return settings


def test_synthetic_pairs_and_copies_are_announced(smallest_config, beginnings, tmp_path, capsys, synthetic):
    folder = train(smallest_config(*synthetic, "data.pair_copies=2"), tmp_path / "run")
    number = len(load_corpus(smallest_config().data).train)
    said = capsys.readouterr().err
    assert f"{number} training pairs words -> digits (0 left out" in said
    assert f"each of the {number} pairs comes 2 times in an epoch" in said
    assert "2 synthetic pairs are added, with the tag ⇄ in front of their sources" in said
    assert "⇄" in RunFolder.open(folder.path).vocabulary.characters


def test_copies_do_not_change_the_vocabulary(smallest_config, beginnings, tmp_path, capsys, synthetic):
    settings = "data.min_character_count=13", *synthetic
    one = train(smallest_config(*settings), tmp_path / "one")
    four = train(smallest_config(*settings, "data.pair_copies=4"), tmp_path / "four")
    assert RunFolder.open(one.path).vocabulary == RunFolder.open(four.path).vocabulary
    assert "2 synthetic pairs are added, with the unknown symbol as their tag" in capsys.readouterr().err


def test_a_start_must_know_the_tag_of_synthetic_pairs(smallest_config, supervised_run, beginnings, tmp_path, synthetic):
    start = supervised_run("start", "data.unknown=drop")
    config = smallest_config(f"training.start={start.path}", *synthetic, "data.unknown=drop")
    with pytest.raises(InputError, match="does not have '⇄', the tag of the synthetic pairs"):
        train(config, tmp_path / "run")
    known = start.vocabulary.characters[0]
    train(replace(config, data=replace(config.data, synthetic_tag=known)), tmp_path / "run")
    assert len(beginnings) == 1


def test_semi_supervised_run_refuses_synthetic_pairs(semi_config, tmp_path, synthetic):
    with pytest.raises(ConfigError, match="the backward translator would learn to write what a machine"):
        train(semi_config(*synthetic), tmp_path / "run")
