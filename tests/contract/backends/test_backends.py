"""Layers, models, losses and schedules give the same values on TensorFlow and on the other Keras backends.

`make test-backends` installs the other backends in an environment without TensorFlow, and runs these tests.
BACKENDS_PYTHON names the Python of that environment.
"""

import importlib
import importlib.util
import os
import pickle
import pkgutil
import subprocess
import sys
from pathlib import Path

import keras
import numpy as np
import pytest

import bytenet.layers
from bytenet.models import build_model
from bytenet.private_api import all_layers

from ..cases import VARIANT_CASES, VOCAB_SIZE
from .layers import LAYERS
from .values import PARTS

# Most of JAX's time is compilation.
ON_A_CPU = {"CUDA_VISIBLE_DEVICES": "", "JAX_PLATFORMS": "cpu", "JAX_DISABLE_MOST_OPTIMIZATIONS": "1"}
# Nothing random in a step.
SMALLEST = (
    "model.dim=8", "model.num_sets=1", "model.dilations=[1, 2]", "model.dropout=0.0", "data.num_train=48",
    "data.num_validation=8", "data.batch_size=16", "data.num_buckets=2", "training.epochs=2",
    "training.jit_compile=false", "training.ema_momentum=0.5", "training.optimizer=keras_adam",
)  # fmt: skip
ROOT = Path(__file__).parents[3]
OTHER_PYTHON = os.environ.get("BACKENDS_PYTHON")
OTHER_BACKENDS = [
    backend for backend in ("jax", "torch") if OTHER_PYTHON is not None or importlib.util.find_spec(backend) is not None
]


@pytest.fixture(scope="module")
def values_of(tmp_path_factory):
    """The values of all parts on a backend. All backends compute them at the same time, each in its own process."""
    folder = tmp_path_factory.mktemp("values")
    processes = {}
    for backend in ("tensorflow", *OTHER_BACKENDS):
        python = sys.executable if backend == "tensorflow" else OTHER_PYTHON or sys.executable
        with open(folder / f"{backend}.log", "wb") as log:
            processes[backend] = subprocess.Popen(
                [python, "-m", "tests.contract.backends.values", folder / f"{backend}.pickle"],
                cwd=ROOT,
                env=os.environ | {"KERAS_BACKEND": backend} | ON_A_CPU,
                stdout=log,
                stderr=log,
            )

    def load(backend):
        assert processes[backend].wait() == 0, (folder / f"{backend}.log").read_text()[-3000:]
        return pickle.loads((folder / f"{backend}.pickle").read_bytes())

    yield load
    for process in processes.values():
        process.kill()
        process.wait()


@pytest.mark.timeout(900)  # the first test of a backend waits for all of its values
@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize(
    "backend",
    [
        pytest.param(
            backend,
            marks=pytest.mark.skipif(
                backend not in OTHER_BACKENDS, reason=f"{backend} is not installed; run `make test-backends`"
            ),
        )
        for backend in ("torch", "jax")
    ],
)
def test_values_equal_the_values_of_tensorflow(values_of, backend, part):
    expected, actual = values_of("tensorflow")[part], values_of(backend)[part]
    assert isinstance(expected, dict), expected
    assert isinstance(actual, dict), actual
    assert actual.keys() == expected.keys()
    # Backends draw different random numbers from the same distributions.
    tolerance = 0.05 if part == "initializers" else 1e-4
    for key, values in expected.items():
        assert (actual[key].shape, actual[key].dtype) == (values.shape, values.dtype), key
        size = max(np.abs(values).max(), 1e-3)
        np.testing.assert_allclose(actual[key], values, atol=tolerance * size, err_msg=key)


@pytest.mark.timeout(900)
@pytest.mark.skipif(not OTHER_BACKENDS, reason="no other backend is installed; run `make test-backends`")
def test_fit_on_other_backends_learns_what_it_learns_on_tensorflow(tmp_path):
    from bytenet.config import load_config
    from bytenet.csv_log import read_csv_log
    from bytenet.training import train
    from bytenet.training.prepared.preparation import prepare

    start = train(load_config("digits", [*SMALLEST, "training.max_steps=1"]), tmp_path / "start")
    config = load_config("digits", [*SMALLEST, f"training.start={start.path}"])
    measured = {}
    for backend in ("tensorflow", *OTHER_BACKENDS):
        folder = prepare(config, tmp_path / backend).run
        python = sys.executable if backend == "tensorflow" else OTHER_PYTHON or sys.executable
        environment = os.environ | {"KERAS_BACKEND": backend} | ON_A_CPU
        subprocess.run(
            [python, "-m", "bytenet", "fit", folder.path], cwd=ROOT, env=environment, check=True, capture_output=True
        )
        measured[backend] = read_csv_log(folder.metrics_path)
        weights = [keras.ops.convert_to_numpy(weight) for weight in folder.load_model().weights]
        if backend == "tensorflow":
            expected = weights
        for one, other in zip(weights, expected, strict=True):
            np.testing.assert_allclose(one, other, atol=1e-4, err_msg=backend)
    for backend in OTHER_BACKENDS:
        for name in ("step", "characters", "loss", "character_error", "val_loss"):
            np.testing.assert_allclose(measured[backend][name], measured["tensorflow"][name], rtol=1e-3, err_msg=name)


def test_all_layers_are_compared():
    names = [module.name for module in pkgutil.walk_packages(bytenet.layers.__path__, "bytenet.layers.")]
    layers = {
        value
        for name in names
        for value in vars(importlib.import_module(name)).values()
        if isinstance(value, type) and issubclass(value, keras.layers.Layer) and value.__module__ in names
        if not value.__name__.startswith("_")
    }
    compared = {type(make()) for make, *_ in LAYERS.values()}
    for case in VARIANT_CASES:
        compared |= {type(layer) for layer in all_layers(build_model(case.config, VOCAB_SIZE))}
    assert layers - compared == set()
