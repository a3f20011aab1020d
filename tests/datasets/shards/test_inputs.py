"""Inputs of shards: every form gives the same lines; damage is named."""

import errno
import gzip
import io
import os
import subprocess
import zipfile
from types import SimpleNamespace

import pytest

from bytenet.datasets.shards.sharding import inputs
from bytenet.datasets.shards.sharding.inputs import read_inputs
from bytenet.datasets.text.reading_faults import reading_fault
from bytenet.errors import InputError, MissingFileError

# Characters at which other programs break a line, an empty line, and a last line without an end.
SOURCE = "ein\u2028Haus\n\nzwei\u0085\r\ndrei"
TARGET = "a house\nnothing\ntwo\r\nthree"
PAIRS = [
    ("ein\u2028Haus", "a house"),
    ("", "nothing"),
    ("zwei\u0085\r", "two\r"),
    ("drei", "three"),
]


def read(paths, languages=("de", "en")):
    return [
        (source.decode(), target.decode())
        for block in read_inputs([str(path) for path in paths], languages)
        for source, target in zip(block.source, block.target, strict=True)
    ]


def write(path, text):
    data = text.encode()
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path


@pytest.fixture
def tsv():
    return "".join(f"{source}\t{target}\tmore\n" for source, target in PAIRS)


@pytest.mark.parametrize("suffix", ["", ".gz"])
def test_two_text_files_end_lines_only_at_newlines(tmp_path, suffix):
    paths = write(tmp_path / f"a.de{suffix}", SOURCE), write(tmp_path / f"a.en{suffix}", TARGET)
    assert read(paths) == PAIRS


def test_a_pipe_is_read_like_a_file(tmp_path):
    """As from `<(zcat a.gz)` in a shell."""
    path = write(tmp_path / "a.en", TARGET)
    with subprocess.Popen(["printf", "%s", SOURCE], stdout=subprocess.PIPE) as process:
        assert read([f"/dev/fd/{process.stdout.fileno()}", path]) == PAIRS


def test_a_moses_zip_has_the_files_of_the_languages(tmp_path):
    path = tmp_path / "de-en.txt.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("README", "about")
        archive.writestr("Corpus.de-en.de", SOURCE)
        archive.writestr("Corpus.de-en.en", TARGET)
        archive.writestr("Corpus.de-en.ids", "1\n2\n")
    assert read([path]) == PAIRS
    assert read([path], ("en", "de")) == [(target, source) for source, target in PAIRS]
    with pytest.raises(InputError, match=r"has 0 files that end in \.da; expected one\. It has: README, Corpus"):
        read([path], ("da", "en"))


@pytest.mark.parametrize("name", ["a.tsv", "a.tsv.gz"])
def test_tab_separated_text_has_two_columns(tmp_path, tsv, name):
    path = tmp_path / name
    path.write_bytes(gzip.compress(tsv.encode()) if name.endswith(".gz") else tsv.encode())
    assert read([path]) == PAIRS
    (block,) = read_inputs([str(write(tmp_path / "b.tsv", "a\tb\nalone\n"))], ("de", "en"))
    assert block.incomplete.tolist() == [False, True]


def test_standard_input_and_several_inputs_come_one_after_the_other(tmp_path, tsv, monkeypatch):
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(tsv.encode())))
    paths = write(tmp_path / "a.de", SOURCE), write(tmp_path / "a.en", TARGET)
    assert read(["-", *paths]) == PAIRS + PAIRS


def test_blocks_are_aligned_however_they_are_cut(tmp_path, monkeypatch):
    monkeypatch.setattr(inputs, "LINES_IN_BLOCK", 3)
    monkeypatch.setattr(inputs, "_READ_BYTES", 7)
    expected = [(f"{n}" * (n % 5), f"line {n}") for n in range(50)]
    sides = ["".join(f"{pair[side]}\n" for pair in expected) for side in (0, 1)]
    paths = write(tmp_path / "a.de.gz", sides[0]), write(tmp_path / "a.en", sides[1])
    assert read(paths) == expected
    blocks = list(read_inputs([str(path) for path in paths], ("de", "en")))
    assert [block.first_line for block in blocks] == list(range(1, 51, 3))


def test_byte_order_marks_and_windows_line_ends_are_removed(tmp_path, caplog):
    paths = write(tmp_path / "a.de", "\ufeffein\r\nzwei\r\n"), write(tmp_path / "a.en", "one\ntwo\r\n")
    assert read(paths) == [("ein", "one"), ("zwei", "two\r")]
    assert "byte order mark" in caplog.text
    assert "Windows line ends" in caplog.text


