"""An engine without a model, and servers in this process that use it."""

import socket
import threading
from contextlib import contextmanager

import pytest

from bytenet.errors import InputError, ModelError
from bytenet.serving.engines.directions import Directions
from bytenet.serving.engines.engine import Alignment, Candidate
from bytenet.serving.http.settings import ServerSettings
from bytenet.serving.work.translating_threads import TranslatingThreads


class ReversingEngine:
    """Writes sentences backwards. A test can hold it up, see what it translates together, and make it fail.

    Attributes:
        batches: the sentences of each call of `translate`.
        gate: `translate` waits for it.
        is_warm: whether `warm_up` was called.
        started: set when `translate` is called.
    """

    def __init__(self, source="de", target="en", batch_size=4, max_candidates=3, has_attention=True):
        self.languages = (source, target)
        self.batch_sizes = tuple(range(1, batch_size + 1))
        self.max_candidates = max_candidates
        self.max_sentence_chars = 100
        self.has_attention = has_attention
        self.is_starting = False
        self.is_warm = False
        self.batches = []
        self.gate = threading.Event()
        self.gate.set()
        self.started = threading.Event()

    def warm_up(self):
        self.is_warm = True

    def translate(self, sentences, num_candidates):
        self.started.set()
        assert self.gate.wait(60)
        self.batches.append(list(sentences))
        for sentence in sentences:
            if "☠" in sentence:
                raise InputError("The sentence has a skull. Remove it.")
            if "💥" in sentence:
                raise RuntimeError(f"a secret of {__file__}")
            if "💔" in sentence:
                raise ModelError(f"{__file__}: a secret of the model")
        return [
            [Candidate(sentence[::-1] + "'" * rank, -float(rank)) for rank in range(num_candidates)]
            for sentence in sentences
        ]

    def draft(self, sentence):
        for start in range(0, len(sentence), 2):
            yield sentence[::-1][start : start + 2].upper()

    def align(self, sentence, translation):
        source, target = [*sentence, "⏎"], [*translation, "⏎"]
        weights = [
            [float(row + column == len(sentence) - 1) for column in range(len(source))] for row in range(len(target))
        ]
        weights[-1][-1] = 1.0
        return Alignment(source, target, weights)


@pytest.fixture(scope="session")
def reversing_engine():
    return ReversingEngine


@pytest.fixture
def thread():
    """One translating thread, for up to eight requests."""
    thread = TranslatingThreads(max_requests=8)
    yield thread
    thread.close()


@pytest.fixture(scope="session")
def serving(wait_for):
    """A context manager that runs a server for some engines. It gives the address, which ends with a slash."""
    import requests
    import uvicorn

    from bytenet.serving.http.app import make_app
    from bytenet.serving.http.observation import Metrics

    @contextmanager
    def serve(*engines, **settings):
        # No test fails because this machine is slow.
        chosen = ServerSettings(**{"timeout_seconds": 600.0} | settings)
        metrics = Metrics()
        thread = TranslatingThreads(chosen.max_requests, on_batch=metrics.note_batch)
        metrics.watch(thread, engines)
        app = make_app(Directions(engines), thread, chosen, metrics)
        server = uvicorn.Server(uvicorn.Config(app, access_log=False, log_level="error", lifespan="off"))
        with socket.create_server(("127.0.0.1", 0)) as listening:
            address = f"http://127.0.0.1:{listening.getsockname()[1]}/"
            running = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
            running.start()
            try:
                wait_for(lambda: requests.get(f"{address}health", timeout=10).ok, "The server")
                yield address
            finally:
                for engine in engines:
                    if isinstance(engine, ReversingEngine):
                        engine.gate.set()
                server.should_exit = True
                running.join()
                thread.close()

    return serve


@pytest.fixture
def server(serving, reversing_engine):
    """The address of a server with one engine and small limits."""
    with serving(reversing_engine(), max_chars=50, max_texts=3) as address:
        yield address
