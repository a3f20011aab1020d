"""The page in headless Chromium: it translates, shows its reasons, and asks for nothing from elsewhere.

The pictures in docs/screenshots show a model with attention of German number words. They were made by

    BYTENET_SCREENSHOTS=docs/screenshots BYTENET_RUN=RUN pytest tests/serving/test_page.py -k pictures
"""

import base64
import os
import re
from contextlib import contextmanager
from pathlib import Path

import pytest
import requests

from bytenet.serving.page import content_security_policy, read_page

_TEXT = "return document.getElementById(arguments[0]).textContent"
_BACKSPACE, _LEFT, _RIGHT = "\ue003", "\ue012", "\ue014"  # the keys, as WebDriver names them


class Page:
    """What a person sees and does on the page."""

    def __init__(self, send, wait_for):
        self.send, self._wait_for = send, wait_for

    def run(self, script, *arguments):
        return self.send("execute/sync", script=script, args=list(arguments))

    def text(self, name):
        return self.run(_TEXT, name)

    @contextmanager
    def script_in_advance(self, script):
        """Pages that are opened meanwhile run a script before their own one."""
        name = "ScriptToEvaluateOnNewDocument"
        made = self.send("goog/cdp/execute", cmd=f"Page.add{name}", params={"source": script})
        yield
        self.send("goog/cdp/execute", cmd=f"Page.remove{name}", params=made)

    def type(self, name, keys):
        found = self.send("element", using="css selector", value=f"#{name}")
        (reference,) = found.values()
        self.send(f"element/{reference}/value", text=keys)

    def click(self, name):
        self.run("document.getElementById(arguments[0]).click()", name)

    def wait_until(self, answer, what):
        self._wait_for(answer, what)

    def wait_for_text(self, name, text):
        try:
            self._wait_for(lambda: self.text(name) == text, f"{text!r}")
        except TimeoutError:
            pytest.fail(f"#{name} has {self.text(name)!r}; expected {text!r}")

    def save_picture(self, name, folder):
        folder = Path(os.environ.get("BYTENET_SCREENSHOTS", folder))
        folder.mkdir(parents=True, exist_ok=True)
        picture = base64.b64decode(self.send("screenshot"))
        (folder / f"{name}.png").write_bytes(picture)
        assert 10_000 < len(picture) < 300_000


@pytest.fixture
def open_page(browser, wait_for):
    """A function that opens the page of a server."""

    def open_at(address):
        browser("url", url=address)
        page = Page(browser, wait_for)
        page.wait_until(lambda: page.run("return document.querySelectorAll('#target option').length"), "The languages")
        return page

    return open_at


@pytest.fixture
def server(serving, reversing_engine):
    with serving(reversing_engine("de", "en"), reversing_engine("en", "de", has_attention=False)) as address:
        yield address


@pytest.fixture
def pictured_engine(reversing_engine):
    """The engine for the run folder that BYTENET_RUN names, or one without a model."""
    run = os.environ.get("BYTENET_RUN")
    if run is None:
        return reversing_engine()
    from bytenet.serving.engines.run_engine import RunEngine

    return RunEngine(run)


def test_pictures_of_the_page(serving, pictured_engine, open_page, tmp_path):
    with serving(pictured_engine) as address:
        page = open_page(address)
        page.type("text", "siebenhunderteinundzwanzig\nachtundneunzig")
        page.wait_until(lambda: page.text("announcement"), "The translation")
        page.type("output", _RIGHT * 20)
        page.save_picture("server-page", tmp_path)
        page.click("words")
        page.click("theme")
        page.save_picture("server-page-dark", tmp_path)
    folder = Path(os.environ.get("BYTENET_SCREENSHOTS", tmp_path))
    light, dark = ((folder / f"{name}.png").read_bytes() for name in ("server-page", "server-page-dark"))
    assert light != dark


def test_the_document_asks_for_nothing_from_elsewhere():
    page = read_page()
    assert not re.search(r"https?:|//[a-z]|@import|url\(", page.replace('"use strict"', ""))
    assert "/* style.css */" not in page
    policy = content_security_policy(page)
    assert policy.startswith("default-src 'none'")
    assert "unsafe" not in policy


def test_the_page_comes_with_its_policy(server):
    found = requests.get(server, timeout=60)
    assert found.text == read_page()
    assert found.headers["Content-Security-Policy"] == content_security_policy(found.text)


