"""What a server tells its administrator: an access log and metrics for Prometheus.

Neither has texts, keys or query strings.
"""

import asyncio
import logging
import time
from collections.abc import Sequence

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector, generate_latest
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from bytenet.serving.engines.engine import Engine
from bytenet.serving.work.translating_threads import TranslatingThreads
from bytenet.serving.work.waiting import Batch

access_log = logging.getLogger("bytenet.serving.access")
_BATCH_SIZES = (1, 2, 4, 8, 16, 32, 64)


class Metrics:
    """The measurements of one server."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        ProcessCollector(registry=self.registry)
        self.requests = Counter("bytenet_requests", "Answered requests.", ["path", "status"], registry=self.registry)
        self.seconds = Histogram(
            "bytenet_request_seconds", "Time to the end of an answer.", ["path"], registry=self.registry
        )
        self.batch_sentences = Histogram(
            "bytenet_batch_sentences", "Sentences in a batch.", buckets=_BATCH_SIZES, registry=self.registry
        )
        self.characters = Counter("bytenet_source_characters", "Characters of sentences.", registry=self.registry)
        self._unfinished = Gauge(
            "bytenet_unfinished_requests", "Requests that are translated or wait for it.", registry=self.registry
        )
        self._starting = Gauge(
            "bytenet_starting_models", "Models that translate slowly until TensorFlow has started.",
            registry=self.registry,
        )  # fmt: skip

    def watch(self, threads: TranslatingThreads, engines: Sequence[Engine]) -> None:
        """Measure how much the translating threads have to do, and how many engines are starting."""
        self._unfinished.set_function(lambda: threads.num_unfinished)
        self._starting.set_function(lambda: sum(engine.is_starting for engine in engines))

    def note_batch(self, batch: Batch) -> None:
        """Count a batch."""
        self.batch_sentences.observe(len(batch.members))
        self.characters.inc(sum(map(len, batch.sentences)))

    def exposition(self) -> bytes:
        """All measurements in the text format of Prometheus."""
        return generate_latest(self.registry)


class Observation:
    """Middleware that measures and logs each request.

    Args:
        app: the application.
        metrics: gets the measurements.
        paths: addresses that are counted by their name; all others are counted together.
    """

    def __init__(self, app: ASGIApp, metrics: Metrics, paths: frozenset[str]):
        self._app = app
        self._metrics = metrics
        self._paths = paths

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        status, began = 0, time.perf_counter()  # 0 before the answer

        async def noting_send(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._app(scope, receive, noting_send)
        except BaseException as error:
            if not status and not isinstance(error, asyncio.CancelledError | ClientDisconnect):
                status = 500  # the client gets this answer, but not through `noting_send`
            raise
        finally:
            status, seconds = status or 499, time.perf_counter() - began  # 499: the client left before the answer
            path = scope["path"] if scope["path"] in self._paths else "other"
            self._metrics.requests.labels(path, status).inc()
            self._metrics.seconds.labels(path).observe(seconds)
            client = scope["client"][0] if scope.get("client") else "-"
            access_log.info("%s %s %s %d %.0f ms", client, scope["method"], path, status, 1000 * seconds)
