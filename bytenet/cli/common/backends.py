"""The backend of Keras that a command computes with."""

import os

import click

from bytenet.cli.common.messages import say

BACKENDS = {"tensorflow": "TensorFlow", "jax": "JAX", "torch": "PyTorch"}
"""The packages and the names of the backends."""

_ADVICE = " Install it: `pip install -c constraints.txt .` in the folder of the source code."
_LITE = " A .bytenet file needs only LiteRT: --engine lite."
_WITHOUT_TENSORFLOW = {"train": " `bytenet fit` trains without it.", "translate": _LITE, "serve": _LITE}


def choose_backend(verb: str | None) -> None:
    """Let Keras compute with TensorFlow, whatever the user's environment says; for `fit`, with what it says.

    Raises:
        click.UsageError: the environment names another backend for `fit` than those of Keras.
    """
    chosen = os.environ.get("KERAS_BACKEND") or "tensorflow"
    if verb == "fit":
        if chosen not in BACKENDS:
            raise click.UsageError(f"KERAS_BACKEND is {chosen}, but should be one of {', '.join(BACKENDS)}.")
        return
    if chosen != "tensorflow":
        say(f"KERAS_BACKEND={chosen} is ignored: only `bytenet fit` uses another backend.")
    os.environ["KERAS_BACKEND"] = "tensorflow"


def advice_on_missing(package: str, verb: str | None) -> str:
    """What to do if the package of a backend is not installed.

    Args:
        package: a key of `BACKENDS`.
        verb: of the command.
    """
    if verb != "fit":
        message = f"`bytenet {verb}` needs {BACKENDS[package]}, which is not installed."
        return message + _ADVICE + _WITHOUT_TENSORFLOW.get(verb or "", "") if package == "tensorflow" else message
    others = " or ".join(f"KERAS_BACKEND={other}" for other in BACKENDS if other != package)
    return f"{BACKENDS[package]} is not installed. Choose another backend with {others}, or install it."
