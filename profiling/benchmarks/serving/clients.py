"""Clients that ask a server one request after the other, each with its own connection."""

import json
import math
import statistics
import threading
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException
from itertools import cycle
from typing import Any

_PATIENCE_SECONDS = 60
_PAUSE_WHEN_REFUSED_SECONDS = 1.0
_PAUSE_WHEN_BROKEN_SECONDS = 0.2


@dataclass(frozen=True)
class Load:
    """What a number of clients experienced.

    Attributes:
        clients: number of clients that asked at the same time.
        seconds: length of the measurement.
        requests_a_second: requests that were answered with status 200.
        median_ms: of the times to the answers with status 200, half are at most this long; None without such answers.
        p99_ms: 99 % of them are at most this long; None without such answers.
        statuses: number of answers by status; 0 is a broken connection.
        wrong: number of answers with another translation than expected.
        texts: number of different texts that were translated.
    """

    clients: int
    seconds: float
    requests_a_second: float
    median_ms: float | None
    p99_ms: float | None
    statuses: Mapping[int, int]
    wrong: int
    texts: int


def ask(
    port: int, expected: Mapping[str, str], languages: tuple[str, str], clients: int, seconds: float | None = None
) -> Load:
    """Let clients ask for the translations of texts in turn.

    Args:
        port: of a server on this machine.
        expected: the right translation of each text.
        languages: that the server reads and writes.
        clients: number of clients.
        seconds: length of the measurement. Each client asks for all texts again and again, but at least for one. The
            clients start at different texts. None asks for each text once: the clients share the texts, and at most
            as many clients ask as there are texts.
    """
    texts = list(expected)
    if seconds is None:
        clients = min(clients, len(texts))
        shares = [texts[number::clients] for number in range(clients)]
    else:
        starts = [number * len(texts) // clients for number in range(clients)]
        shares = [texts[start:] + texts[:start] for start in starts]
    began = time.perf_counter()
    end = None if seconds is None else began + seconds
    threads = [_Client(port, expected, languages, share, end) for share in shares]
    for client in threads:
        client.start()
    for client in threads:
        client.join()
    took = time.perf_counter() - began
    times = sorted(time for client in threads for time in client.times)
    statuses = sum((client.statuses for client in threads), Counter[int]())
    return Load(
        clients=clients,
        seconds=took,
        requests_a_second=len(times) / took,
        median_ms=1000 * statistics.median(times) if times else None,
        p99_ms=1000 * percentile_99(times) if times else None,
        statuses=dict(sorted(statuses.items())),
        wrong=sum(client.wrong for client in threads),
        texts=len(set().union(*(client.texts for client in threads))),
    )


def percentile_99(times: Sequence[float]) -> float:
    """The smallest of some times, ascending, so that at least 99 % of them are at most this long."""
    return times[math.ceil(99 * len(times) / 100) - 1]


class _Client(threading.Thread):
    """Asks for texts once, or again and again until `end`, but at least for one text.

    After a refusal or a broken connection, it waits for a moment and goes on.
    """

    def __init__(
        self,
        port: int,
        expected: Mapping[str, str],
        languages: tuple[str, str],
        texts: Sequence[str],
        end: float | None,
    ):
        super().__init__(daemon=True)
        self.times: list[float] = []
        self.statuses: Counter[int] = Counter()
        self.wrong = 0
        self.texts: set[str] = set()
        self._port, self._expected, self._languages, self._order, self._end = port, expected, languages, texts, end

    def run(self) -> None:
        connection = HTTPConnection("127.0.0.1", self._port, timeout=_PATIENCE_SECONDS)
        for text in self._order if self._end is None else cycle(self._order):
            self._ask(connection, text)
            if self._end is not None and time.perf_counter() >= self._end:
                break
        connection.close()

    def _ask(self, connection: HTTPConnection, text: str) -> None:
        began = time.perf_counter()
        try:
            status, answer = translate(connection, text, self._languages)
        except (OSError, HTTPException):
            connection.close()
            self.statuses[0] += 1
            time.sleep(_PAUSE_WHEN_BROKEN_SECONDS)
            return
        self.statuses[status] += 1
        if status == 200:
            self.times.append(time.perf_counter() - began)
            self.texts.add(text)
            self.wrong += answer["translatedText"] != self._expected[text]
        elif status == 429:
            time.sleep(_PAUSE_WHEN_REFUSED_SECONDS)


def translate(connection: HTTPConnection, text: str, languages: tuple[str, str]) -> tuple[int, Any]:
    """Ask for one translation. Returns the status and the content of the answer."""
    source, target = languages
    body = json.dumps({"q": text, "source": source, "target": target})
    connection.request("POST", "/translate", body, {"Content-Type": "application/json"})
    response = connection.getresponse()
    return response.status, json.loads(response.read())
