"""Layers, models and losses run on every backend of Keras, with TensorFlow out of reach.

Other backends are not installed with the tests; by hand: `pip install jax` (or torch, its CPU build), then this file.
"""

import importlib.util
import os
import subprocess
import sys

import pytest

SCRIPT = """
import sys

sys.modules["tensorflow"] = None  # an import of it fails, whether it is installed or not

import keras
import numpy as np

from bytenet.config.families.attention import AttentionConfig
from bytenet.config.families.bytenet import ByteNetConfig
from bytenet.models import build_model
from bytenet.training.losses import SentenceCrossEntropy
from bytenet.training.metrics import CharacterError
from bytenet.training.optimizers.schedules import WarmupDecay

assert keras.backend.backend() == sys.argv[1], keras.backend.backend()
keras.utils.set_random_seed(1)
to_numpy = keras.ops.convert_to_numpy
random = np.random.default_rng(0)
ids = {name: random.integers(2, 9, size=(8, length)).astype("int32")
       for name, length in [("source_ids", 6), ("target_ids", 11)]}
for row in range(4):  # some padding
    ids["source_ids"][row, 3 + row // 2 :] = 0
    ids["target_ids"][row, 5 + row :] = 0

models = {
    variant: build_model(
        ByteNetConfig(variant=variant, dim=8, num_sets=1, dilations=(1, 2), dropout=0.1,
                      settings="thesis" if variant == "simplified" else "default"), 9
    )
    for variant in ByteNetConfig.VARIANTS
}
models["dense"] = build_model(AttentionConfig(dim=8, dropout=0.1), 9)
models["bounded"] = build_model(AttentionConfig(dim=8, head="bounded", mask_padding=False), 9)

for variant, model in models.items():
    model.compile(keras.optimizers.Adam(WarmupDecay(1e-2, "cosine", 3, 40, 1e-3)),
                  SentenceCrossEntropy(0.1), metrics=[CharacterError()])
    history = model.fit(ids, ids["target_ids"], sample_weight=np.full(8, 0.1, "float32"), batch_size=8,
                        epochs=10 if variant in ("bytenet", "dense") else 2, shuffle=False, verbose=0).history
    assert history["loss"][-1] < history["loss"][0], (variant, history)

    logits = to_numpy(model(ids))
    assert logits.dtype == "float32" and logits.shape == (8, 11, 9)
    alone = {name: values[:1, : 3 if name == "source_ids" else 5] for name, values in ids.items()}
    if model.config.mask_padding:
        np.testing.assert_allclose(logits[:1, :5], to_numpy(model(alone)), atol=1e-5)
    memory = model.encode(ids["source_ids"])
    state = model.initial_state(memory, 11)
    for position, previous_ids in enumerate(np.pad(ids["target_ids"], [[0, 0], [1, 0]])[:, :-1].T):
        step_logits, state = model.step(keras.ops.array(previous_ids), state, memory, position)
        np.testing.assert_allclose(to_numpy(step_logits), logits[:, position], atol=1e-5)
    assert float(to_numpy(SentenceCrossEntropy()(ids["target_ids"], logits))) > 0
"""


@pytest.mark.parametrize("backend", ["jax", "torch"])
def test_trains_and_steps_on_another_backend(backend):
    if importlib.util.find_spec(backend) is None:
        pytest.skip(f"{backend} is not installed")
    command = [sys.executable, "-c", SCRIPT, backend]
    environment = os.environ | {"KERAS_BACKEND": backend, "CUDA_VISIBLE_DEVICES": ""}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=250, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
