"""The operation `/translate`: what it refuses, its limits, and clients that leave."""

import json
import socket
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlsplit

import pytest
import requests

from .translate_requests import FIELDS, SENTENCE, answer


@pytest.mark.parametrize(
    ("change", "status", "part"),
    [
        ({"q": None}, 400, "The parameter q is wrong"),
        ({"q": 5}, 400, "The parameter q is wrong"),
        ({"q": [["a"]]}, 400, "The parameter q is wrong"),
        ({"q": "a\0b"}, 400, "NUL"),
        ({"q": "\ud800"}, 400, "surrogate"),
        ({"source": "fr"}, 400, "de to en"),
        ({"target": "fr"}, 400, "de to en"),
        ({"source": "x" * 10_000}, 400, "de to en"),
        ({"format": "html"}, 400, '"text"'),
        ({"alternatives": 3}, 400, "at most 2"),
        ({"alternatives": -1}, 400, "alternatives"),
        ({"alternatives": 10**30}, 400, "at most 2"),
        ({"alternatives": "many"}, 400, "alternatives"),
        ({"q": "a" * 51}, 413, "at most 50"),
        ({"q": ["a"] * 4}, 413, "at most 3"),
        ({"q": "a" * 100_000}, 413, "bytes"),
        ({"q": "☠"}, 400, "skull"),
        ({"q": "💥"}, 500, "log"),
        ({"q": "💔"}, 500, "log"),
    ],
)
def test_refusals_say_what_is_wrong(server, change, status, part):
    found = answer(server, data=json.dumps({**SENTENCE, **change}), headers={"Content-Type": "application/json"})
    assert found.status_code == status
    assert list(found.json()) == ["error"]
    error = found.json()["error"]
    assert part in error
    assert len(error) < 400
    assert "secret" not in error
    assert "/" not in error


def test_a_missing_parameter_is_named(server):
    found = answer(server, json={"source": "de", "target": "en"})
    assert (found.status_code, found.json()) == (400, {"error": "The parameter q is missing."})


def test_a_query_that_is_not_utf_8_is_refused(server):
    assert requests.post(f"{server}translate?source=de&target=en&q=L%E4uft", timeout=60).status_code == 400


@pytest.mark.parametrize(
    ("body", "content_type", "status"),
    [
        (b"{", "application/json", 400),
        (b"[]", "application/json", 400),
        (b"[" * 100_0, "application/json", 400),
        (b"\xff", "application/json", 400),
        (b'{"q": 1' + b"0" * 5000 + b"}", "application/json", 400),
        (b"abc", "text/plain", 415),
        (b"abc", "multipart/form-data", 400),
        (b"--x\r\nabc", "multipart/form-data; boundary=x", 400),
        (b'--x\r\nContent-Disposition: form-data; name="q"; filename="a"\r\n\r\na\r\n--x--\r\n',
         "multipart/form-data; boundary=x", 400),
        (b"q=%ff%fe", "application/x-www-form-urlencoded", 400),
        (b"q=\xff\xfe", "application/x-www-form-urlencoded", 400),
        (b"source=de&target=en&q=L%E4uft", "application/x-www-form-urlencoded", 400),
        (FIELDS + b"L\xe4uft\r\n--x--\r\n", "multipart/form-data; boundary=x", 400),
        (FIELDS + b"Lauft\r\n--x--\r\n", "multipart/form-data; boundary=x; charset=punycode", 400),
        (FIELDS + b"Lauft\r\n--x--\r\n", "multipart/form-data; boundary=x; charset=unknown", 400),
        (b"q=a&" * 2000, "application/x-www-form-urlencoded", 400),
    ],
)  # fmt: skip
def test_bodies_that_cannot_be_read_are_refused(server, body, content_type, status):
    found = answer(server, data=body, headers={"Content-Type": content_type})
    assert found.status_code == status
    assert list(found.json()) == ["error"]


def test_a_body_of_unknown_length_is_limited_too(server):
    found = answer(server, data=(b"a" * 10_000 for _ in range(100)), headers={"Content-Type": "application/json"})
    assert found.status_code == 413