def test_a_typed_text_is_translated_with_alternatives_and_attention(server, open_page):
    page = open_page(server)
    page.type("text", "ein Hund. Zwei Hunde!")
    page.wait_for_text("announcement", ".dnuH nie !ednuH iewZ")
    assert page.text("output") == ".dnuH nie !ednuH iewZ"
    assert page.run("return [...document.querySelectorAll('#candidates li')].map(item => item.textContent)") == [
        ".dnuH nie (score 0.00)", ".dnuH nie' (score -1.00)", ".dnuH nie'' (score -2.00)",
    ]  # fmt: skip
    page.type("output", _RIGHT * 3 + _LEFT)
    assert page.text("looked-at") == "“d”: d 100 %"
    assert page.text("mirror") == "ein Hund.⏎"
    page.run("document.querySelectorAll('.sentence')[1].firstChild.dispatchEvent(new Event('pointerenter'))")
    assert page.text("looked-at") == "“!”: ! 100 %"
    assert page.run("return document.documentElement.scrollWidth <= innerWidth")


def test_the_draft_is_seen_before_the_translation(serving, reversing_engine, open_page):
    engine = reversing_engine()
    with serving(engine) as address:
        engine.gate.clear()
        page = open_page(address)
        page.type("text", "abc")
        page.wait_for_text("output", "CBA")
        assert page.run("return document.getElementById('output').ariaBusy") == "true"
        engine.gate.set()
        page.wait_for_text("output", "cba")


def test_nothing_is_busy_once_the_text_is_deleted(serving, reversing_engine, open_page):
    engine = reversing_engine()
    with serving(engine) as address:
        engine.gate.clear()
        page = open_page(address)
        page.type("text", "a")
        page.wait_for_text("output", "A")
        page.type("text", _BACKSPACE)
        page.wait_for_text("output", "")
        assert page.run("return document.getElementById('output').ariaBusy") == "false"


def test_a_browser_that_cannot_go_over_streams_shows_translations(server, open_page):
    page = open_page(server)
    page.run("delete ReadableStream.prototype[Symbol.asyncIterator]")
    page.type("text", "abc")
    page.wait_for_text("announcement", "cba")


def test_a_page_that_may_not_copy_has_no_button_for_it(server, open_page):
    """Browsers give the clipboard only to pages of HTTPS and of the own machine."""
    page = open_page(server)
    assert not page.run("return document.getElementById('copy').hidden")
    script = "Object.defineProperty(navigator, 'clipboard', {value: undefined})"
    with page.script_in_advance(script):
        page = open_page(server)
        assert page.run("return document.getElementById('copy').hidden")


def test_languages_are_swapped_and_a_model_without_attention_shows_none(server, open_page):
    page = open_page(server)
    page.type("text", "abc")
    page.wait_for_text("announcement", "cba")
    page.click("swap")
    page.wait_for_text("announcement", "abc")
    assert page.run("return document.getElementById('source').value") == "en"
    page.type("output", _RIGHT)
    assert page.run("return document.getElementById('attention').hidden")
    assert page.run("return document.getElementById('output').lang") == "de"


def test_the_page_speaks_german_and_english_light_and_dark(server, open_page):
    page = open_page(server)
    assert page.run("return document.documentElement.lang") == "en"
    light = page.run("return getComputedStyle(document.body).backgroundColor")
    page.click("theme")
    assert page.run("return getComputedStyle(document.body).backgroundColor") != light
    page.click("words")
    assert page.run("return document.documentElement.lang") == "de"
    assert page.text("output-title") == "Übersetzung"
    assert page.run("return document.querySelector('#source option').textContent") == "Deutsch"
    assert page.run("return document.getElementById('swap').ariaLabel") == "Sprachen tauschen"
    words = page.run("return Object.values(WORDS).map(language => Object.keys(language).sort().join())")
    assert words[0] == words[1]


def test_the_keyboard_reaches_everything_and_everything_has_a_name(server, open_page):
    page = open_page(server)
    page.run("document.body.focus()")
    reached = page.run(
        "return [...document.querySelectorAll('button, select, textarea, input, [tabindex]')]"
        ".filter(item => item.checkVisibility() && item.tabIndex >= 0 && !item.disabled).map(item => item.id)"
    )
    assert set(reached) == {"words", "theme", "source", "swap", "target", "text", "output", "copy"}
    for name in reached:
        found = page.send("element", using="css selector", value=f"#{name}")
        (reference,) = found.values()
        assert page.send(f"element/{reference}/computedlabel"), f"#{name} has no name for a screen reader"


def test_a_key_is_asked_for_and_errors_are_shown(serving, reversing_engine, open_page):
    with serving(reversing_engine(), api_keys=frozenset({"geheim"})) as address:
        page = open_page(address)
        page.type("text", "abc")
        page.wait_for_text("error", "The API key is missing or wrong. Send the parameter api_key.")
        page.type("key", "geheim")
        page.wait_for_text("announcement", "cba")
        assert page.text("error") == ""
    page.type("text", "d")
    page.wait_for_text("error", "The server does not answer. It is tried again when you type.")
