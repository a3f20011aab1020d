"""How the clients ask, and the numbers that are made of their times."""

import pytest

from bytenet.profiling.benchmarks.serving import clients
from bytenet.profiling.benchmarks.serving.clients import ask, percentile_99

LANGUAGES = ("de", "en")


@pytest.mark.parametrize(("number", "expected"), [(1, 1), (2, 2), (10, 10), (100, 99), (200, 198), (201, 199)])
def test_99_percent_of_the_times_are_at_most_as_long(number, expected):
    assert percentile_99(range(1, number + 1)) == expected


def test_every_client_asks_at_least_once(monkeypatch):
    monkeypatch.setattr(clients, "translate", lambda connection, text, languages: (200, {"translatedText": "A"}))
    load = ask(1, {"a": "A", "b": "A"}, LANGUAGES, clients=3, seconds=1e-9)
    assert load.statuses == {200: 3}
    assert load.median_ms >= 0


def test_a_client_pauses_after_a_broken_connection_and_has_no_time_without_an_answer(monkeypatch):
    pauses = []

    def refuse(connection, text, languages):
        raise ConnectionRefusedError

    monkeypatch.setattr(clients, "translate", refuse)
    monkeypatch.setattr(clients.time, "sleep", pauses.append)
    load = ask(1, {"a": "A", "b": "B"}, LANGUAGES, clients=1)
    assert (load.statuses, load.requests_a_second, load.median_ms, load.p99_ms) == ({0: 2}, 0, None, None)
    assert len(pauses) == 2
    assert min(pauses) > 0
