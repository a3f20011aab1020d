"""Whole semi-supervised runs, as small as they can be."""

import shutil
from contextlib import contextmanager

import keras
import numpy as np
import pytest
from click.testing import CliRunner

from bytenet.cli.translate import translate
from bytenet.csv_log import read_csv_log
from bytenet.datasets import Vocabulary, load_corpus
from bytenet.errors import ConfigError, InputError, MissingFileError
from bytenet.run_folder import RunFolder
from bytenet.training import train
from bytenet.training.callbacks import StateKeeper
from bytenet.training.checkpoints import latest_checkpoint
from bytenet.training.model_pool import ModelPool

ATTENTION = ("model.family=attention", "model.num_sets=null", "model.dilations=null")


@pytest.fixture(scope="module")
def pool():
    """Models for the tests whose runs differ in nothing that is traced."""
    return ModelPool()


@contextmanager
def failing_at_the_first_step(monkeypatch):
    """Inside, a run fails before it has a checkpoint."""

    def fail(self, batch, logs=None):
        raise InputError("the loss is nan")

    with monkeypatch.context() as patch:
        patch.setattr(StateKeeper, "on_train_batch_end", fail)
        yield


def weights_of(path):
    return [keras.ops.convert_to_numpy(weight) for weight in RunFolder.open(path).load_model().weights]


def trainable_of(path):
    return [keras.ops.convert_to_numpy(weight) for weight in RunFolder.open(path).load_model().trainable_weights]


def assert_equal_weights(weights, expected):
    assert len(weights) == len(expected) > 10
    for one, other in zip(weights, expected, strict=True):
        np.testing.assert_array_equal(one, other)


def test_a_run_leaves_two_run_folders_that_later_commands_can_use(semi_config, pool, tmp_path):
    config = semi_config()
    folder = train(config, tmp_path / "run", models=pool)
    assert RunFolder.open(folder.path).config == config
    backward = RunFolder.open(folder.path / "backward")
    assert {key: there for key, _, there in config.differences(backward.config)} == {
        "data.reversed": True,
        "semi_supervised.enabled": False,
    }
    assert backward.vocabulary == folder.vocabulary
    assert backward.environment()["seed"] == config.training.seed
    assert any(np.any(one != other) for one, other in zip(*map(weights_of, (folder, backward)), strict=True))
    for path, line in ((folder.path, "one two"), (backward.path, "12")):
        result = CliRunner().invoke(translate, [str(path)], input=f"{line}\n{line}\n".encode())
        assert result.exit_code == 0, result.output
        assert result.stdout_bytes.count(b"\n") == 2

    metrics = read_csv_log(folder.metrics_path)
    assert metrics["step"] == [3, 4]
    columns = (
        "loss", "character_error", "backward_loss", "source_marginal", "val_loss", "val_chrf", "val_backward_loss",
        "val_backward_bleu", "val_backward_chrf", "val_backward_misclassification",
    )  # fmt: skip
    for name in columns:
        assert np.isfinite(metrics[name]).all(), name
    assert np.isnan(metrics["target_marginal"]).all()
    assert metrics["val_backward_loss"] != metrics["val_loss"]
    assert read_csv_log(folder.path / "continuous.csv")["step"] == [0, 2, 4]  # also before the first step
    of_backward = read_csv_log(backward.metrics_path)
    assert of_backward["loss"] == metrics["backward_loss"]
    for name in ("step", "seconds", "learning_rate"):
        assert of_backward[name] == metrics[name]
    for name in ("loss", "bleu", "chrf", "misclassification"):
        assert of_backward[f"val_{name}"] == metrics[f"val_backward_{name}"]
    for one in (folder, backward):
        assert one.environment()["trainable_parameters"] == sum(map(np.size, trainable_of(one.path)))
    assert (backward.path / "logs" / "validation").is_dir()


def test_both_saved_models_have_their_averaged_weights(semi_config, pool, tmp_path):
    folder = train(semi_config("data.num_train=40"), tmp_path / "run", models=pool)
    with np.load(latest_checkpoint(folder.checkpoints)) as saved:
        averages = [saved[name] for name in saved.files if name.endswith("average")]
    assert len(averages) == 2
    for path, average in zip((folder.path, folder.path / "backward"), averages, strict=True):
        table = RunFolder.open(path).load_model().source_embedding.table
        np.testing.assert_allclose(table, average[: np.prod(table.shape)].reshape(table.shape), rtol=1e-6)


