"""`bytenet serve`: its arguments, and the engines it chooses."""

import json
import shutil
import subprocess
import sys

import pytest

from bytenet.cli.serve import serve
from bytenet.decoding import Translator
from bytenet.errors import InputError, MissingFileError
from bytenet.serving.engines.lite_engine import LiteEngine
from bytenet.serving.engines.run_engine import RunEngine
from bytenet.serving.engines.starting_engine import StartingEngine

from ..serving.engines.sentences import LINES

# Imports the server and translates where TensorFlow cannot be imported.
_WITHOUT_TENSORFLOW = """
import sys
sys.modules.update(dict.fromkeys(["tensorflow", "keras", "tensorflow_text"]))
import bytenet.serving.server
from bytenet.serving.engines.lite_engine import LiteEngine

print(LiteEngine(sys.argv[1]).translate(["ein Hund"], 1)[0][0].text)
"""

# The command, with a server that is interrupted while a thread is busy.
_INTERRUPTED = """
import threading
import bytenet.serving.server
from bytenet.cli import main

def interrupted(engines, *arguments):
    list(engines)
    threading.Thread(target=threading.Event().wait).start()
    raise KeyboardInterrupt

bytenet.serving.server.serve = interrupted
main()
"""


@pytest.fixture
def started(monkeypatch):
    """What `bytenet serve` would serve, instead of a running server."""
    arguments = []
    monkeypatch.setattr(
        "bytenet.serving.server.serve", lambda engines, *given: arguments.extend([list(engines), *given])
    )
    return arguments


