"""A server as a process: it starts without TensorFlow, SIGTERM lets it finish what runs, bad addresses are refused."""

import signal
import socket
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
import requests

from bytenet.errors import InputError
from bytenet.serving.http.settings import ServerSettings
from bytenet.serving.server import serve

# The engine says when it begins, and translates after it has read a line.
_SERVER = """
import sys
from bytenet.serving.engines.engine import Candidate
from bytenet.serving.http.settings import ServerSettings
from bytenet.serving.server import serve

class Engine:
    languages, batch_sizes, max_candidates, max_sentence_chars = ("de", "en"), (1, 4), 1, 100
    has_attention = is_starting = False

    def warm_up(self):
        print("warm", flush=True)

    def translate(self, sentences, num_candidates):
        print("translating", flush=True)
        sys.stdin.readline()
        return [[Candidate(sentence[::-1], 0.0)] for sentence in sentences]

assert not {"tensorflow", "keras"} & set(sys.modules)
serve([Engine()], ServerSettings(), port=int(sys.argv[1]))
"""


def test_sigterm_lets_a_server_without_tensorflow_finish_what_runs(free_port, wait_for):
    port = free_port()
    command = [sys.executable, "-c", _SERVER, str(port)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, **pipes) as process, ThreadPoolExecutor() as clients:
        address = f"http://127.0.0.1:{port}"
        try:
            wait_for(lambda: requests.get(f"{address}/health", timeout=10).ok, "The server")
            data = {"q": "abc", "source": "de", "target": "en"}
            running = clients.submit(requests.post, f"{address}/translate", data=data, timeout=60)
            assert [process.stdout.readline() for _ in range(2)] == ["warm\n", "translating\n"]
            process.send_signal(signal.SIGTERM)
            wait_for(lambda: _refuses(address), "The refusal of new requests")
            process.stdin.write("go on\n")
            process.stdin.flush()
            assert running.result().json() == {"translatedText": "cba"}
            assert process.wait(60) in (0, -signal.SIGTERM)
        finally:
            process.kill()
        log = process.stderr.read()
    assert f"The server is at {address}." in log
    assert "POST /translate 200" in log
    assert "Traceback" not in log


def _refuses(address: str) -> bool:
    try:
        requests.get(f"{address}/health", timeout=10)
    except requests.ConnectionError:
        return True
    return False


def test_an_address_that_cannot_be_used_is_refused_before_the_engine_is_warm(reversing_engine):
    engine = reversing_engine()
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        with pytest.raises(InputError, match=f"port {port} of 127.0.0.1: Address already in use"):
            serve([engine], ServerSettings(), port=port)
    for host in ("", "x" * 100):
        with pytest.raises(InputError, match=f"The host '{host}' is unknown"):
            serve([engine], ServerSettings(), host)
    assert not engine.is_warm


def test_two_engines_of_the_same_languages_are_refused_before_they_are_warm(reversing_engine):
    engines = [reversing_engine(), reversing_engine()]
    with pytest.raises(InputError, match="Two models translate de to en"):
        serve(engines, ServerSettings())
    assert not any(engine.is_warm for engine in engines)
