"""`bytenet translate`: what it writes to, and what it does not overwrite."""

import errno
import gzip
import os
import subprocess
import sys
from contextlib import suppress

import click
import pytest

from bytenet.cli.translate import translate
from bytenet.errors import InputError, MissingFileError

from .sample_text import TEXT

pytestmark = pytest.mark.usefixtures("shared_translators")


def test_output_works_for_a_pipe_and_is_refused_for_a_bad_path(run_folder, invoke, tmp_path):
    assert invoke(translate, run_folder.path, "--output", tmp_path, stdin=TEXT).exit_code == 2
    with pytest.raises(MissingFileError, match=r"nowhere/out cannot be written: there is no folder .*nowhere\. Make"):
        invoke(translate, run_folder.path, "--output", tmp_path / "nowhere" / "out", stdin=TEXT)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with subprocess.Popen(["cat", pipe], stdout=subprocess.PIPE) as reader:
        invoke(translate, run_folder.path, "--output", pipe, stdin=b"\n")
        assert reader.stdout.read() == b"\n"
    assert pipe.is_fifo()
    compressed = pipe.rename(tmp_path / "pipe.gz")
    with subprocess.Popen(["cat", compressed], stdout=subprocess.PIPE) as reader:
        invoke(translate, run_folder.path, "--output", compressed, stdin=b"\n")
        assert gzip.decompress(reader.stdout.read()) == b"\n"


def test_the_file_to_translate_is_not_overwritten(run_folder, invoke, tmp_path):
    (tmp_path / "text").write_bytes(TEXT)
    (tmp_path / "link").symlink_to("text")
    for output in ("text", "link"):
        result = invoke(translate, run_folder.path, tmp_path / "text", "--output", tmp_path / output)
        assert result.exit_code == 2
        assert "--output is the input itself" in result.stderr
    assert (tmp_path / "text").read_bytes() == TEXT
    with pytest.raises(MissingFileError, match=r"There is no file Guten Morgen; .* To translate a text"):
        invoke(translate, run_folder.path, "Guten Morgen", "--output", tmp_path / "text")
    assert invoke(translate, run_folder.path, "/dev/null", "--output", "/dev/null").exit_code == 0


def test_the_file_of_the_standard_input_is_not_overwritten(run_folder, tmp_path, monkeypatch):
    (tmp_path / "text").write_bytes(TEXT)
    with open(tmp_path / "text") as stdin:
        monkeypatch.setattr(sys, "stdin", stdin)
        with pytest.raises(click.UsageError, match="--output is the input itself"):
            translate.main([str(run_folder.path), "--output", str(tmp_path / "text")], standalone_mode=False)
    assert (tmp_path / "text").read_bytes() == TEXT
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(click.UsageError, match=r"There is no standard input\. Give a FILE\."):
        translate.main([str(run_folder.path)], standalone_mode=False)


def test_without_a_standard_output_a_file_is_needed(run_folder, tmp_path, monkeypatch):
    (tmp_path / "text").write_bytes(TEXT)
    monkeypatch.setattr(sys, "stdout", None)
    with pytest.raises(click.UsageError, match=r"There is no standard output\. Give --output\."):
        translate.main([str(run_folder.path), str(tmp_path / "text")], standalone_mode=False)
    output = ["--output", str(tmp_path / "out")]
    translate.main([str(run_folder.path), str(tmp_path / "text"), *output], standalone_mode=False)
    assert (tmp_path / "out").exists()


def test_a_file_that_is_written_has_a_progress_bar(run_folder, invoke, tmp_path):
    (tmp_path / "text").write_bytes(TEXT)
    assert "Translating" in invoke(translate, run_folder.path, tmp_path / "text", "--output", tmp_path / "out").stderr
    assert "Translating" not in invoke(translate, run_folder.path, tmp_path / "text").stderr


@pytest.mark.parametrize(
    ("stdin", "stdout", "is_shown"),
    [("file", "file", True), ("pipe", "file", False), ("file", "terminal", False), ("FILE", "file", True)],
)
def test_the_terminal_has_a_progress_bar_if_the_number_of_lines_is_known_and_translations_go_elsewhere(
    run_folder, tmp_path, monkeypatch, stdin, stdout, is_shown
):
    (tmp_path / "text").write_bytes(TEXT)
    reading, writing = os.pipe()
    os.write(writing, TEXT)
    os.close(writing)
    screen, terminal = os.openpty()
    with (
        open(reading) as pipe, open(tmp_path / "text") as file,
        open(terminal, "w") as stderr, open(tmp_path / "out", "w") as out, monkeypatch.context() as patch,
    ):  # fmt: skip
        patch.setattr(sys, "stdin", file if stdin == "file" else pipe)
        patch.setattr(sys, "stdout", stderr if stdout == "terminal" else out)
        patch.setattr(sys, "stderr", stderr)
        files = [str(tmp_path / "text")] if stdin == "FILE" else []
        translate.main([str(run_folder.path), *files], standalone_mode=False)
    shown = "".join(_shown_on(screen))
    assert ("Translating" in shown) is is_shown
    assert ("100%" in shown) is is_shown
    assert "Translated 5 lines" in shown


def _shown_on(screen):
    """What was written on a terminal that is closed."""
    with open(screen, "rb", buffering=0) as file, suppress(OSError):  # Linux ends with an error
        while part := file.read(10_000):
            yield part.decode()


def test_output_to_a_link_writes_what_it_points_to(run_folder, invoke, tmp_path):
    (tmp_path / "out").write_text("earlier\n")
    (tmp_path / "link").symlink_to("out")
    expected = invoke(translate, run_folder.path, stdin=TEXT).stdout
    invoke(translate, run_folder.path, "--output", tmp_path / "link", stdin=TEXT)
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "out").read_text(encoding="utf-8") == expected
    with open(tmp_path / "out", "ab") as file:  # as a shell does for >>
        (tmp_path / "descriptor").symlink_to(f"/dev/fd/{file.fileno()}")
        invoke(translate, run_folder.path, "--output", tmp_path / "descriptor", stdin=TEXT)
    assert (tmp_path / "out").read_text(encoding="utf-8") == expected * 2
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(InputError, match=r"loop cannot be written: it is a link that leads nowhere\. Remove the link"):
        invoke(translate, run_folder.path, "--output", tmp_path / "loop", stdin=TEXT)


def test_failure_midway_keeps_the_earlier_output(run_folder, invoke, tmp_path, monkeypatch):
    from bytenet.decoding import Translator

    def fail_after_one(self, lines, *arguments, **options):
        whole = original(self, lines, *arguments, **options)
        yield next(whole)
        raise OSError(errno.ENOSPC, "No space left on device")

    original = Translator.translate
    monkeypatch.setattr(Translator, "translate", fail_after_one)
    (tmp_path / "out").write_text("earlier\n")
    with pytest.raises(InputError, match="disk is full"):
        invoke(translate, run_folder.path, "--output", tmp_path / "out", stdin=TEXT)
    assert (tmp_path / "out").read_text() == "earlier\n"
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
