"""What a server tells about itself: languages, health, settings, log, metrics, and its description."""

import asyncio
import logging
from types import SimpleNamespace

import pytest
import requests
from starlette.requests import ClientDisconnect

from bytenet.errors import InputError
from bytenet.serving.engines.directions import Directions
from bytenet.serving.http.information import language_name
from bytenet.serving.http.language_detection import LanguageDetector
from bytenet.serving.http.observation import Metrics, Observation


def get(address, path):
    return requests.get(f"{address}{path}", timeout=60)


def test_the_most_probable_language_comes_first_even_if_all_are_improbable(monkeypatch):
    identifier = SimpleNamespace(rank=lambda text: [("fr", 0.999), ("en", 0.0004), ("de", 0.0003)])
    monkeypatch.setattr("bytenet.serving.http.language_detection._identifier", lambda: identifier)
    assert LanguageDetector(["de", "en"]).rank("nom") == [("en", 0.0), ("de", 0.0)]


def test_languages_have_their_targets(serving, reversing_engine):
    with serving(reversing_engine("de", "en"), reversing_engine("de", "fr"), reversing_engine("en", "de")) as address:
        assert get(address, "languages").json() == [
            {"code": "de", "name": "German", "targets": ["en", "fr"]},
            {"code": "en", "name": "English", "targets": ["de"]},
            {"code": "fr", "name": "French", "targets": []},
        ]


@pytest.mark.parametrize(
    ("code", "name"),
    [
        ("da", "Danish"),
        ("zh-Hans", "Chinese (Simplified)"),
        ("de_AT", "German (Austria)"),
        ("words", "words"),
        ("../x", "../x"),
    ],
)
def test_languages_have_english_names(code, name):
    assert language_name(code) == name


def test_two_models_of_the_same_languages_are_refused(reversing_engine):
    with pytest.raises(InputError, match="Two models translate de to en"):
        Directions([reversing_engine(), reversing_engine()])


def test_settings_describe_the_limits(serving, reversing_engine):
    with serving(reversing_engine(), max_chars=123) as address:
        settings = get(address, "frontend/settings").json()
    assert settings["charLimit"] == 123
    assert settings["keyRequired"] is False
    assert settings["language"]["source"] == {"code": "de", "name": "German"}


def test_health_tells_that_nothing_is_translated_any_more(serving, reversing_engine, thread, monkeypatch):
    with serving(reversing_engine()) as address:
        assert get(address, "health").json() == {"status": "ok"}
        monkeypatch.setattr(type(thread), "is_running", False)
        assert get(address, "health").status_code == 503


def test_checks_of_the_server_may_ask_with_head(serving, reversing_engine):
    with serving(reversing_engine()) as address:
        for path in ("", "health", "metrics"):
            found = requests.head(f"{address}{path}", timeout=60)
            assert (found.status_code, found.content) == (200, b"")
        assert requests.head(f"{address}languages", timeout=60).status_code == 405


def test_the_log_and_the_metrics_have_no_texts_and_no_keys(serving, reversing_engine, caplog):
    caplog.set_level(logging.INFO, logger="bytenet.serving.access")
    with serving(reversing_engine(), api_keys=frozenset({"geheim"})) as address:
        query = {"q": "vertraulich", "source": "de", "target": "en", "api_key": "geheim"}
        assert requests.post(f"{address}translate", params=query, timeout=60).ok
        assert get(address, "vertraulich").status_code == 404
        metrics = get(address, "metrics").text
    assert "127.0.0.1 POST /translate 200" in caplog.text
    for text in (caplog.text, metrics):
        assert "vertraulich" not in text
        assert "geheim" not in text
    for line in (
        'bytenet_requests_total{path="/translate",status="200"} 1.0',
        'bytenet_requests_total{path="other",status="404"} 1.0',
        "bytenet_batch_sentences_count 1.0",
        "bytenet_source_characters_total 11.0",
        "bytenet_unfinished_requests 0.0",
        "bytenet_starting_models 0.0",
    ):
        assert line in metrics


@pytest.mark.parametrize(("text", "status"), [("gut", 200), ("☠", 400), ("💥", 500), ("💔", 500)])
def test_the_log_and_the_metrics_have_the_status_that_the_client_sees(serving, reversing_engine, caplog, text, status):
    caplog.set_level(logging.INFO, logger="bytenet.serving.access")
    with serving(reversing_engine()) as address:
        parameters = {"q": text, "source": "de", "target": "en"}
        assert requests.post(f"{address}translate", data=parameters, timeout=60).status_code == status
        metrics = get(address, "metrics").text
    assert f"POST /translate {status}" in caplog.text
    assert f'bytenet_requests_total{{path="/translate",status="{status}"}} 1.0' in metrics


@pytest.mark.parametrize(
    ("error", "status"), [(asyncio.CancelledError(), 499), (ClientDisconnect(), 499), (RuntimeError(), 500)]
)
def test_only_a_client_that_leaves_has_status_499(error, status):
    async def app(scope, receive, send):
        raise error

    metrics = Metrics()
    scope = {"type": "http", "method": "POST", "path": "/translate"}
    with pytest.raises(type(error)):
        asyncio.run(Observation(app, metrics, frozenset())(scope, None, None))
    assert f'status="{status}"}} 1.0'.encode() in metrics.exposition()


def test_other_websites_may_ask_only_where_the_administrator_says_so(serving, reversing_engine):
    asking = {"Origin": "https://example.org", "Access-Control-Request-Method": "POST"}
    with serving(reversing_engine()) as address:
        assert "access-control-allow-origin" not in requests.options(f"{address}translate", headers=asking).headers
    with serving(reversing_engine(), allowed_origins=("https://example.org",)) as address:
        allowed = requests.options(f"{address}translate", headers=asking, timeout=60)
        assert allowed.status_code == 200
        assert allowed.headers["access-control-allow-origin"] == "https://example.org"


def test_the_description_names_the_operations(serving, reversing_engine):
    with serving(reversing_engine()) as address:
        description = get(address, "openapi.json").json()
    assert set(description["paths"]) == {
        "/translate", "/translate/stream", "/languages", "/health", "/frontend/settings", "/detect",
    }  # fmt: skip
    assert set(description["paths"]["/translate"]["post"]["requestBody"]["content"]) == {
        "application/json", "application/x-www-form-urlencoded", "multipart/form-data",
    }  # fmt: skip
