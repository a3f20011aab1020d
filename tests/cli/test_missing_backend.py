"""What a command advises if the package of a backend is not installed."""

import pytest

from bytenet.cli.common.backends import advice_on_missing

INSTALL = "Install it: `pip install -c constraints.txt .` in the folder of the source code."
LITE = " A .bytenet file needs only LiteRT: --engine lite."


@pytest.mark.parametrize(
    ("verb", "without"),
    [("train", " `bytenet fit` trains without it."), ("translate", LITE), ("serve", LITE), ("evaluate", "")],
)
def test_advice_says_how_to_install_tensorflow_and_what_works_without_it(verb, without):
    message = f"`bytenet {verb}` needs TensorFlow, which is not installed. {INSTALL}{without}"
    assert advice_on_missing("tensorflow", verb) == message


def test_fit_may_use_another_backend():
    advice = "Choose another backend with KERAS_BACKEND=jax or KERAS_BACKEND=torch, or install it."
    assert advice_on_missing("tensorflow", "fit") == f"TensorFlow is not installed. {advice}"