@pytest.mark.parametrize("direction", ["forward", "backward"])
def test_a_translator_whose_gradient_is_no_number_ends_the_run(semi_config, pool, tmp_path, monkeypatch, direction):
    count = StateKeeper.on_train_batch_end

    def spoil_and_count(self, batch, logs=None):
        self.model.translator(direction).optimizer.gradient_norm.assign(np.nan)
        count(self, batch, logs)

    monkeypatch.setattr(StateKeeper, "on_train_batch_end", spoil_and_count)
    with pytest.raises(InputError, match=r"gradient's norm nan at step 1, .*learning_rate"):
        train(semi_config(), tmp_path / "run", models=pool)


def test_runs_start_from_supervised_runs(semi_config, supervised_run, beginnings, tmp_path):
    starts = {"forward": supervised_run("one"), "backward": supervised_run("another", "data.reversed=true")}
    settings = [f"semi_supervised.start_{name}={folder.path}" for name, folder in starts.items()]
    train(semi_config(*settings, "model.dropout=0.2"), tmp_path / "run")
    train(semi_config(settings[1]), tmp_path / "half")
    both, half = beginnings
    for name, folder in starts.items():
        assert_equal_weights(both.translator(name).weights, weights_of(folder))
    assert_equal_weights(half.backward.weights, weights_of(starts["backward"]))
    assert any(np.any(one != other) for one, other in zip(half.forward.weights, both.forward.weights, strict=True))


def test_without_starts_both_begin_with_the_weights_of_supervised_runs(semi_config, beginnings, tmp_path):
    train(semi_config(), tmp_path / "run")
    train(semi_config("semi_supervised.enabled=false"), tmp_path / "supervised")
    train(semi_config("semi_supervised.enabled=false", "data.reversed=true"), tmp_path / "reversed")
    pair, supervised, reversed_ = beginnings
    assert_equal_weights(pair.forward.weights, supervised.weights)
    assert_equal_weights(pair.backward.weights, reversed_.weights)


@pytest.mark.parametrize(("trained", "frozen"), [("forward", "backward"), ("backward", "forward")])
def test_a_frozen_translator_is_saved_as_it_was(semi_config, supervised_run, eagerly, tmp_path, trained, frozen):
    start = supervised_run("start", f"data.reversed={frozen == 'backward'}")
    config = semi_config(
        f"semi_supervised.trained={trained}", f"semi_supervised.start_{frozen}={start.path}", "training.max_steps=1",
        "evaluation.continuous_every_steps=1",
    )  # fmt: skip
    folder = train(config, tmp_path / "run")
    folders = {"forward": folder.path, "backward": folder.path / "backward"}
    assert_equal_weights(weights_of(folders[frozen]), weights_of(start))
    metrics = read_csv_log(folder.metrics_path)
    assert np.isnan(metrics["backward_loss"]).all()
    assert np.isfinite([*metrics["loss"], *metrics["source_marginal"]]).all()
    assert metrics["character_error"][0] > 0
    for direction, name in (("forward", "val_loss"), ("backward", "val_backward_loss")):
        assert np.isfinite(metrics[name][0]) == (direction == trained)


