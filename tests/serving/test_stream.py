"""The operation `/translate/stream`: events in order, between other work, until the client leaves."""

import json

import pytest
import requests

from bytenet.serving.http import streaming
from bytenet.serving.work.translating_threads import QueueFullError, TranslatingThreads

from .translate_requests import SENTENCE


def stream(address, **parameters):
    return requests.post(f"{address}translate/stream", data={**SENTENCE, **parameters}, stream=True, timeout=60)


def events(response):
    """The events as pairs of name and content."""
    names_and_contents = (event.split("\n") for event in response.text.removesuffix("\n\n").split("\n\n"))
    return [
        (name.removeprefix("event: "), json.loads(data.removeprefix("data: "))) for name, data in names_and_contents
    ]


def test_a_draft_comes_character_by_character_and_the_translation_after_it(serving, reversing_engine):
    with serving(reversing_engine(has_attention=False)) as address:
        found = stream(address, q="abc. ")
    assert found.headers["content-type"] == "text/event-stream; charset=utf-8"
    assert events(found) == [
        *(("draft", {"text": character}) for character in ".CBA"),
        ("sentence", {"source": "abc.", "candidates": [{"text": ".cba", "score": 0.0}]}),
        ("gap", {"text": " "}),
        ("end", {}),
    ]


@pytest.mark.parametrize(
    ("source", "target", "text"),
    [("zh", "en", "你好。我来了！\n好。"), ("de", "zh", " Ja. Nein!  Gut.\n Ja."), ("de", "en", "Ja. Nein!\n Gut.")],
)
def test_gaps_are_those_of_the_whole_translation(serving, reversing_engine, source, target, text):
    parameters = {"q": text, "source": source, "target": target}
    with serving(reversing_engine(source, target, has_attention=False)) as address:
        whole = requests.post(f"{address}translate", data=parameters, timeout=60).json()["translatedText"]
        found = events(stream(address, **parameters))
    texts = {"gap": lambda content: content["text"], "sentence": lambda content: content["candidates"][0]["text"]}
    assert "".join(texts[name](content) for name, content in found if name in texts) == whole


def test_candidates_have_scores_and_the_best_one_an_alignment(serving, reversing_engine):
    with serving(reversing_engine()) as address:
        (sentence,) = (content for name, content in events(stream(address, alternatives=2)) if name == "sentence")
    assert sentence["candidates"] == [
        {"text": "cba", "score": 0.0}, {"text": "cba'", "score": -1.0}, {"text": "cba''", "score": -2.0},
    ]  # fmt: skip
    assert sentence["attention"]["source"] == ["a", "b", "c", "⏎"]
    assert sentence["attention"]["target"] == ["c", "b", "a", "⏎"]
    assert sentence["attention"]["weights"][0] == [0.0, 0.0, 1.0, 0.0]


def test_an_engine_may_have_no_drafts(serving, reversing_engine):
    engine = reversing_engine(has_attention=False)
    engine.draft = lambda sentence: iter(())
    with serving(engine) as address:
        assert [name for name, _ in events(stream(address))] == ["sentence", "end"]


def test_a_sentence_comes_without_attention_if_it_cannot_be_aligned(serving, reversing_engine):
    engine = reversing_engine()
    engine.align = lambda sentence, translation: None
    with serving(engine) as address:
        sentence, end = events(stream(address))[-2:]
    assert sentence == ("sentence", {"source": "abc", "candidates": [{"text": "cba", "score": 0.0}]})
    assert end == ("end", {})


@pytest.mark.parametrize(("change", "status"), [({"source": "fr"}, 400), ({"q": "a" * 5001}, 413), ({"q": ""}, 200)])
def test_refusals_come_before_the_events(serving, reversing_engine, change, status):
    with serving(reversing_engine()) as address:
        assert stream(address, **change).status_code == status


@pytest.mark.parametrize(("text", "status", "part"), [("☠", 400, "skull"), ("💥", 500, "log"), ("💔", 500, "log")])
def test_a_failure_is_the_last_event(serving, reversing_engine, text, status, part):
    with serving(reversing_engine()) as address:
        name, content = events(stream(address, q=f"abc. {text} Nie."))[-1]
    assert name == "error"
    assert content["status"] == status
    assert part in content["error"]
    assert "secret" not in content["error"]


def test_other_requests_are_translated_between_the_parts_of_a_draft(serving, reversing_engine):
    engine = reversing_engine()
    engine.draft = lambda sentence: iter(lambda: "x", "")  # without an end
    with serving(engine) as address, stream(address) as endless:
        assert next(endless.iter_lines()) == b"event: draft"
        assert requests.post(f"{address}translate", data=SENTENCE, timeout=60).json() == {"translatedText": "cba"}


def test_a_reader_that_leaves_stops_the_draft(serving, reversing_engine, wait_for):
    engine = reversing_engine()
    engine.draft = lambda sentence: iter(lambda: "x", "")  # without an end
    with serving(engine, max_requests=1) as address:
        reading = stream(address)
        assert next(reading.iter_lines()) == b"event: draft"
        reading.close()
        # The place is free again.
        wait_for(lambda: requests.get(f"{address}metrics", timeout=60).text.count("requests 0.0"), "The free place")
        assert requests.post(f"{address}translate", data=SENTENCE, timeout=60).json() == {"translatedText": "cba"}


def test_a_stream_that_takes_too_long_is_given_up(serving, reversing_engine):
    engine = reversing_engine()
    with serving(engine, timeout_seconds=0.2) as address:
        engine.gate.clear()
        name, content = events(stream(address))[-1]
    assert (name, content["status"]) == ("error", 504)


@pytest.mark.parametrize(("limit", "value"), [("_SHARE_OF_DRAFT", 0.0005), ("_MOST_SECONDS_OF_DRAFT", 0.3)])
def test_a_draft_that_takes_too_long_gives_way_to_the_translation(serving, reversing_engine, monkeypatch, limit, value):
    monkeypatch.setattr(streaming, limit, value)
    engine = reversing_engine(has_attention=False)
    engine.draft = lambda sentence: iter(lambda: "x", "")  # without an end
    with serving(engine) as address:
        *_, (name, content), end = events(stream(address))
    assert (name, content["candidates"]) == ("sentence", [{"text": "cba", "score": 0.0}])
    assert end == ("end", {})


@pytest.mark.parametrize("error", [QueueFullError, TimeoutError])
def test_a_sentence_comes_without_draft_and_attention_if_there_is_no_room_for_them(
    serving, reversing_engine, monkeypatch, error
):
    def refuse(threads, function):
        raise error

    monkeypatch.setattr(TranslatingThreads, "call", refuse)
    with serving(reversing_engine()) as address:
        assert events(stream(address)) == [
            ("sentence", {"source": "abc", "candidates": [{"text": "cba", "score": 0.0}]}),
            ("end", {}),
        ]
