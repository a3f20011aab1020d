"""`bytenet prepare` and `bytenet fit`: a run folder that later commands use like any other."""

import pytest
from click.testing import CliRunner

from bytenet.cli.fit import fit
from bytenet.cli.prepare import prepare
from bytenet.cli.translate import translate

SMALL = (
    "model.dim=4", "model.num_sets=1", "model.dilations=[1]", "data.num_train=32", "data.num_validation=8",
    "data.batch_size=16", "data.bucketing=none", "training.epochs=1", "training.jit_compile=false",
)  # fmt: skip


@pytest.fixture(scope="module")
def fitted(tmp_path_factory):
    """The folder of a prepared and fitted run, and the messages of both commands."""
    folder = tmp_path_factory.mktemp("prepared") / "a run"
    arguments = ["digits", "--run", str(folder), *(part for setting in SMALL for part in ("--set", setting))]
    results = CliRunner().invoke(prepare, arguments), CliRunner().invoke(fit, [str(folder)])
    assert [(result.exit_code, result.stdout) for result in results] == [(0, ""), (0, "")]
    return folder, [result.stderr for result in results]


def test_messages_say_how_to_train_and_what_was_measured(fitted):
    folder, (prepared, trained) = fitted
    assert f"Prepared {folder}. Train with: KERAS_BACKEND=jax python -m bytenet fit '{folder}'" in prepared
    assert trained.startswith("32 pairs, 2 batches an epoch, 2 steps, ")
    assert "epoch 1, " in trained
    assert "val_loss" in trained


def test_fitted_run_translates_like_any_other(fitted, invoke):
    folder, _ = fitted
    assert invoke(translate, folder, "--no-xla", "--max-length", 4, stdin=b"ein Hund\nzwei\n").stdout.count("\n") == 2
    assert {"config.yaml", "metrics.csv", "model.keras", "checkpoints"} <= {path.name for path in folder.iterdir()}


def test_a_preset_or_a_corpus_is_needed(tmp_path):
    result = CliRunner().invoke(prepare, ["--run", str(tmp_path / "run")])
    assert result.exit_code == 2
    assert "Missing PRESET_OR_FILE, for example: bytenet prepare numbers --run runs/numbers\n" in result.stderr
    settings = ("data.corpus=digits", "data.num_train=32", "data.num_validation=8", "training.epochs=1")
    arguments = [part for setting in settings for part in ("--set", setting)]
    result = CliRunner().invoke(prepare, ["--run", str(tmp_path / "run"), *arguments])
    assert result.exit_code == 0, result.output
    assert result.stderr.startswith("32 pairs: preset pairs-2k-bahdanau\n")
    assert "warning: the learning rate rises until the end, because training.warmup_steps is 200" in result.stderr
