"""Every family learns from pairs and monolingual text together. Tests of tasks train the default family so."""

from dataclasses import replace

import numpy as np
import pytest
from keras.ops import convert_to_numpy

from bytenet.config import load_config
from bytenet.config.families import DEFAULT_FAMILY
from bytenet.csv_log import read_csv_log
from bytenet.models import build_model
from bytenet.run_folder import RunFolder
from bytenet.training import train
from bytenet.training.compiled_models.trainable_model import set_seed

from .cases import FAMILY_CASES, parametrize

SETTINGS = [
    "data.num_train=32", "data.num_validation=8", "data.num_monolingual=16", "data.batch_size=16",
    "data.bucketing=none", "semi_supervised.enabled=true", "semi_supervised.beam_size=2",
    "semi_supervised.bucketing=none", "training.max_steps=2", "training.jit_compile=false", "training.keep_model=last",
    "evaluation.continuous_every_seconds=null", "evaluation.every_epochs=1",
]  # fmt: skip


@pytest.mark.thorough
@parametrize([case for case in FAMILY_CASES if case.config.family != DEFAULT_FAMILY])
def test_both_translators_learn_from_pairs_and_text(case, tmp_path, eagerly):
    config = load_config("digits", SETTINGS)
    config = replace(config, model=replace(case.config, unfold_scale=1.0, unfold_offset=15))
    folder = train(config, tmp_path / "run")
    metrics = read_csv_log(folder.metrics_path)
    for name in ("loss", "backward_loss", "source_marginal", "target_marginal", "val_loss"):
        assert np.isfinite(metrics[name]).all(), name
    set_seed(config.training.seed)
    first = build_model(config.model, folder.vocabulary.size).get_weights()
    for one in (folder, RunFolder.open(folder.path / "backward")):
        changes = [
            np.abs(convert_to_numpy(weight) - before).max()
            for weight, before in zip(one.load_model().weights, first, strict=True)
        ]
        assert max(changes) > 1e-4