@pytest.mark.parametrize(
    ("trained", "of_start", "kept"),
    [("both", 2.5, [3.0, 1.0]), ("both", 0.5, [None, 1.0]), ("backward", None, [None, 1.0])],
)
def test_each_translator_that_learns_is_kept_at_its_own_best(
    semi_config, supervised_run, eagerly, tmp_path, monkeypatch, capsys, trained, of_start, kept
):
    """Epoch by epoch the forward one gets better, after what it starts from, and the backward one worse."""
    scores = {"forward": [3.0, 2.0, 1.0], "backward": [1.0, 2.0, 3.0]}
    measured_on, drawn_from = {}, []
    start = supervised_run("start")
    names = [name for name in scores if trained in ("both", name)]
    order = iter([(name, epoch) for epoch in range(3) for name in names])
    started = iter([] if of_start is None else [of_start])

    def mark_model(self):
        for score in started:
            return {"val_loss": score}, [""] * len(self.pairs)
        name, epoch = next(order)
        measured_on[name] = self.pairs
        self._model.head.bias.assign(np.full(self._model.vocab_size, epoch + 1.0))
        return {"val_loss": scores[name][epoch]}, [""] * len(self.pairs)

    def draw_from(pairs, *more):
        drawn_from.append(pairs)

    monkeypatch.setattr("bytenet.training.validation.Validator.whole_set", mark_model)
    monkeypatch.setattr("bytenet.training.steps.BatchSampler", draw_from)
    config = semi_config(
        f"semi_supervised.trained={trained}", f"semi_supervised.start_forward={start.path}", "training.max_steps=3",
        "data.num_train=16", "training.epochs=3", "training.ema_momentum=null", "evaluation.num_samples=0",
        "evaluation.continuous_every_steps=null", "evaluation.continuous_train=true",
    )  # fmt: skip
    folder = train(config, tmp_path / "run")
    corpus = load_corpus(config.data)
    validation = {"forward": corpus.validation, "backward": corpus.validation.reversed()}
    assert measured_on == {name: validation[name] for name in names}
    train_pairs = corpus.train if names[0] == "forward" else corpus.train.reversed()
    assert drawn_from == [validation[names[0]], train_pairs], "random batches are the first one's that learns"
    for path, value in zip((folder.path, folder.path / "backward"), kept, strict=True):
        bias = RunFolder.open(path).load_model().head.bias
        if value is None:
            np.testing.assert_array_equal(bias, start.load_model().head.bias)
        else:
            np.testing.assert_array_equal(bias, value)
    metrics = read_csv_log(folder.metrics_path)
    told = capsys.readouterr().err
    if of_start is None:
        assert list(metrics["epoch"]) == [1, 2, 3]
        assert "before the first step" not in told
    else:
        assert list(metrics["epoch"]) == [0, 1, 2, 3]
        assert (metrics["step"][0], metrics["val_loss"][0]) == (0, of_start)
        assert f"before the first step: val_loss {of_start}" in told


def test_a_run_goes_on_without_the_runs_that_it_started_from(semi_config, supervised_run, eagerly, tmp_path):
    start = supervised_run("start")
    config = semi_config(f"semi_supervised.start_forward={start.path}", "training.max_steps=1")
    train(config, tmp_path / "run")
    shutil.rmtree(start.path)
    longer = semi_config(f"semi_supervised.start_forward={start.path}", "training.max_steps=2")
    folder = train(longer, tmp_path / "run", resume=True)
    assert read_csv_log(folder.metrics_path)["step"][-1] == 2


def test_other_starts_are_not_noted_once_there_is_a_checkpoint(semi_config, supervised_run, eagerly, tmp_path, capsys):
    start = supervised_run("start")
    train(semi_config(f"semi_supervised.start_forward={start.path}", "training.max_steps=1"), tmp_path / "run")
    assert "weights come from the checkpoint" not in capsys.readouterr().err
    folder = train(
        semi_config("semi_supervised.start_backward=/nowhere", "training.max_steps=2"), tmp_path / "run", resume=True
    )
    assert "the weights come from the checkpoint, not from the runs that" in capsys.readouterr().err
    for path in (folder.path, folder.path / "backward"):
        settings = RunFolder.open(path).config.semi_supervised
        assert settings.starts == {"forward": str(start.path), "backward": None}


