"""A server as a process: it starts without TensorFlow, SIGTERM lets it finish what runs, bad addresses are refused."""

import errno
import re
import signal
import socket
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import requests

from bytenet.errors import InputError, ModelError
from bytenet.serving.engines.starting_engine import StartingEngine
from bytenet.serving.http.settings import ServerSettings
from bytenet.serving.server import _SECONDS_TO_ANSWER, _listen, serve

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


def test_the_documentation_has_the_limits_of_the_server():
    text = (Path(__file__).parents[2] / "docs" / "serving.md").read_text(encoding="utf-8")
    settings = ServerSettings()
    assert f"| `--timeout` | {settings.timeout_seconds:.0f} s |" in text
    assert f"| `--max-chars` | {settings.max_chars:,} |" in text
    assert f"| largest body | {settings.max_body_bytes:,} bytes |" in text
    # The proxy and systemd wait longer than the server itself.
    for pattern in (r"proxy_read_timeout (\d+)s;", r"TimeoutStopSec=(\d+)", r"`--time (\d+)`"):
        assert int(re.search(pattern, text)[1]) > settings.timeout_seconds + _SECONDS_TO_ANSWER


def _refuses(address: str) -> bool:
    try:
        requests.get(f"{address}/health", timeout=10)
    except requests.Timeout:  # some are also connection errors
        return False
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


@pytest.fixture
def resolve(monkeypatch):
    """A function that sets the IPv4 addresses of all names."""

    def set_addresses(*addresses):
        def found(host, port, **_):
            return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port)) for address in addresses]

        monkeypatch.setattr(socket, "getaddrinfo", found)

    return set_addresses


_OF_NO_MACHINE = "192.0.2.1"  # reserved for documentation


def test_addresses_of_a_name_have_the_same_port_and_those_of_other_machines_are_left_out(resolve):
    resolve(_OF_NO_MACHINE, "127.0.0.1", "127.0.0.2")
    sockets = _listen("name", 0)
    (first, port), (second, other_port) = (bound.getsockname() for bound in sockets)
    for bound in sockets:
        bound.close()
    assert (first, second) == ("127.0.0.1", "127.0.0.2")
    assert port == other_port != 0
    resolve(_OF_NO_MACHINE)
    with pytest.raises(InputError, match=r"cannot listen at port 0 of name: Cannot assign requested address"):
        _listen("name", 0)


def test_a_port_without_permission_is_explained(resolve, monkeypatch):
    def create_server(*_, **__):
        raise PermissionError(errno.EACCES, "Permission denied")

    resolve("127.0.0.1")
    monkeypatch.setattr(socket, "create_server", create_server)
    with pytest.raises(InputError, match=r"port 80 of name: Permission denied\. Ports below 1024 usually need root\."):
        _listen("name", 80)


def test_no_socket_stays_open_if_another_address_is_in_use(resolve, monkeypatch):
    opened, create = [], socket.create_server

    def create_server(*arguments, **options):
        opened.append(create(*arguments, **options))
        return opened[-1]

    with create(("127.0.0.2", 0)) as other:
        monkeypatch.setattr(socket, "create_server", create_server)
        resolve("127.0.0.1", "127.0.0.2")
        with pytest.raises(InputError, match="Address already in use"):
            _listen("name", other.getsockname()[1])
    assert [bound.fileno() for bound in opened] == [-1]


def test_tensorflow_is_not_started_if_another_engine_fails(reversing_engine, monkeypatch):
    class TestedEngine(StartingEngine):
        """Has no model."""

        def __init__(self):
            self.languages = ("en", "de")

        def warm_up(self):
            pass

        def start_tensorflow(self):
            pytest.fail("TensorFlow was started.")

    def fail():
        raise ModelError("damaged")

    broken, opened = reversing_engine(), []
    broken.warm_up = fail
    monkeypatch.setattr("bytenet.serving.server._listen", lambda *address: opened.extend(_listen(*address)) or opened)
    with pytest.raises(ModelError, match="damaged"):
        serve([TestedEngine(), broken], ServerSettings(), port=0)
    assert opened
    assert {bound.fileno() for bound in opened} == {-1}


def test_two_engines_of_the_same_languages_are_refused_before_they_are_warm(reversing_engine):
    engines = [reversing_engine(), reversing_engine()]
    with pytest.raises(InputError, match="Two models translate de to en"):
        serve(engines, ServerSettings())
    assert not any(engine.is_warm for engine in engines)
