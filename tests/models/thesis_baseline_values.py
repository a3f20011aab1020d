"""The numbers of the thesis's attention baseline: initial weights, logits, training steps and a beam search.

`python -m tests.models.thesis_baseline_values FILE` writes them as JSON. `thesis_baseline_values.json` has those of the
code from before the recurrent family existed.
"""

import json
import sys
import tempfile
import zipfile
from pathlib import Path

import h5py
import keras
import numpy as np
import tensorflow as tf
from keras.ops import convert_to_numpy

from bytenet.config import ModelConfig, load_config
from bytenet.decoding import beam_search
from bytenet.models import build_model
from bytenet.training.losses import sentence_cross_entropy

VOCAB_SIZE = 7
SOURCES = np.array([[3, 4, 5, 2, 1, 0], [6, 2, 1, 0, 0, 0], [5, 5, 3, 4, 6, 1]], "int32")
TARGETS = np.array([[4, 4, 1, 0, 0], [2, 5, 6, 3, 1], [3, 1, 0, 0, 0]], "int32")
# Settings by the names that they had in the family `attention`.
CASES = {
    "dense": [],
    "bounded, dropout": ["model.variant=bounded", "model.dropout=0.3", "model.num_layers=1"],
    "bounded, thesis settings": ["model.variant=bounded", "model.settings=thesis", "model.initializer=thesis_code"],
    "dense, thesis settings, dropout": ["model.settings=thesis", "model.dropout=0.2"],
}


def model_config(case: str) -> ModelConfig:
    """The configuration of a case, read from settings of the old form."""
    common = ["model.num_sets=null", "model.dilations=null", "model.dropout=0.0", "model.family=attention"]
    return load_config("digits", [*common, "model.dim=2", "model.num_layers=2", *CASES[case]]).model


def values_of(case: str) -> dict:
    """All numbers of a case, as lists."""
    keras.utils.set_random_seed(3)
    model = build_model(model_config(case), VOCAB_SIZE)
    values = {"first weights": {weight.path: [*weight.shape, *_numbers(weight)[:3]] for weight in model.weights}}
    values["logits"] = _numbers(model({"source_ids": SOURCES, "target_ids": TARGETS}))
    values["losses"] = [_train(model) for _ in range(4)]
    result = beam_search(model, SOURCES, max_length=6, beam_size=3, n_best=2)
    values["hypotheses"] = _numbers(result.ids)
    values["scores"] = _numbers(result.scores)
    values["datasets of the saved model"], values["configuration of the saved model"] = _saved(model)
    return values


def _train(model) -> float:
    """One step of gradient descent on all pairs. Returns the loss."""
    with tf.GradientTape() as tape:
        logits = model({"source_ids": SOURCES, "target_ids": TARGETS}, training=True)
        loss = tf.reduce_mean(sentence_cross_entropy(logits, TARGETS))
    gradients = tape.gradient(loss, [weight.value for weight in model.trainable_weights])
    for weight, gradient in zip(model.trainable_weights, gradients, strict=True):
        weight.assign_sub(0.5 * tf.convert_to_tensor(gradient))
    return float(loss)


def _saved(model) -> tuple[dict[str, list[int]], dict]:
    """The names and shapes of the arrays in a saved model, and its configuration."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.keras"
        model.save(path)
        with zipfile.ZipFile(path) as archive:
            archive.extractall(folder)
        shapes: dict[str, list[int]] = {}
        with h5py.File(Path(folder) / "model.weights.h5") as file:
            file.visititems(
                lambda name, item: shapes.update({name: list(item.shape)}) if isinstance(item, h5py.Dataset) else None
            )
        return shapes, json.loads((Path(folder) / "config.json").read_text())


def _numbers(tensor) -> list:
    return np.asarray(convert_to_numpy(tensor), "float64").round(9).ravel().tolist()


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(json.dumps({case: values_of(case) for case in CASES}, indent=None))
