"""Complete semi-supervised runs, as small as possible."""

from types import SimpleNamespace

import numpy as np
import pytest
from click.testing import CliRunner

from bytenet.cli.translate import translate
from bytenet.csv_log import read_csv_log
from bytenet.datasets import Vocabulary, load_corpus
from bytenet.errors import ConfigError, InputError
from bytenet.run_folder import RunFolder
from bytenet.saved.keras_model import save_model
from bytenet.training import train
from bytenet.training.callbacks import StateKeeper
from bytenet.training.checkpoints import latest_checkpoint
from bytenet.training.distribution.cluster import Cluster
from bytenet.training.distribution.workers import Workers
from bytenet.training.tasks import make_task
from bytenet.training.tasks.task import Task


@pytest.fixture(scope="module")
def finished(semi_config, pool, tmp_path_factory):
    """The configuration of a run and its folder."""
    config = semi_config()
    return config, train(config, tmp_path_factory.mktemp("finished") / "run", models=pool)


def test_run_leaves_two_run_folders_that_later_commands_can_use(finished, model_weights):
    config, folder = finished
    assert RunFolder.open(folder.path).config == config
    backward = RunFolder.open(folder.path / "backward")
    assert {key: there for key, _, there in config.differences(backward.config)} == {
        "data.reversed": True,
        "semi_supervised.enabled": False,
    }
    assert backward.vocabulary == folder.vocabulary
    assert backward.environment()["seed"] == config.training.seed
    assert any(np.any(one != other) for one, other in zip(*map(model_weights, (folder, backward)), strict=True))
    for path, line in ((folder.path, "one two"), (backward.path, "12")):
        result = CliRunner().invoke(translate, [str(path), "--beam-size", "1"], input=f"{line}\n{line}\n".encode())
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
        assert one.environment()["trainable_parameters"] == sum(map(np.size, one.load_model().trainable_weights))
    assert (backward.path / "logs" / "validation").is_dir()


def test_the_backward_translator_has_no_reranker(semi_config):
    """The one of the run is for the forward translator: its model translates backward."""
    forward, backward = make_task(semi_config("decoding.rerank_with=other")).directions
    assert forward.config.decoding.rerank_with is not None
    assert backward.config.decoding.rerank_with is None


def test_both_saved_models_have_their_averaged_weights(finished):
    _, folder = finished
    rows = read_csv_log(folder.metrics_path)
    with np.load(latest_checkpoint(folder.checkpoints)) as saved:
        averages = [saved[name] for name in saved.files if name.endswith("average")]
    assert len(averages) == 2
    for path, average, scores in zip(
        (folder.path, folder.path / "backward"), averages, ("val_loss", "val_backward_loss"), strict=True
    ):
        assert rows[scores][-1] == min(rows[scores]), "the average of the best model is not in the last checkpoint"
        table = RunFolder.open(path).load_model().source_embedding.table
        np.testing.assert_allclose(table, average[: np.prod(table.shape)].reshape(table.shape), rtol=1e-6)


@pytest.mark.parametrize("direction", ["forward", "backward"])
def test_run_ends_if_the_gradient_of_a_translator_is_nan(
    semi_config, pool, unmeasured, tmp_path, monkeypatch, direction
):
    count = StateKeeper.on_train_batch_end

    def spoil_and_count(self, batch, logs=None):
        self.model.translator(direction).optimizer.gradient_norm.assign(np.nan)
        count(self, batch, logs)

    monkeypatch.setattr(StateKeeper, "on_train_batch_end", spoil_and_count)
    with pytest.raises(InputError, match=r"norm of the gradient is nan at step 1\. .*learning_rate"):
        train(semi_config(), tmp_path / "run", models=pool)


