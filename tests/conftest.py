"""Shared by all tests: few threads, a quiet TensorFlow, and the conditions of the marks."""

import gc
import os
from pathlib import Path

import hypothesis
import pytest

# Set before anything imports TensorFlow. Tests are small; more threads would only wait for each other. With several
# processes (pytest -n 2), each has one thread.
_THREADS = "1" if "PYTEST_XDIST_WORKER" in os.environ else "2"
for _variable, _value in {
    "TF_CPP_MIN_LOG_LEVEL": "2",
    "TF_NUM_INTRAOP_THREADS": _THREADS,
    "TF_NUM_INTEROP_THREADS": "1",
    "OMP_NUM_THREADS": _THREADS,
    "TF_FORCE_GPU_ALLOW_GROWTH": "true",
    "BYTENET_COMPILE_CACHE": "off",  # tests that run the command leave the user's cache alone
}.items():
    os.environ.setdefault(_variable, _value)

# A traced graph has many small, long-lived objects. Python's default thresholds would spend a tenth of the time on
# garbage collection.
gc.set_threshold(50_000, 20, 50)

# Every run has the same examples, even on a slow machine. For other examples: --hypothesis-profile=default
hypothesis.settings.register_profile("bytenet", deadline=None, derandomize=True, database=None)
hypothesis.settings.load_profile("bytenet")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip the tests that this machine cannot run, and say why."""
    no_gpu = pytest.mark.skip(reason="there is no NVIDIA GPU")
    no_network = pytest.mark.skip(reason="needs the Internet; run with BYTENET_NETWORK=1")
    for item in items:
        if "gpu" in item.keywords and not Path("/dev/nvidia0").exists():
            item.add_marker(no_gpu)
        if "network" in item.keywords and os.environ.get("BYTENET_NETWORK") != "1":
            item.add_marker(no_network)
