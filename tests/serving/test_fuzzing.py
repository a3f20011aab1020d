"""Bad requests get an answer that says what is wrong: no failure, no hang, no path and no traceback.

BYTENET_FUZZ_REQUESTS sets the number of requests of each test. `make fuzz-server` sends about 10,000 in all.
"""

import json
import os
from pathlib import Path

import hypothesis
import pytest
import requests
import schemathesis
from hypothesis import strategies as st

from .translate_requests import SENTENCE

REQUESTS = int(os.environ.get("BYTENET_FUZZ_REQUESTS", "15"))
WITH_PARAMETERS = ("/translate", "/translate/stream", "/detect")
WITHOUT_PARAMETERS = ("/languages", "/health", "/frontend/settings")
GOOD, BAD = schemathesis.GenerationMode.POSITIVE, schemathesis.GenerationMode.NEGATIVE
CASES = [(path, mode) for path in WITH_PARAMETERS for mode in (GOOD, BAD)] + [
    (path, GOOD) for path in WITHOUT_PARAMETERS
]
SECRETS = ("Traceback", str(Path(__file__).parents[2]), "site-packages")
many = hypothesis.settings(
    max_examples=REQUESTS, deadline=None, suppress_health_check=list(hypothesis.HealthCheck), phases=["generate"]
)


@pytest.fixture(scope="module")
def server(serving, reversing_engine):
    with serving(reversing_engine(), reversing_engine("en", "de"), max_chars=200, max_texts=5) as address:
        yield address


def check(answer: requests.Response) -> int:
    """Check an answer, and return its status."""
    assert answer.status_code < 500, answer.text
    assert not any(secret in answer.text for secret in SECRETS)
    if answer.status_code >= 400:
        content = answer.json()
        assert list(content) == ["error"]
        assert isinstance(content["error"], str)
        assert len(content["error"]) > 10
    return answer.status_code


@pytest.mark.parametrize(("path", "mode"), CASES, ids=[f"{path}, {mode.value}" for path, mode in CASES])
def test_requests_from_the_description(server, path, mode):
    description = requests.get(f"{server}openapi.json", timeout=60).json()
    method = next(iter(description["paths"][path]))
    operation = schemathesis.openapi.from_url(f"{server}openapi.json")[path][method.upper()]

    statuses = set()

    @many
    @hypothesis.given(case=operation.as_strategy(generation_mode=mode), is_sensible=st.booleans())
    def send(case, is_sensible):
        if mode == GOOD and isinstance(case.body, dict) and is_sensible:  # the description names no languages
            case.body |= {name: SENTENCE[name] for name in SENTENCE if name in case.body}
        statuses.add(check(case.call(base_url=server, timeout=60)))

    send()
    assert max(statuses) >= 400 if mode == BAD else min(statuses) < 400


TEXTS = st.text(st.characters() | st.sampled_from(list(".\n\0\ud800\u202e")), max_size=300)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXTS | st.sampled_from(["de", "en", "auto", "text"]),
    lambda inner: st.lists(inner, max_size=7) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=10,
)
NAMES = st.sampled_from(["q", "source", "target", "format", "alternatives", "api_key", "other"])
LIKELY = st.fixed_dictionaries(
    {"q": TEXTS | st.lists(TEXTS, max_size=6), "source": st.sampled_from(["de", "en", "auto"]),
     "target": st.sampled_from(["de", "en"])},
    optional={"alternatives": st.integers(-1, 4), "format": st.sampled_from(["text", "html"])},
)  # fmt: skip


@many
@hypothesis.given(values=LIKELY | st.dictionaries(NAMES, VALUES), path=st.sampled_from(WITH_PARAMETERS))
def test_any_values_as_json(server, values, path):
    body = json.dumps(values)
    check(requests.post(server + path[1:], data=body, headers={"Content-Type": "application/json"}, timeout=60))


@many
@hypothesis.given(
    body=st.binary(max_size=2000)
    | st.from_regex(rb"(q|source|target)=[^&]{0,20}(&(q|source|target)=[^&]{0,20})*", fullmatch=True)
    | st.from_regex(rb'--x\r\nContent-Disposition: form-data; name="[a-z]{0,3}"[^-]{0,60}(--x--)?', fullmatch=True),
    content_type=st.sampled_from(
        ["application/json", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x",
         "multipart/form-data", "text/plain", "application/json; charset=utf-16", ""]
    ),
    path=st.sampled_from(WITH_PARAMETERS),
)  # fmt: skip
def test_any_bytes(server, body, content_type, path):
    check(requests.post(server + path[1:], data=body, headers={"Content-Type": content_type}, timeout=60))


@many
@hypothesis.given(
    path=st.text(max_size=50), method=st.sampled_from(["GET", "POST", "PUT", "DELETE", "OPTIONS", "HEAD"])
)
def test_any_address(server, path, method):
    address = server + requests.utils.quote(path.encode("utf-8", "replace"))
    answer = requests.request(method, address, timeout=60, allow_redirects=False)
    assert answer.status_code < 500
    assert not any(secret in answer.text for secret in SECRETS)
