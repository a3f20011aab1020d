"""`bytenet serve`: its arguments, and the engine for run folders."""

import json
import os
import shutil
import subprocess
import sys
from types import SimpleNamespace

import pytest

from bytenet.cli.serve import serve
from bytenet.cli.translate import translate
from bytenet.config.families.convs2s import ConvS2SConfig
from bytenet.datasets import EOS_ID, UNKNOWN_ID, Vocabulary
from bytenet.decoding import Translator
from bytenet.errors import InputError, MissingFileError
from bytenet.models import build_model
from bytenet.serving.engines.lite_engine import LiteEngine
from bytenet.serving.engines.run_engine import RunEngine
from bytenet.serving.engines.starting_engine import StartingEngine

LINES = ["ein Hund", "zwei", "x", "ein unbekanntes ☃ und ein langer Satz, der über die Grenze geht"]


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


@pytest.fixture
def limited_engine(tmp_path):
    """A function that makes the engine of a model with learned positions.

    It takes additions to the scores of symbols, by their ids, and options of the search.
    """

    def make(additions, **options):
        sizes = {"dim": 8, "output_dim": 8, "encoder_widths": (8,), "decoder_widths": (8,)}
        kernels = {"encoder_kernel_sizes": (3,), "decoder_kernel_sizes": (3,)}
        vocabulary = Vocabulary("ab ")
        model = build_model(ConvS2SConfig(max_positions=16, **sizes, **kernels), vocabulary.size)
        bias = model.head.bias.numpy()
        for symbol_id, addition in additions.items():
            bias[symbol_id] += addition
        model.head.bias.assign(bias)
        path = tmp_path / "limited.bytenet"
        Translator(model, vocabulary, **options).export(path, engines="full", languages=("de", "en"))
        return RunEngine(path, jit_compile=False)

    return make


def test_the_engine_translates_as_the_command_does(run_folder, invoke):
    engine = RunEngine(run_folder.path)
    assert engine.languages == ("de", "en")
    expected = invoke(translate, run_folder.path, stdin="".join(f"{line}\n" for line in LINES).encode())
    assert [candidates[0].text for candidates in engine.translate(LINES, 1)] == expected.stdout.split("\n")[:-1]
    n_best = invoke(translate, run_folder.path, "--n-best", 3, stdin=LINES[0].encode()).stdout.split("\n")[:-1]
    (candidates,) = engine.translate(LINES[:1], engine.max_candidates)
    assert [f"1\t{score:.4f}\t{text}" for text, score in candidates] == n_best


def test_the_draft_is_the_translation_of_greedy_search(run_folder):
    engine = RunEngine(run_folder.path, beam_size=1)
    for line in LINES:
        assert "".join(engine.draft(line)) == engine.translate([line], 1)[0][0].text


def test_alignments_come_from_models_with_attention(run_folder, attentive_run_folder):
    assert not RunEngine(run_folder.path).has_attention
    engine = RunEngine(attentive_run_folder.path)
    assert engine.has_attention
    source, target, weights = engine.align("ein Hund", "a dog")
    assert "".join(source) == "ein Hund⏎"
    assert "".join(target) == "a dog⏎"
    assert len(weights) == len(target)
    for row in weights:
        assert len(row) == len(source)
        assert sum(row) == pytest.approx(1.0, abs=0.05)  # rounded to hundredths
        assert row == [round(weight, 2) for weight in row]


def test_characters_that_the_model_copies_are_in_the_draft_and_the_alignment(limited_engine):
    engine = limited_engine({UNKNOWN_ID: 9.0}, replace_unknown=True, beam_size=1, max_length=12)
    sentence = "XÄ☃"
    ((translation, _),) = engine.translate([sentence], 1)[0]
    assert set(translation) <= set(sentence)
    assert len(translation) > 4  # several parts of a draft
    assert "".join(engine.draft(sentence)) == translation
    source, target, _ = engine.align(sentence, translation)
    assert "".join(source) == f"{sentence}⏎"
    assert "".join(target) == f"{translation}⏎"


def test_a_translation_without_a_place_for_its_end_has_no_alignment(limited_engine):
    engine = limited_engine({EOS_ID: -99.0})
    ((translation, _),) = engine.translate(["ab"], 1)[0]
    assert len(translation) == 16
    assert engine.align("ab", translation) is None
    assert len(engine.align("ab", translation[:-1]).target) == 16


def test_both_engines_translate_a_model_file_as_the_run_folder(run_folder, model_path):
    run, full, lite = RunEngine(run_folder.path), RunEngine(model_path), LiteEngine(model_path)
    assert run.languages == full.languages == lite.languages
    assert run.max_candidates == full.max_candidates == lite.max_candidates
    for num_candidates in (1, run.max_candidates):
        expected = [[text for text, _ in candidates] for candidates in run.translate(LINES, num_candidates)]
        for engine in (full, lite):
            candidates_of_lines = engine.translate(LINES, num_candidates)
            assert [[text for text, _ in candidates] for candidates in candidates_of_lines] == expected
    assert list(lite.draft("ein Hund")) == []


def test_graphs_are_made_for_the_longest_sentence_and_with_alternatives(run_folder, monkeypatch):
    made = []
    monkeypatch.setattr("bytenet.decoding.Translator.make_graphs", lambda _, *arguments: made.append(arguments))
    engine = RunEngine(run_folder.path)
    engine.make_graphs()
    assert made == [(engine.max_sentence_chars + 1, 1), (engine.max_sentence_chars + 1, engine.max_candidates)]


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


def test_litert_goes_on_if_tensorflow_cannot_load_the_model(model_path, monkeypatch, caplog, wait_for):
    def fail(path, **options):
        raise InputError("no memory")

    monkeypatch.setattr("bytenet.serving.engines.starting_engine.RunEngine", fail)
    engine = StartingEngine(model_path)
    engine.start_tensorflow()
    wait_for(lambda: not engine.is_starting, "The failure")
    assert engine.batch_sizes == (1,)
    assert engine.translate(["ein Hund"], 1) == LiteEngine(model_path).translate(["ein Hund"], 1)
    assert "no memory" in caplog.text


def test_litert_goes_on_if_the_file_is_replaced(model_path, monkeypatch, caplog, wait_for, tmp_path):
    unused = SimpleNamespace(make_graphs=lambda: pytest.fail("It is used."))
    monkeypatch.setattr("bytenet.serving.engines.starting_engine.RunEngine", lambda path, **options: unused)
    path, other = (shutil.copy(model_path, tmp_path / name) for name in ("model.bytenet", "other.bytenet"))
    engine = StartingEngine(path)
    os.replace(other, path)
    engine.start_tensorflow()
    wait_for(lambda: not engine.is_starting, "The failure")
    assert engine.batch_sizes == (1,)
    assert "has been replaced" in caplog.text


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