@pytest.mark.thorough
@pytest.mark.parametrize(("trained", "frozen"), [("forward", "backward"), ("backward", "forward")])
def test_frozen_translator_is_saved_unchanged(
    semi_config, supervised_run, eagerly, tmp_path, trained, frozen, model_weights, assert_equal_weights, capsys
):
    start = supervised_run("start", f"data.reversed={frozen == 'backward'}")
    config = semi_config(
        f"semi_supervised.trained={trained}", f"semi_supervised.start_{frozen}={start.path}", "training.max_steps=1",
        "evaluation.continuous_every_steps=1",
    )  # fmt: skip
    folder = train(config, tmp_path / "run")
    folders = {"forward": folder.path, "backward": folder.path / "backward"}
    assert_equal_weights(model_weights(folders[frozen]), model_weights(start))
    assert f"The model is {RunFolder(folders[trained]).model_path}: " in capsys.readouterr().err
    metrics = read_csv_log(folder.metrics_path)
    assert np.isnan(metrics["backward_loss"]).all()
    assert np.isfinite([*metrics["loss"], *metrics["source_marginal"]]).all()
    assert metrics["character_error"][0] > 0
    for direction, name in (("forward", "val_loss"), ("backward", "val_backward_loss")):
        assert np.isfinite(metrics[name][0]) == (direction == trained)


@pytest.mark.parametrize(
    ("trained", "of_start", "kept"),
    [
        ("both", 2.5, [3, 1]),
        pytest.param("both", 0.5, [0, 1], marks=pytest.mark.thorough),
        pytest.param("backward", None, [None, 1], marks=pytest.mark.thorough),
    ],
)
def test_each_trained_translator_is_kept_at_its_own_best(
    semi_config, supervised_run, pool, model_weights, assert_equal_weights, tmp_path, monkeypatch, capsys, trained,
    of_start, kept,
):  # fmt: skip
    """After the start, the forward translator improves with each epoch, and the backward translator gets worse."""
    scores = {"forward": [3.0, 2.0, 1.0], "backward": [1.0, 2.0, 3.0]}
    measured_on, drawn_from, measured_after, kept_after = {}, [], [0], {}
    start = supervised_run("start")
    names = [name for name in scores if trained in ("both", name)]
    order = iter([(name, epoch) for epoch in range(3) for name in names])
    started = iter([] if of_start is None else [of_start])

    def measure(self):
        for score in started:
            return {"val_loss": score}, [""] * len(self.pairs)
        name, epoch = next(order)
        measured_on[name] = self.pairs
        measured_after.append(epoch + 1)
        return {"val_loss": scores[name][epoch]}, [""] * len(self.pairs)

    def save_and_note(model, path):
        save_model(model, path)
        kept_after[path] = measured_after[-1]

    monkeypatch.setattr("bytenet.training.validation.Validator.whole_set", measure)
    monkeypatch.setattr("bytenet.training.callbacks.whole_set_evaluation.save_model", save_and_note)
    monkeypatch.setattr("bytenet.training.steps.BatchSampler", lambda pairs, *more: drawn_from.append(pairs))
    config = semi_config(
        f"semi_supervised.trained={trained}", f"semi_supervised.start_forward={start.path}", "training.max_steps=3",
        "data.num_train=16", "training.epochs=3", "evaluation.num_samples=0", "evaluation.continuous_every_steps=null",
        "evaluation.continuous_train=true",
    )  # fmt: skip
    folder = train(config, tmp_path / "run", models=pool)
    corpus = load_corpus(config.data)
    validation = {"forward": corpus.validation, "backward": corpus.validation.reversed()}
    assert measured_on == {name: validation[name] for name in names}
    train_pairs = corpus.train if names[0] == "forward" else corpus.train.reversed()
    assert drawn_from == [validation[names[0]], train_pairs], "random batches are the first one's that learns"
    for path, after in zip((folder.path, folder.path / "backward"), kept, strict=True):
        if after is not None:
            assert kept_after[RunFolder(path).model_path] == after
        if not after:
            assert_equal_weights(model_weights(path), model_weights(start))
    metrics = read_csv_log(folder.metrics_path)
    messages = capsys.readouterr().err
    if of_start is None:
        assert list(metrics["epoch"]) == [1, 2, 3]
        assert "before the first step" not in messages
    else:
        assert list(metrics["epoch"]) == [0, 1, 2, 3]
        assert (metrics["step"][0], metrics["val_loss"][0]) == (0, of_start)
        assert f"before the first step: val_loss {of_start}" in messages