def test_a_translator_that_does_not_learn_is_kept_as_it_is_of_the_start_taken_last(
    semi_config, supervised_run, eagerly, tmp_path, monkeypatch
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
    assert_equal_weights(weights_of(tmp_path / "run" / "backward"), weights_of(backward[0].path))
    folder = train(second, tmp_path / "run", resume=True)
    assert_equal_weights(weights_of(folder.path / "backward"), weights_of(backward[1].path))


def test_another_text_is_refused_on_resume(semi_config, eagerly, tmp_path):
    files = {name: tmp_path / name for name in ("train_source", "train_target", "monolingual_source")}
    for path, text in zip(files.values(), ("ab\nba\naab\n", "AB\nBA\nAAB\n", "abb\nbab\n"), strict=True):
        path.write_text(text, encoding="utf-8")
    config = semi_config(
        "data.corpus=files", "data.num_monolingual=null", "data.num_validation=null", "training.max_steps=1",
        *(f"data.{name}={path}" for name, path in files.items()),
    )  # fmt: skip
    train(config, tmp_path / "run")
    files["monolingual_source"].write_text("abb\nbba\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"The training data or its batches are not those that the run of .* began"):
        train(config, tmp_path / "run", resume=True)


def test_the_backward_translator_is_not_trained_by_itself(semi_config, pool, tmp_path):
    folder = RunFolder.create(tmp_path / "run", semi_config(), Vocabulary.from_texts(["1"]))
    with pytest.raises(InputError, match=rf"is the backward translator of the run in .*--resume --run {folder.path}"):
        train(semi_config("semi_supervised.enabled=false"), folder.path / "backward", resume=True, models=pool)


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        (("data.unknown=drop",), r"another vocabulary than this one.*data\.unknown"),
        (("model.dim=6",), r"The model of the run in .*start differs .*: dim 4 there, 6 here"),
        (("model.variant=selu",), r"differs .*: .*activation 'relu' there, 'selu' here"),
        (ATTENTION, r"The model of the run in .*start differs from the model of this run"),
    ],
)
def test_runs_that_cannot_be_started_from_are_explained(semi_config, supervised_run, tmp_path, overrides, message):
    start = supervised_run("start")
    with pytest.raises(InputError, match=message):
        train(semi_config(f"semi_supervised.start_forward={start.path}", *overrides), tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_a_start_of_the_other_direction_is_refused(semi_config, supervised_run, tmp_path):
    start = supervised_run("start")
    with pytest.raises(InputError, match=r"translates de to en, but the backward .* must translate en to de\."):
        train(semi_config(f"semi_supervised.start_backward={start.path}"), tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_what_a_run_starts_from_is_listed_once_however_often_it_begins(
    semi_config, supervised_run, eagerly, tmp_path, monkeypatch
):
    start = supervised_run("start")
    config = semi_config(f"semi_supervised.start_forward={start.path}", "training.max_steps=1")
    with pytest.raises(InputError, match="nan"), failing_at_the_first_step(monkeypatch):
        train(config, tmp_path / "run")
    folder = train(config, tmp_path / "run", resume=True)
    for path in (folder.path, folder.path / "backward"):
        assert read_csv_log(RunFolder(path).metrics_path)["epoch"] == [0, 1]


def test_a_start_that_is_no_run_is_named(semi_config, tmp_path):
    config = semi_config(f"semi_supervised.start_backward={tmp_path / 'nowhere'}")
    with pytest.raises(MissingFileError, match=r"nowhere does not exist; expected the folder of a run"):
        train(config, tmp_path / "run")
    assert not (tmp_path / "run").exists()
    RunFolder.create(tmp_path / "run", config, Vocabulary.from_texts(["1"]))
    with pytest.raises(InputError, match=r"holds a run already\. Resume it with .*--resume"):
        train(config, tmp_path / "run")


def test_apart_needs_two_devices(semi_config, tmp_path):
    for devices in ("null", '["CPU:0"]'):
        config = semi_config("semi_supervised.placement=apart", f"training.devices={devices}")
        with pytest.raises(ConfigError, match=r"placement: apart needs two devices, but training\.devices is"):
            train(config, tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_apart_cannot_be_compiled(semi_config, tmp_path, monkeypatch):
    monkeypatch.setattr("bytenet.training.tasks.semi_supervised_task.check_devices", lambda devices: None)
    config = semi_config(
        "semi_supervised.placement=apart", 'training.devices=["CPU:0","CPU:0"]', "training.jit_compile=true"
    )
    with pytest.raises(InputError, match=r"jit_compile.*auto or false"):
        train(config, tmp_path / "run")


@pytest.mark.slow
def test_the_attention_family_trains_too(semi_config, tmp_path):
    folder = train(semi_config(*ATTENTION), tmp_path / "run")
    metrics = read_csv_log(folder.metrics_path)
    for name in ("loss", "backward_loss", "source_marginal", "val_backward_loss"):
        assert np.isfinite(metrics[name]).all()
