"""A model saved here and loaded in another process gives the same numbers, bit for bit."""

import os
import subprocess
import sys

import numpy as np
import pytest
from keras.ops import convert_to_numpy

from bytenet.config.families.bytenet import ByteNetConfig

LOAD = """
import sys
from pathlib import Path
import keras
import numpy as np
import bytenet.models

folder = Path(sys.argv[1])
ids = dict(np.load(folder / "inputs.npz"))
for path in sorted(folder.glob("*.keras")):
    model = keras.saving.load_model(path)
    assert type(model) is bytenet.models.ByteNet, type(model)
    logits = keras.ops.convert_to_numpy(model(ids))
    memory = model.encode(ids["source_ids"])
    first = model.step(np.zeros(2, "int32"), model.initial_state(memory, 9), memory, 0)[0]
    np.savez(path.with_suffix(".loaded.npz"), logits=logits, first=keras.ops.convert_to_numpy(first),
             **{weight.path: keras.ops.convert_to_numpy(weight) for weight in model.weights})
"""

MODELS = {variant: {"variant": variant} for variant in ByteNetConfig.VARIANTS} | {
    "thesis": {"variant": "simplified", "settings": "thesis"},
    "dropout": {"variant": "selu", "dropout": 0.2, "join": "add", "unfold_scale": 1.5},
    # Where it is loaded, mixed precision is not the default.
    "bfloat16": {"variant": "bytenet", "dtype": "mixed_bfloat16"},
}


@pytest.fixture(scope="module")
def saved_and_loaded(tmp_path_factory, narrow_bytenet):
    """Folder with inputs, and for each model its file and what the other process found in it."""
    folder = tmp_path_factory.mktemp("models")
    random = np.random.default_rng(0)
    ids = {name: random.integers(1, 11, size=(2, 9)).astype("int32") for name in ("source_ids", "target_ids")}
    np.savez(folder / "inputs.npz", **ids)
    expected = {}
    for name, arguments in MODELS.items():
        model = narrow_bytenet(**arguments).model
        memory = model.encode(ids["source_ids"])
        first = model.step(np.zeros(2, "int32"), model.initial_state(memory, 9), memory, 0)[0]
        expected[name] = {
            "logits": convert_to_numpy(model(ids)),
            "first": convert_to_numpy(first),
            **{weight.path: convert_to_numpy(weight) for weight in model.weights},
        }
        model.save(folder / f"{name}.keras")
    command = [sys.executable, "-c", LOAD, str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=200, env=os.environ, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    return folder, expected


@pytest.mark.parametrize("name", MODELS)
def test_loaded_model_is_equal_bit_for_bit(saved_and_loaded, name):
    folder, expected = saved_and_loaded
    loaded = dict(np.load(folder / f"{name}.loaded.npz"))
    assert loaded.keys() == expected[name].keys()
    for key, values in expected[name].items():
        np.testing.assert_array_equal(loaded[key], values, err_msg=key)
