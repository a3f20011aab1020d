"""What every family promises about its configuration, its initial weights, and saved models."""

import os
import pickle
import subprocess
import sys

import keras
import numpy as np
from keras.ops import convert_to_numpy

from bytenet.models import build_model, model_class

from .cases import CASES, FAMILY_CASES, VARIANT_CASES, VOCAB_SIZE, draw_sentences, pad, parametrize
from .traced_model import traced


@parametrize(CASES)
def test_model_is_rebuilt_from_its_configuration(case):
    model = model_class(type(case.config))(case.config, VOCAB_SIZE)
    again = type(model).from_config(model.get_config())
    assert again.config == case.config
    assert again.vocab_size == VOCAB_SIZE
    assert again.get_config() == model.get_config()


@parametrize(FAMILY_CASES)
def test_initial_weights_follow_the_global_seed(case):
    def draw(seed):
        keras.utils.set_random_seed(seed)
        return np.concatenate([weight.ravel() for weight in build_model(case.config, VOCAB_SIZE).get_weights()])

    first = draw(1)
    np.testing.assert_array_equal(draw(1), first)
    assert not np.array_equal(draw(2), first)


LOAD = """
import pickle, sys
from pathlib import Path
import keras
import numpy as np
import bytenet.models

folder = Path(sys.argv[1])
source_ids = np.load(folder / "source_ids.npy")
loaded = {}
for path in sorted(folder.glob("*.keras")):
    model = keras.saving.load_model(path)
    memory = model.encode(source_ids)
    first = model.step(np.zeros(2, "int32"), model.initial_state(memory, 40), memory, 0)[0]
    arrays = {weight.path: keras.ops.convert_to_numpy(weight) for weight in model.weights}
    arrays["first logits"] = keras.ops.convert_to_numpy(first)
    loaded[path.stem] = type(model).__name__, model.get_config(), arrays
(folder / "loaded.pickle").write_bytes(pickle.dumps(loaded))
"""


def test_model_loaded_in_another_process_is_bit_identical(policy, tmp_path):
    source_ids = pad(draw_sentences([9, 5]))
    np.save(tmp_path / "source_ids.npy", source_ids)
    models = [traced(case.config).model for case in VARIANT_CASES]
    # Mixed precision is not the default in the process that loads the model.
    with policy("mixed_bfloat16"):
        models.append(build_model(CASES[0].config, VOCAB_SIZE))
    for index, model in enumerate(models):
        model.save(tmp_path / f"{index}.keras")
    command = [sys.executable, "-c", LOAD, str(tmp_path)]
    process = subprocess.run(command, capture_output=True, text=True, timeout=200, env=os.environ, check=False)
    assert process.returncode == 0, process.stderr[-3000:]
    loaded = pickle.loads((tmp_path / "loaded.pickle").read_bytes())
    for index, model in enumerate(models):
        kind, config, arrays = loaded[str(index)]
        assert (kind, config) == (type(model).__name__, model.get_config())
        memory = model.encode(source_ids)
        first = model.step(np.zeros(2, "int32"), model.initial_state(memory, 40), memory, 0)[0]
        expected = {weight.path: convert_to_numpy(weight) for weight in model.weights}
        expected["first logits"] = convert_to_numpy(first)
        assert arrays.keys() == expected.keys()
        for key, values in expected.items():
            np.testing.assert_array_equal(arrays[key], values, err_msg=key)
