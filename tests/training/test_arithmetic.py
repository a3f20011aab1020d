"""How runs calculate: with every variant, in mixed precision, with XLA, and with a model of another run."""

import keras
import numpy as np
import pytest

from bytenet.csv_log import read_csv_log
from bytenet.training import train


@pytest.mark.parametrize("variant", ["bytenet", "simplified", "selu", "no_norm"])
def test_every_variant_trains_with_the_settings_of_the_thesis(smallest_config, eagerly, tmp_path, variant):
    config = smallest_config(
        f"model.variant={variant}", "model.settings=thesis", "data.unknown=drop", "training.loss=sentence",
        "training.clip_norm=null", "evaluation.batch_norm_statistics=batch", "training.max_steps=1",
    )  # fmt: skip
    folder = train(config, tmp_path / "run")
    assert np.isfinite(read_csv_log(folder.metrics_path)["val_loss"][0])


def test_mixed_precision_trains(smallest_config, policy, tmp_path):
    trained = keras.callbacks.Callback()  # gets the model
    with policy("float32"):
        folder = train(smallest_config("training.mixed_precision=true"), tmp_path / "run", more_callbacks=[trained])
    encoder = trained.model.encoder
    assert (encoder.compute_dtype, encoder.variable_dtype) == ("bfloat16", "float32")
    losses = read_csv_log(folder.metrics_path)["loss"]
    assert losses[1] < losses[0]


def test_run_compiled_with_xla_has_nearly_the_same_losses(smallest_config, pool, unmeasured, tmp_path):
    trained = keras.callbacks.Callback()  # gets the model
    plain = train(smallest_config(), tmp_path / "plain", models=pool)
    compiled = train(smallest_config("training.jit_compile=true"), tmp_path / "compiled", more_callbacks=[trained])
    assert trained.model.jit_compile is True
    losses = [read_csv_log(folder.metrics_path)["loss"] for folder in (plain, compiled)]
    assert losses[0] == pytest.approx(losses[1], rel=1e-3)


@pytest.fixture(scope="module")
def measured_alone(smallest_config, tmp_path_factory):
    """The metrics of a run that reuses no model of another run."""
    folder = train(smallest_config("training.epochs=1"), tmp_path_factory.mktemp("alone") / "run")
    return read_csv_log(folder.metrics_path)


@pytest.mark.thorough
@pytest.mark.parametrize("before", ["evaluation.beam_size=2", "evaluation.batch_norm_statistics=batch"])
def test_reused_model_is_measured_with_the_settings_of_its_run(smallest_config, measured_alone, pool, tmp_path, before):
    train(smallest_config("training.epochs=1", before), tmp_path / "before", models=pool)
    again = read_csv_log(train(smallest_config("training.epochs=1"), tmp_path / "run", models=pool).metrics_path)
    for name in ("loss", "val_loss", "val_chrf", "val_misclassification"):
        assert again[name] == pytest.approx(measured_alone[name], rel=1e-4), name