def test_each_translator_has_an_optimiser_of_the_configured_kind(
    semi_config, final_state, eagerly, unmeasured, tmp_path
):
    momentum = "training.optimizer_arguments={momentum: 0.9, nesterov: true}"
    train(semi_config("training.optimizer=sgd", momentum, "training.max_steps=1"), tmp_path / "run")
    _, arrays = final_state(tmp_path / "run")
    optimizer = {name: value for name, value in arrays.items() if name.startswith("optimizer/")}
    momentums = [value for name, value in optimizer.items() if name.endswith("_momentum")]
    averages = [value for name, value in optimizer.items() if name.endswith("_average")]
    weights = [name for name in arrays if name.startswith("model/") and "seed_generator" not in name]
    assert len(momentums) == len(averages) < len(weights)
    for half in (momentums[: len(momentums) // 2], momentums[len(momentums) // 2 :]):
        assert any(np.any(momentum) for momentum in half)
    norms = [value for name, value in optimizer.items() if name.endswith("gradient_norm")]
    assert len(norms) == 2
    assert all(norms)


def test_changed_text_is_refused_on_resume(semi_config, eagerly, unmeasured, tmp_path):
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


def test_backward_translator_cannot_be_trained_alone(semi_config, pool, tmp_path):
    folder = RunFolder.create(tmp_path / "run", semi_config(), Vocabulary.from_texts(["1"]))
    with pytest.raises(InputError, match=rf"is the backward translator of the run in .*--resume --run {folder.path}"):
        train(semi_config("semi_supervised.enabled=false"), folder.path / "backward", resume=True, models=pool)


def test_placement_apart_needs_two_devices(semi_config, tmp_path):
    for devices in ("null", '["CPU:0"]'):
        config = semi_config("semi_supervised.placement=apart", f"training.devices={devices}")
        with pytest.raises(ConfigError, match=r"placement: apart needs two devices, but training\.devices is"):
            train(config, tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_placement_apart_is_refused_for_several_workers(semi_config):
    workers = Workers(Cluster(("localhost:1", "localhost:2"), 0))
    with pytest.raises(ConfigError, match=r"placement is apart, but 2 workers train together\. Set it to replicated:"):
        make_task(semi_config("semi_supervised.placement=apart"), workers=workers)


def test_translators_of_several_devices_must_have_the_same_statistics(semi_config, monkeypatch):
    monkeypatch.setattr(Task, "_make_strategy", lambda self: SimpleNamespace(num_replicas_in_sync=2))
    with pytest.raises(ConfigError, match=r"training\.sync_batch_norm is false, but .* several devices or workers"):
        make_task(semi_config("training.sync_batch_norm=false"))


def test_placement_apart_cannot_be_compiled(semi_config, tmp_path, monkeypatch):
    monkeypatch.setattr("bytenet.training.tasks.semi_supervised_task.check_devices", lambda devices: None)
    config = semi_config(
        "semi_supervised.placement=apart", 'training.devices=["CPU:0","CPU:0"]', "training.jit_compile=true"
    )
    with pytest.raises(InputError, match=r"jit_compile.*auto or false"):
        train(config, tmp_path / "run")


@pytest.mark.slow
def test_recurrent_family_trains_too(semi_config, tmp_path):
    config = semi_config("model.family=recurrent", "model.num_sets=null", "model.dilations=null")
    folder = train(config, tmp_path / "run")
    metrics = read_csv_log(folder.metrics_path)
    for name in ("loss", "backward_loss", "source_marginal", "val_backward_loss"):
        assert np.isfinite(metrics[name]).all()
