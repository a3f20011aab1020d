"""The thesis's recurrent baseline: its head and initial weights, the numbers of older versions, and their files."""

import json
import zipfile
from dataclasses import replace
from pathlib import Path

import keras
import numpy as np
import pytest
from keras.ops import convert_to_numpy

from bytenet.config.families.recurrent import RecurrentConfig
from bytenet.models import RecurrentTranslator, build_model

from ..contract.cases import draw_sentences, narrow, randomize
from . import thesis_baseline_values as recorded


def test_bounded_logits_limit_the_probability_of_a_symbol():
    """At most e / (e + (V - 1) / e). For the 28 symbols of the thesis's digits: at most .215, at least 1.537 nats."""
    model = build_model(narrow(RecurrentConfig, variant="madsen_bounded"), 28)
    randomize(model)
    for weight in model.weights:
        weight.assign(100.0 * weight)  # as certain as possible
    source, target = draw_sentences([9, 20])
    logits = model({"source_ids": np.array([source], "int32"), "target_ids": np.array([target], "int32")})
    assert np.abs(logits).max() == pytest.approx(1.0, abs=1e-3)
    assert np.abs(logits).max() <= 1.0
    cap = np.e / (np.e + 27 / np.e)
    assert cap == pytest.approx(0.215, abs=5e-4)
    assert -np.log(cap) == pytest.approx(1.54, abs=5e-3)
    assert convert_to_numpy(keras.ops.softmax(logits)).max() <= cap + 1e-6


# d = 20, V = 28: two tables, six RNNs, keys, two GRUs, the map of the attention, and the head.
@pytest.mark.parametrize(
    ("kind", "weights"),
    [
        ("madsen", 1080 + 4920 + 1600 + 7320 + 14520 + 3200 + 41 * 28),
        ("madsen_bounded", 1080 + 4920 + 1600 + 7320 + 14520 + 3200 + 69 * 84),
    ],
)
def test_number_of_weights(kind, weights):
    assert build_model(RecurrentConfig(variant=kind), 28).count_params() == weights


@pytest.mark.parametrize("kind", ["madsen", "madsen_bounded"])
def test_initial_weights_have_the_bounds_of_the_thesis_code(kind):
    model = build_model(RecurrentConfig(variant=kind, initializer="thesis_code"), 28)
    by_path = {weight.path: convert_to_numpy(weight) for weight in model.trainable_weights}
    grus = [path.rpartition("/")[0] for path in by_path if path.endswith("gru/bias") or "head/cell/bias" in path]
    assert len(grus) == (3 if kind == "madsen_bounded" else 2)
    for path in grus:
        kernel, recurrent, bias = (by_path[f"{path}/{name}"] for name in ("kernel", "recurrent_kernel", "bias"))
        units = recurrent.shape[0]
        np.testing.assert_array_equal(bias, [1] * 2 * units + [0] * units)
        rows = kernel.shape[0] + units
        for matrix in (kernel, recurrent):
            gates, candidate = np.abs(matrix[:, : 2 * units]).max(), np.abs(matrix[:, 2 * units :]).max()
            assert 0.9 * (6 / (rows + 2 * units)) ** 0.5 < gates <= (6 / (rows + 2 * units)) ** 0.5
            assert 0.9 * (6 / (rows + units)) ** 0.5 < candidate <= (6 / (rows + units)) ** 0.5


RECORDED = json.loads(Path(recorded.__file__).with_suffix(".json").read_text())


@pytest.mark.parametrize("case", recorded.CASES)
def test_baseline_trains_and_searches_as_in_the_former_family(case):
    """Names and first numbers of all initial weights, logits, losses of training, hypotheses and scores.

    All are the same up to the rounding of another machine.
    """
    values, expected = recorded.values_of(case), RECORDED[case]
    assert values["first weights"].keys() == expected["first weights"].keys()
    for path, numbers in expected["first weights"].items():
        np.testing.assert_allclose(values["first weights"][path], numbers, atol=1e-6, err_msg=path)
    for name in ("logits", "losses", "scores"):
        np.testing.assert_allclose(values[name], expected[name], rtol=1e-4, atol=1e-5, err_msg=name)
    assert values["hypotheses"] == expected["hypotheses"]
    assert values["datasets of the saved model"] == expected["datasets of the saved model"]


# What the first version of the former family did not write. Its models all had the values that most cases have.
NOT_IN_FIRST_VERSION = ("family", "variant", "settings", "initializer")
VERSIONS = {"last version": (), "first version": NOT_IN_FIRST_VERSION}
SAVED = [
    pytest.param(case, missing, id=f"{case}, {version}")
    for case in recorded.CASES
    for version, missing in VERSIONS.items()
    if not missing or recorded.model_config(case).initializer == "auto"
]


@pytest.mark.parametrize(("case", "missing"), SAVED)
def test_model_saved_by_the_former_family_is_loaded(case, missing, tmp_path):
    model = build_model(recorded.model_config(case), recorded.VOCAB_SIZE)
    model.save(tmp_path / "present.keras")
    # An older version wrote another configuration to the same arrays, see the test before.
    configuration = json.loads(json.dumps(RECORDED[case]["configuration of the saved model"]))
    for name in missing:
        del configuration["config"][name]
    old_config = json.dumps(configuration)
    with (
        zipfile.ZipFile(tmp_path / "present.keras") as present,
        zipfile.ZipFile(tmp_path / "old.keras", "w") as old,
    ):
        for name in present.namelist():
            old.writestr(name, old_config if name == "config.json" else present.read(name))
    loaded = keras.saving.load_model(tmp_path / "old.keras")
    assert isinstance(loaded, RecurrentTranslator)
    assert replace(loaded.config, settings=model.config.settings) == model.config
    inputs = {"source_ids": recorded.SOURCES, "target_ids": recorded.TARGETS}
    np.testing.assert_array_equal(loaded(inputs), model(inputs))