@pytest.mark.parametrize("read_bytes", [1, 2, 7])
def test_a_byte_order_mark_is_removed_however_little_is_read_at_once(tmp_path, monkeypatch, read_bytes):
    monkeypatch.setattr(inputs, "_READ_BYTES", read_bytes)
    paths = write(tmp_path / "a.de", "\ufeffein langer Satz\nzwei"), write(tmp_path / "a.en", "one\ntwo\n")
    assert read(paths) == [("ein langer Satz", "one"), ("zwei", "two")]
    assert read([write(tmp_path / "b.de", "\ufeff"), write(tmp_path / "b.en", "")]) == []


@pytest.mark.parametrize(
    ("source", "target", "message"),
    [
        (b"a\nb\nc\n", b"a\nb\n", "one side ends after 2 lines, but the other goes on"),
        ("a".encode("utf-16"), b"a\n", "is UTF-16; expected UTF-8"),
        (b"PK\x03\x04\n", b"a\n", "is a zip archive, as .xlsx"),
        (gzip.compress(b"a\n", mtime=0), b"a\n", "is compressed with gzip; expected text"),
        (b"a" * 100, b"a\n", "a line of more than 50 bytes"),
    ],
)
def test_files_that_cannot_be_read_are_explained(tmp_path, monkeypatch, source, target, message):
    monkeypatch.setattr(inputs, "_LONGEST_LINE_BYTES", 50)
    (tmp_path / "a.de").write_bytes(source)
    (tmp_path / "a.en").write_bytes(target)
    with pytest.raises(InputError, match=message):
        read([tmp_path / "a.de", tmp_path / "a.en"])


def test_only_a_single_line_is_limited_in_length(tmp_path, monkeypatch):
    monkeypatch.setattr(inputs, "_LONGEST_LINE_BYTES", 50)
    monkeypatch.setattr(inputs, "_READ_BYTES", 7)
    lines = [("nine char", "eight ch")] * 50
    paths = [write(tmp_path / f"a.{side}", "".join(f"{pair[side]}\n" for pair in lines)) for side in (0, 1)]
    assert read(paths) == lines
    with open(paths[0], "a", encoding="utf-8") as file:
        file.write("a" * 60)
    with pytest.raises(InputError, match="a line of more than 50 bytes"):
        read(paths)


def test_a_standard_input_that_does_not_wait_is_explained(monkeypatch):
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=SimpleNamespace(read=lambda size: None)))
    with pytest.raises(InputError, match=r"standard input has no data now.*cat"):
        read(["-"])


def test_broken_archives_are_explained(tmp_path):
    whole = gzip.compress(b"ein\teins\n" * 10_000)
    for content in (whole[:-9], whole[:60], b"no gzip", whole[:20] + b"\0\0\0\0\0" + whole[25:]):
        (tmp_path / "a.tsv.gz").write_bytes(content)
        with pytest.raises(InputError, match="is not a complete compressed file"):
            read([tmp_path / "a.tsv.gz"])
    (tmp_path / "a.zip").write_bytes(b"PK no zip")
    with pytest.raises(InputError, match="is not a complete zip archive that can be read"):
        read([tmp_path / "a.zip"])


@pytest.mark.parametrize("compression", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_damaged_members_of_archives_are_explained(tmp_path, compression):
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w", compression) as archive:
        for language in ("de", "en"):
            archive.writestr(f"a.{language}", "".join(f"line {number}\n" for number in range(3000)))
    whole = path.read_bytes()
    for place in range(40, 400, 30):
        path.write_bytes(whole[:place] + bytes(byte ^ 255 for byte in whole[place : place + 30]) + whole[place + 30 :])
        with pytest.raises(InputError, match=r"a\.zip is not a complete"):
            read([path])


def test_a_file_that_the_system_cannot_read_is_not_called_damaged(tmp_path, monkeypatch):
    other = write(tmp_path / "a.en", TARGET)
    with pytest.raises(InputError, match=r"^/proc/self/mem cannot be read: Input/output error\. Look at the file"):
        read(["/proc/self/mem", other])  # its first page is never mapped

    def refuse(path):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)

    monkeypatch.setattr("zipfile.ZipFile", refuse)
    with pytest.raises(InputError, match=r"a\.zip cannot be read: Permission denied\. Change its permissions\.$"):
        read([write(tmp_path / "a.zip", "")])


def test_a_place_before_the_beginning_of_an_archive_is_damage():
    error = OSError(errno.EINVAL, "Invalid argument")
    assert str(reading_fault("a.zip", error, "Fetch a.zip again.")) == "Fetch a.zip again."


def test_inputs_that_do_not_exist_or_are_alone_are_explained(tmp_path):
    alone = write(tmp_path / "a.de", SOURCE)
    with pytest.raises(InputError, match="is a text file without its other side"):
        read([alone])
    with pytest.raises(MissingFileError, match=r"b\.tsv does not exist"):
        read([tmp_path / "b.tsv"])
    with pytest.raises(InputError, match="is a folder") as refused:
        read([tmp_path, alone])
    assert not isinstance(refused.value, MissingFileError)