def test_unknown_addresses_and_methods_are_refused(server):
    for found in (requests.get(f"{server}none", timeout=60), requests.get(f"{server}translate", timeout=60)):
        assert found.status_code in (404, 405)
        assert list(found.json()) == ["error"]


def test_a_key_is_needed_where_there_are_keys(serving, reversing_engine):
    with serving(reversing_engine(), api_keys=frozenset({"öffne dich", "b"})) as address:
        for key, status in (("öffne dich", 200), ("b", 200), ("c", 403), ("", 403), (None, 403)):
            for encoding in ("params", "data", "json"):
                assert answer(address, **{encoding: {**SENTENCE, "api_key": key}}).status_code == status
        for path in ("detect", "translate/stream"):
            assert requests.post(f"{address}{path}", data=SENTENCE, timeout=60).status_code == 403
        for path in ("languages", "health", ""):
            assert requests.get(f"{address}{path}", timeout=60).status_code == 200
        assert requests.get(f"{address}frontend/settings", timeout=60).json()["keyRequired"] is True


@pytest.mark.parametrize(("keys", "status"), [({"b"}, 403), ({"b", "\udcff"}, 403), (set(), 200)])
def test_a_key_with_half_of_a_surrogate_pair_is_a_wrong_key(serving, reversing_engine, keys, status):
    with serving(reversing_engine(), api_keys=frozenset(keys)) as address:
        assert answer(address, json={**SENTENCE, "api_key": "\ud800"}).status_code == status


def test_a_full_server_refuses_at_once(serving, reversing_engine, wait_for):
    engine = reversing_engine()
    with serving(engine, max_requests=2) as address, ThreadPoolExecutor() as clients:
        engine.gate.clear()
        waiting = [clients.submit(answer, address, json=SENTENCE) for _ in range(2)]
        wait_for(lambda: "bytenet_unfinished_requests 2.0" in metrics(address), "The second request")
        refused = answer(address, json=SENTENCE)
        assert refused.status_code == 429
        assert "Try again" in refused.json()["error"]
        assert refused.headers["Retry-After"] == "1"
        assert requests.get(f"{address}health", timeout=60).json() == {"status": "ok"}
        engine.gate.set()
        assert [found.result().status_code for found in waiting] == [200, 200]


def test_a_slow_translation_is_given_up(serving, reversing_engine, wait_for):
    engine = reversing_engine()
    with serving(engine, timeout_seconds=0.2) as address:
        engine.gate.clear()
        found = answer(address, json=SENTENCE)
        assert found.status_code == 504
        error = found.json()["error"]
        for part in ("too long", "--rerank-weight 0", "--beam-size", "--timeout gives it more time."):
            assert part in error
        engine.gate.set()
        # A busy machine may need more than one try, because each has 0.2 seconds.
        found = wait_for(lambda: (later := answer(address, json=SENTENCE)).ok and later, "A translation")
        assert found.json() == {"translatedText": "cba"}


def test_a_client_that_leaves_frees_its_place(serving, reversing_engine, wait_for):
    engine = reversing_engine()
    with serving(engine, max_requests=2) as address, ThreadPoolExecutor() as clients:
        engine.gate.clear()
        first = clients.submit(answer, address, json=SENTENCE)
        assert engine.started.wait(60)
        body = json.dumps({**SENTENCE, "q": "leaves"}).encode()
        with socket.create_connection((urlsplit(address).hostname, urlsplit(address).port)) as leaving:
            leaving.sendall(
                b"POST /translate HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
                b"Content-Length: %d\r\n\r\n%b" % (len(body), body)
            )
            wait_for(lambda: "bytenet_unfinished_requests 2.0" in metrics(address), "The second request")
        wait_for(lambda: "bytenet_unfinished_requests 1.0" in metrics(address), "The free place")
        last = clients.submit(answer, address, json=SENTENCE)
        wait_for(lambda: "bytenet_unfinished_requests 2.0" in metrics(address), "The last request")
        engine.gate.set()
        assert first.result().status_code == last.result().status_code == 200
        assert engine.batches == [["abc"], ["abc"]]


def metrics(address):
    return requests.get(f"{address}metrics", timeout=60).text
