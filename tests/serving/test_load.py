"""Many clients at once: each gets the translation of its own text."""

import threading
from collections import defaultdict
from urllib.parse import urlsplit

import pytest

from bytenet.profiling.benchmarks.serving import clients
from bytenet.profiling.benchmarks.serving.clients import ask


def test_the_answer_to_each_of_many_texts_is_its_own(serving, reversing_engine):
    engine = reversing_engine(batch_size=32)
    texts = [f"text {'x' * (number % 50)} {number}" for number in range(2000)]
    with serving(engine) as address:
        load = ask(urlsplit(address).port, {text: text[::-1] for text in texts}, ("de", "en"), clients=32)
    assert (load.statuses, load.wrong, load.texts) == ({200: 2000}, 0, 2000)
    assert max(map(len, engine.batches)) > 1


def test_wrong_answers_and_refusals_are_counted(serving, reversing_engine):
    with serving(reversing_engine(), max_chars=3) as address:
        expected = {"abc": "cba", "abd": "wrong", "long": "gnol"}
        load = ask(urlsplit(address).port, expected, ("de", "en"), clients=1)
    assert (load.statuses, load.wrong, load.texts) == ({200: 2, 413: 1}, 1, 2)


@pytest.fixture
def two_requests_each(monkeypatch):
    """Answers without a server. Four clients wait for each other at every request, and two seconds hold two of them.

    Returns:
        The texts that each client asked for, filled by the requests.
    """
    now = [0.0]

    def pass_a_second():
        now[0] += 1

    together = threading.Barrier(4, pass_a_second, timeout=60)
    asked = defaultdict(list)

    def translate(connection, text, languages):
        asked[threading.current_thread()].append(text)
        together.wait()
        return 200, {"translatedText": text[::-1]}

    monkeypatch.setattr(clients, "translate", translate)
    monkeypatch.setattr(clients.time, "perf_counter", lambda: now[0])
    return asked


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (["a", "b"], ["ab", "ab", "ba", "ba"]),
        (["a", "b", "c", "d", "e", "f", "g", "h"], ["ab", "cd", "ef", "gh"]),
    ],
    ids=["fewer texts than clients", "more texts than clients"],
)
def test_clients_of_a_timed_load_ask_for_all_texts_and_start_at_different_ones(two_requests_each, texts, expected):
    load = ask(0, {text: text for text in texts}, ("de", "en"), clients=4, seconds=2)
    assert sorted(map("".join, two_requests_each.values())) == expected
    assert (load.clients, load.statuses, load.wrong, load.texts) == (4, {200: 8}, 0, len(texts))
    assert load.requests_a_second == 8 / 2


def test_fewer_texts_than_clients_are_asked_for_once_by_as_many_clients(serving, reversing_engine):
    with serving(reversing_engine()) as address:
        load = ask(urlsplit(address).port, {"abc": "cba", "de": "ed"}, ("de", "en"), clients=4)
    assert (load.clients, load.statuses, load.wrong) == (2, {200: 2}, 0)
