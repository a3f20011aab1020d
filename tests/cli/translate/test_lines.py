"""`bytenet translate`: each input line gives one output line."""

import gzip
import os
import subprocess
import sys

import pytest

from bytenet.cli.translate import translate
from bytenet.cli.translate.inputs import lines_of_stdin
from bytenet.datasets import Vocabulary
from bytenet.errors import InputError, MissingFileError

from .sample_text import TEXT

pytestmark = pytest.mark.usefixtures("shared_translators")


def test_each_line_gives_one_line_and_blank_lines_stay_blank(run_folder, invoke):
    result = invoke(translate, run_folder.path, stdin=TEXT)
    assert "Type a sentence" not in result.stderr
    lines = result.stdout_bytes.decode().split("\n")
    assert [bool(line) for line in lines] == [True, False, True, False, True, False]
    assert "Translated 5 lines" in result.stderr
    without_last_end = invoke(translate, run_folder.path, stdin=TEXT.removesuffix(b"\n"))
    assert without_last_end.stdout_bytes == result.stdout_bytes
    windows = invoke(translate, run_folder.path, stdin=TEXT.replace(b"\n", b"\r\n"))
    assert windows.stdout_bytes == result.stdout_bytes


def test_empty_input_gives_empty_output(run_folder, invoke, tmp_path):
    assert invoke(translate, run_folder.path, stdin=b"").stdout_bytes == b""
    (tmp_path / "empty").touch()
    assert invoke(translate, run_folder.path, tmp_path / "empty").stdout_bytes == b""


def test_files_give_the_same_output_as_stdin_and_stdout(run_folder, invoke, tmp_path):
    (tmp_path / "in.gz").write_bytes(gzip.compress(TEXT))
    result = invoke(translate, run_folder.path, tmp_path / "in.gz", "--output", tmp_path / "out")
    assert result.stdout_bytes == b""
    assert (tmp_path / "out").read_bytes() == invoke(translate, run_folder.path, stdin=TEXT).stdout_bytes
    invoke(translate, run_folder.path, tmp_path / "in.gz", "--output", tmp_path / "out.gz")
    assert gzip.decompress((tmp_path / "out.gz").read_bytes()) == (tmp_path / "out").read_bytes()


def test_only_newlines_end_lines(run_folder, invoke):
    result = invoke(translate, run_folder.path, stdin="ein\u2028Hund\x85 zwei\rdrei\n".encode())
    assert result.stdout_bytes.count(b"\n") == 1


def test_invalid_utf8_error_names_line_and_byte(run_folder, invoke, tmp_path):
    with pytest.raises(InputError, match=r"stdin:2: byte 3 of the line is 0xe4.*iconv"):
        invoke(translate, run_folder.path, stdin=b"ein\nH\xc3\xa4\xe4\n".replace(b"\xc3\xa4", b"a"))
    (tmp_path / "in").write_bytes(b"ein\nHa\xe4\n")
    with pytest.raises(InputError, match=r"in:2: byte 3 of the line"):
        invoke(translate, run_folder.path, tmp_path / "in")


def test_stdin_is_read_like_a_file(run_folder, invoke):
    plain = invoke(translate, run_folder.path, stdin=b"ein Hund\n").stdout
    assert invoke(translate, run_folder.path, stdin=b"\xef\xbb\xbfein Hund\r\n").stdout == plain
    with pytest.raises(InputError, match="stdin:2: found a NUL character"):
        invoke(translate, run_folder.path, stdin=b"ein\nH\0und\n")


def test_lines_of_a_pipe_are_read_one_by_one(monkeypatch):
    reading, writing = os.pipe()
    os.write(writing, b"ein\n")
    with open(reading) as stdin, open(writing, "wb"):  # the pipe may go on
        monkeypatch.setattr(sys, "stdin", stdin)
        assert next(iter(lines_of_stdin())) == "ein"


def test_a_person_at_a_terminal_is_asked_for_sentences(run_folder, monkeypatch, capsys):
    keyboard, terminal = os.openpty()
    os.write(keyboard, b"ein Hund\n\x04")
    with open(keyboard, "rb"), open(terminal, encoding="utf-8") as stdin:
        monkeypatch.setattr(sys, "stdin", stdin)
        translate.main([str(run_folder.path)], standalone_mode=False)
    out, err = capsys.readouterr()
    assert out.count("\n") == 1
    assert "Type a sentence and press Enter. Ctrl-D ends.\n" in err


@pytest.mark.thorough
def test_window_of_one_answers_each_line_before_reading_the_next(run_folder):
    command = [sys.executable, "-m", "bytenet", "translate", str(run_folder.path), "--window", "1", "--beam-size", "1"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        for _ in range(2):
            process.stdin.write(b"ein Hund\n")
            process.stdin.flush()
            assert process.stdout.readline().endswith(b"\n")
        process.stdin.close()
        assert process.wait() == 0


def test_a_dash_is_standard_input_or_output(run_folder, invoke, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    expected = invoke(translate, run_folder.path, stdin=TEXT).stdout
    assert invoke(translate, run_folder.path, "-", "--output", "-", stdin=TEXT).stdout == expected
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "-").write_bytes(TEXT)
    assert invoke(translate, run_folder.path, "-").stdout == expected


def test_an_empty_argument_is_refused(run_folder, invoke):
    result = invoke(translate, run_folder.path, "")
    assert result.exit_code == 2
    assert "An argument is empty. Give models and a file" in result.stderr


def test_lines_whose_translation_is_empty_are_counted(run_folder, invoke, monkeypatch):
    monkeypatch.setattr(Vocabulary, "decode", lambda *_: "")
    for text, message in (("ein\n\nzwei\n", "2 lines have"), ("ein\n \n", "1 line has"), ("\n", None)):
        result = invoke(translate, run_folder.path, stdin=text.encode())
        assert ("empty" in result.stderr) is (message is not None)
        assert f" {message} an empty translation.\n" in result.stderr or message is None


def test_a_text_in_the_place_of_a_file_is_no_file(run_folder, invoke):
    with pytest.raises(MissingFileError, match=r"There is no file Ein Satz.* To translate a text: echo 'Ein Satz"):
        invoke(translate, run_folder.path, "Ein Satz " * 40)
    with pytest.raises(MissingFileError, match="does not exist; expected the folder of a run"):
        invoke(translate, "Ein Satz " * 40)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["one.de"], "The first argument is the model, for example: bytenet translate de-en one.de. A model is"),
        (["de-en", "one.de", "two.de"], "Give one FILE, as the last argument, for example: bytenet translate de-en"),
    ],
)
def test_a_text_file_in_the_place_of_a_model_is_named(arguments, message, invoke, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("one.de", "two.de"):
        (tmp_path / name).write_bytes(TEXT)
    result = invoke(translate, *arguments)
    assert result.exit_code == 2
    assert f"Error: one.de is not a model. {message}" in result.stderr


def test_error_names_an_unusable_run_folder_or_input_file(run_folder, invoke, tmp_path):
    with pytest.raises(MissingFileError, match="nothing does not exist; expected the folder of a run"):
        invoke(translate, tmp_path / "nothing", stdin=TEXT)
    with pytest.raises(MissingFileError, match="not a run folder"):
        invoke(translate, tmp_path, stdin=TEXT)
    advice = f"There is no file Guten Morgen; .* echo 'Guten Morgen' | bytenet translate {run_folder.path}"
    with pytest.raises(MissingFileError, match=advice.replace("|", r"\|") + "$"):
        invoke(translate, run_folder.path, "Guten Morgen")
