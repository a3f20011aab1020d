"""Shared by all tests: few threads, a quiet TensorFlow, a plain terminal, runs, and a browser."""

import gc
import os
import shutil
import socket
import subprocess
from contextlib import contextmanager
from pathlib import Path

import hypothesis
import pytest
import requests

from . import waiting
from .invoked_verbs import invoke_verb
from .untrained_runs import BYTENET, TRANSFORMER, make_run

# Set these before anything imports TensorFlow. Tests are small, so more threads only wait for each other. With several
# processes (pytest -n 2), each has one thread.
_THREADS = "1" if "PYTEST_XDIST_WORKER" in os.environ else "2"
for _variable, _value in {
    "TF_CPP_MIN_LOG_LEVEL": "2",
    "TF_NUM_INTRAOP_THREADS": _THREADS,
    "TF_NUM_INTEROP_THREADS": "1",
    "OMP_NUM_THREADS": _THREADS,
    "TF_FORCE_GPU_ALLOW_GROWTH": "true",
    "XLA_FLAGS": "--xla_backend_optimization_level=0",  # compiling takes less time than it could save
    "BYTENET_COMPILE_CACHE": "off",  # tests that run the command leave the user's cache alone
}.items():
    os.environ.setdefault(_variable, _value)

# What is printed and which servers are found must not depend on the user's terminal and proxy.
os.environ.update({"COLUMNS": "80", "NO_PROXY": "localhost,127.0.0.1", "no_proxy": "localhost,127.0.0.1"})
for _variable in ("FORCE_COLOR", "NO_COLOR"):
    os.environ.pop(_variable, None)

# A traced graph has many small, long-lived objects. With Python's thresholds, their collection takes a
# tenth of the time.
gc.set_threshold(50_000, 20, 50)

# Every run uses the same examples, however slow the machine is. For other examples: --hypothesis-profile=default
hypothesis.settings.register_profile("bytenet", deadline=None, derandomize=True, database=None)
hypothesis.settings.load_profile("bytenet")

# The user's own folder of corpora. Some tests hide it.
_REAL_DATA = os.environ.get("BYTENET_DATA", "")
_CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
_DRIVER = shutil.which("chromedriver")
_BROWSER_ARGUMENTS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--window-size=1400,900", "--disable-dev-shm-usage",
]  # fmt: skip


@pytest.fixture(scope="session")
def free_port():
    """A function that gives the number of a free port."""

    def find() -> int:
        with socket.socket() as found:
            found.bind(("localhost", 0))
            return found.getsockname()[1]

    return find


@pytest.fixture(scope="session")
def wait_for():
    """A function that calls `answer` until its result is true, and returns it."""
    return waiting.wait_for


@pytest.fixture
def eagerly():
    """Nothing is traced, which is faster for a few steps of a small model."""
    import tensorflow as tf

    tf.config.run_functions_eagerly(True)
    yield
    tf.config.run_functions_eagerly(False)


@pytest.fixture(scope="session")
def policy():
    """A context manager that sets Keras's precision by name. At its end, the earlier precision is set again.

    The code inside may set another precision, as trainings do.
    """
    import keras

    @contextmanager
    def set_policy(name: str):
        before = keras.config.dtype_policy()
        keras.config.set_dtype_policy(name)
        try:
            yield
        finally:
            keras.config.set_dtype_policy(before)

    return set_policy


@pytest.fixture(scope="session")
def run_folder(tmp_path_factory):
    """The folder of a ByteNet run on four sentence pairs, used as both its training and its test set."""
    return make_run(tmp_path_factory.mktemp("run"), BYTENET)


@pytest.fixture(scope="session")
def attentive_run_folder(tmp_path_factory):
    """The same as `run_folder`, but with a Transformer."""
    return make_run(tmp_path_factory.mktemp("attentive_run"), TRANSFORMER)


@pytest.fixture(scope="session")
def model_path(run_folder, tmp_path_factory):
    """The model of the run folder as a file, with a card. Do not change it."""
    from bytenet.decoding import Translator

    path = tmp_path_factory.mktemp("model") / "de-en.bytenet"
    card = (
        "# A model\n\n- licence: CC0\n- scores on test: BLEU 1.5 (1.0 to 2.0); 4 sentences\n- alphabet: 20 characters\n"
    )
    Translator.from_run(run_folder.path).export(path, languages=("de", "en"), max_length=40, card=card)
    return path


@pytest.fixture
def real_data(monkeypatch):
    """A function that gives a folder of the user's own BYTENET_DATA by its name, and skips the test if there is none.

    Inside the test, BYTENET_DATA is set.
    """

    def find(name: str) -> Path:
        folder = Path(_REAL_DATA) / name
        if not (_REAL_DATA and folder.is_dir()):
            pytest.skip(f"needs {name}/ in the folder that BYTENET_DATA names")
        monkeypatch.setenv("BYTENET_DATA", _REAL_DATA)
        return folder

    return find


@pytest.fixture
def ship(monkeypatch):
    """A function that makes the models of a folder the pretrained ones."""
    return lambda folder: monkeypatch.setattr("bytenet.lite.pretrained._folder", lambda: folder)


@pytest.fixture
def shipped(model_path, ship, monkeypatch, tmp_path):
    """Ships the model file as de-en, and works in an empty folder. Gives the path of the file."""
    ship(model_path.parent)
    monkeypatch.chdir(tmp_path)
    return model_path


@pytest.fixture
def invoke():
    """A function that runs a subcommand in this process and raises its errors."""
    return invoke_verb


@pytest.fixture(scope="session")
def browser(tmp_path_factory, free_port, wait_for):
    """A function that sends a command to headless Chromium with the WebDriver protocol.

    Without Chromium and its ChromeDriver (Debian: apt-get install chromium chromium-driver), tests with it are skipped.
    """
    if not (_CHROMIUM and _DRIVER):
        pytest.skip("there is no Chromium with ChromeDriver: apt-get install chromium chromium-driver")
    port = free_port()
    address = f"http://localhost:{port}"
    arguments = [*_BROWSER_ARGUMENTS, f"--user-data-dir={tmp_path_factory.mktemp('chromium')}"]
    options = {"browserName": "chrome", "goog:chromeOptions": {"binary": _CHROMIUM, "args": arguments}}
    with subprocess.Popen([_DRIVER, f"--port={port}"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as driver:
        try:
            wait_for(lambda: requests.get(f"{address}/status", timeout=30).json()["value"]["ready"], "ChromeDriver")
            capabilities = {"capabilities": {"alwaysMatch": options}}
            session = requests.post(f"{address}/session", json=capabilities, timeout=60).json()["value"]["sessionId"]

            def send(command: str, **parameters):
                url = f"{address}/session/{session}/{command}"
                answer = (
                    requests.post(url, json=parameters, timeout=60) if parameters else requests.get(url, timeout=60)
                )
                answer.raise_for_status()
                return answer.json()["value"]

            yield send
            requests.delete(f"{address}/session/{session}", timeout=60)
        finally:
            driver.terminate()