def test_the_server_and_the_lite_engine_need_no_tensorflow(model_path):
    done = subprocess.run([sys.executable, "-c", _WITHOUT_TENSORFLOW, model_path], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout == f"{LiteEngine(model_path).translate(['ein Hund'], 1)[0][0].text}\n"


def test_an_interrupted_server_does_not_wait_for_the_start_of_tensorflow(model_path):
    command = [sys.executable, "-c", _INTERRUPTED, "serve", model_path, "--engine", "lite"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 130
    assert done.stderr.endswith("\nInterrupted.\n")


def test_the_lite_engine_is_for_model_files_and_their_own_search(run_folder, model_path, invoke, started):
    assert "takes .bytenet files" in invoke(serve, run_folder.path, "--engine", "lite").stderr
    assert "those of the export" in invoke(serve, model_path, "--engine", "lite", "--beam-size", 2).stderr
    invoke(serve, model_path, "--engine", "lite", "--rerank-weight", 0)
    assert [type(engine) for engine in started[0]] == [LiteEngine]
    started.clear()
    two = invoke(serve, model_path, model_path, "--rerank-with", model_path)
    assert (two.exit_code, "for a server with one model" in two.stderr) == (2, True)
    invoke(serve, model_path, "--engine", "lite")
    (engine,) = started[0]
    assert isinstance(engine, LiteEngine)


def test_a_file_for_both_engines_is_served_at_once_and_then_with_tensorflow(
    model_path, invoke, started, monkeypatch, wait_for
):
    made = []
    monkeypatch.setattr(RunEngine, "make_graphs", lambda engine: made.append(engine))  # it takes half a minute
    lite, full = LiteEngine(model_path), RunEngine(model_path)
    assert invoke(serve, model_path).exit_code == 0
    (engine,) = started[0]
    assert isinstance(engine, StartingEngine)
    assert (engine.languages, engine.max_candidates) == (full.languages, full.max_candidates)
    engine.warm_up()
    assert not engine.is_starting
    engine.start_tensorflow()
    wait_for(lambda: not engine.is_starting, "TensorFlow")
    assert len(made) == 1
    assert engine.batch_sizes == full.batch_sizes != lite.batch_sizes
    assert [[text for text, _ in found] for found in engine.translate(LINES, 1)] == [
        [text for text, _ in found] for found in lite.translate(LINES, 1)
    ]
    assert "".join(engine.draft("ein Hund"))


def test_litert_begins_only_where_it_translates_as_tensorflow_does(run_folder, model_path, invoke, started, tmp_path):
    translator = Translator.from_run(run_folder.path)
    for name, options in {"int8": {"precision": "int8"}, "full": {"engines": "full"}}.items():
        path = tmp_path / f"{name}.bytenet"
        translator.export(path, languages=("de", "en"), **options)
        assert not StartingEngine.can_read(path)
    invoke(serve, model_path, "--beam-size", 2)  # the LiteRT model has the search of the export
    (engine,) = started[0]
    assert isinstance(engine, RunEngine)


def test_a_file_for_litert_alone_is_served_with_the_search_of_its_export(run_folder, invoke, started, tmp_path):
    path = tmp_path / "lite.bytenet"
    Translator.from_run(run_folder.path).export(path, engines="lite", languages=("de", "en"))
    for options in ((), ("--rerank-weight", 0)):
        invoke(serve, path, *options)
        assert isinstance(started[0][0], LiteEngine)
        started.clear()
    with pytest.raises(InputError, match=r"exported for LiteRT alone.* with the search of its export"):
        invoke(serve, path, "--beam-size", 2)


def test_no_model_is_loaded_if_two_have_the_same_languages_or_the_address_cannot_be_used(
    run_folder, model_path, invoke, monkeypatch
):
    monkeypatch.setattr("bytenet.cli.serve._load", lambda *_: pytest.fail("A model was loaded."))
    with pytest.raises(InputError, match="Two models translate de to en"):
        invoke(serve, run_folder.path, model_path)
    with pytest.raises(InputError, match=r"The host '' is unknown"):
        invoke(serve, run_folder.path, "--host", "")


def test_options_become_settings(run_folder, invoke, started, tmp_path):
    (tmp_path / "keys").write_text("geheim\n\n zweiter \n")
    invoke(
        serve, run_folder.path, "--beam-size", 2, "--host", "::1", "--port", 1234, "--max-chars", 10, "--timeout", 2,
        "--api-keys", tmp_path / "keys", "--allow-origin", "https://example.org", "--no-split",
        "--threads", 3, "--max-requests", 7,
    )  # fmt: skip
    (engine,), settings, host, port = started
    assert (engine.max_candidates, host, port) == (2, "::1", 1234)
    assert (settings.max_chars, settings.timeout_seconds, settings.into_sentences) == (10, 2.0, False)
    assert (settings.num_threads, settings.max_requests) == (3, 7)
    assert settings.api_keys == {"geheim", "zweiter"}
    assert settings.allowed_origins == ("https://example.org",)
    assert "geheim" not in repr(settings)


@pytest.mark.parametrize(
    ("given", "written"),
    [
        ("*", "*"), ("https://example.org/", "https://example.org"), ("HTTP://Example.org:8080", "http://example.org:8080"),
        ("https://example.org:443", "https://example.org"), ("http://a:80", "http://a"), ("http://a:443", "http://a:443"),
        ("http://[::1]:3000", "http://[::1]:3000"),
    ],
)  # fmt: skip
def test_origins_become_what_browsers_send(run_folder, invoke, started, given, written):
    invoke(serve, run_folder.path, "--allow-origin", given)
    assert started[1].allowed_origins == (written,)


@pytest.mark.parametrize(
    "origin",
    [
        "example.org",
        "https://example.org/page",
        "https://",
        "https://*.org",
        "",
        "https://a b",
        "https://a:b",
        "https://a,b",
        "null",
    ],
)
def test_what_is_no_origin_is_refused(invoke, origin):
    result = invoke(serve, "nothing", "--allow-origin", origin)
    assert result.exit_code == 2
    assert f"{origin!r} is not an origin such as https://example.org." in " ".join(result.stderr.split())


@pytest.mark.parametrize("seconds", ["0", "-1", "inf", "nan", "86401", "a"])
def test_a_time_limit_is_a_number_of_seconds_up_to_a_day(invoke, seconds):
    result = invoke(serve, "nothing", f"--timeout={seconds}")
    assert result.exit_code == 2
    assert "Invalid value for '--timeout'" in result.stderr


def test_the_server_is_private_unless_told_otherwise_and_keys_come_from_the_environment(
    run_folder, invoke, started, monkeypatch
):
    monkeypatch.setenv("BYTENET_API_KEYS", "a b")
    invoke(serve, run_folder.path)
    _, settings, host, _ = started
    assert host == "127.0.0.1"
    assert settings.api_keys == {"a", "b"}
    monkeypatch.setenv("BYTENET_API_KEYS", " ")
    with pytest.raises(InputError, match="BYTENET_API_KEYS has no key"):
        invoke(serve, run_folder.path)
    assert settings.allowed_origins == ()


def test_a_model_that_refuses_unknown_characters_is_served(run_folder, invoke, started, tmp_path):
    """The sentence that warms the engine up has only characters of the vocabulary."""
    path = shutil.copytree(run_folder.path, tmp_path / "run") / "vocabulary.json"
    content = json.loads(path.read_text(encoding="utf-8"))
    greek = [chr(ord("α") + number) for number in range(len(content["characters"]))]
    path.write_text(json.dumps(content | {"characters": greek, "unknown": "error"}), encoding="utf-8")
    assert invoke(serve, tmp_path / "run").exit_code == 0
    (engine,) = started[0]
    engine.warm_up()


def test_a_file_without_keys_is_refused(run_folder, invoke, started, tmp_path):
    (tmp_path / "keys").write_text("\n")
    with pytest.raises(InputError, match="has no key"):
        invoke(serve, run_folder.path, "--api-keys", tmp_path / "keys")


def test_a_folder_that_is_no_run_is_refused(invoke, started, tmp_path):
    with pytest.raises(MissingFileError, match="not a run folder"):
        invoke(serve, tmp_path)


def test_a_missing_library_is_named(run_folder, invoke, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "uvicorn", None)
    monkeypatch.delitem(__import__("sys").modules, "bytenet.serving.server", raising=False)
    with pytest.raises(InputError, match=r"pip install '\.\[serve\]'"):
        invoke(serve, run_folder.path)
