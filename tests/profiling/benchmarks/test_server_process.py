"""How long the benchmark waits for the models of the server, and when it gives up."""

import io
from itertools import chain, count, repeat

import pytest

from bytenet.errors import InputError
from bytenet.profiling.benchmarks.serving import server_process
from bytenet.profiling.benchmarks.serving.server_process import ServerProcess


@pytest.fixture
def server(monkeypatch):
    """A function that makes a server from its messages and the numbers of starting models that it tells in turn.

    A minute passes between any two looks at the clock.
    """
    monkeypatch.setattr(server_process.time, "sleep", lambda _: None)
    seconds = count(0, 60)
    monkeypatch.setattr(server_process.time, "monotonic", lambda: next(seconds))

    def make(messages, numbers):
        left = iter(numbers)
        monkeypatch.setattr(ServerProcess, "_metrics", lambda self: b"bytenet_starting_models %.1f\n" % next(left))
        server = ServerProcess("model", ["--beam-size", "4"])
        server._messages = io.BytesIO(messages)
        return server, left

    return make


def test_the_benchmark_waits_until_no_model_is_starting(server):
    waiting, left = server(b"ready\n", [2, 1, 0, 7])
    waiting.wait_until_started()
    assert next(left) == 7


def test_a_server_that_never_ends_its_start_is_an_error(server):
    waiting, _ = server(b"", chain([2], repeat(1, 20)))
    with pytest.raises(InputError, match=r"server model --beam-size 4 was still starting after ten minutes"):
        waiting.wait_until_started()


def test_a_model_that_tensorflow_could_not_load_is_an_error(server):
    waiting, _ = server(b"first\nTensorFlow could not load de-en: no memory\n", [0])
    with pytest.raises(InputError, match=r"could not load the model.*\nfirst\nTensorFlow could not load de-en: no m"):
        waiting.wait_until_started()
