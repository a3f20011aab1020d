"""How long the benchmark waits for the models of the server, and when it gives up."""

import io
from itertools import chain, count, repeat
from types import SimpleNamespace

import pytest

from bytenet.errors import InputError
from bytenet.profiling.benchmarks.serving import measurement, server_process
from bytenet.profiling.benchmarks.serving.clients import Load
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


@pytest.fixture
def ended():
    """A server whose process has ended."""
    server = ServerProcess("model", ["--beam-size", "4"])
    server._messages = io.BytesIO(b"first\nno memory\n")
    server._process = SimpleNamespace(poll=lambda: -9)
    return server


ENDED = (
    r"server model --beam-size 4 ended during the measurement, with exit code -9\. Its last lines:\nfirst\nno memory$"
)


def test_a_server_that_has_ended_is_an_error(ended):
    with pytest.raises(InputError, match=ENDED):
        ended.check_running()
    ended._process.poll = lambda: None
    ended.check_running()


def test_a_server_that_ends_while_models_start_is_an_error(ended, monkeypatch):
    def refuse(*_):
        raise ConnectionRefusedError

    monkeypatch.setattr(server_process.HTTPConnection, "request", refuse)
    with pytest.raises(InputError, match=ENDED):
        ended.wait_until_started()
    ended._process.poll = lambda: None
    with pytest.raises(ConnectionRefusedError):
        ended.wait_until_started()


@pytest.mark.parametrize("last", [1, 2, 3, 4])
def test_the_benchmark_looks_after_each_load_whether_the_server_has_ended(monkeypatch, last):
    loads = []

    class Server:
        port = 1

        def __init__(self, *_):
            pass

        def __enter__(self):
            return self

        def __exit__(self, *error):
            pass

        def seconds_to_answer(self, text, languages):
            return 1.0

        def wait_until_started(self):
            pass

        def resident_bytes(self):
            return 1

        def check_running(self):
            if len(loads) == last:
                raise InputError("it has ended")

    def ask(*arguments):
        loads.append(arguments)
        return Load(1, 1.0, 1.0, 1.0, 1.0, {200: 1}, 0, 1)

    monkeypatch.setattr(measurement, "ServerProcess", Server)
    monkeypatch.setattr(measurement, "ask", ask)
    monkeypatch.setattr(measurement, "_translations", lambda model, texts, options: texts)
    with pytest.raises(InputError, match="it has ended"):
        measurement.measure_serving("model", ["eins"], ("de", "en"), clients=2, seconds=1)
    assert len(loads) == last
