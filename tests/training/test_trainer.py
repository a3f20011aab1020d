"""Complete runs, as small as possible: the files they leave, and how they measure."""

import json

import numpy as np
import pytest

from bytenet.csv_log import read_csv_log
from bytenet.datasets import load_corpus, pair_lengths
from bytenet.run_folder import RunFolder
from bytenet.training import train
from bytenet.training.callbacks import TrainingLog
from bytenet.training.checkpoints import checkpoints, latest_checkpoint

from .tensorboard_logs import read_log


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


def test_configured_number_of_checkpoints_is_kept(smallest_config, pool, tmp_path):
    config = smallest_config("training.checkpoint_every_steps=1", "training.keep_checkpoints=2")
    folder = train(config, tmp_path / "run", models=pool)
    assert [path.name for path in checkpoints(folder.checkpoints)] == ["step-00000005.npz", "step-00000006.npz"]


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
