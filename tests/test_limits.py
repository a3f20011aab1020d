"""Files beyond a limit are refused with a message that names the limit, and without using much memory."""

import gzip
import io
import json
import os
import tarfile
import threading
import tracemalloc
import zipfile
from contextlib import suppress

import pytest

from bytenet.datasets import Vocabulary, read_lines
from bytenet.datasets.corpora.preparation.archives import read_members
from bytenet.errors import MOST_LINE_CHARS, MOST_MESSAGE_CHARS, ConfigError, InputError, MissingFileError, shortened
from bytenet.limits import MOST_CHARACTERS, SMALL_BYTES, LimitedStream, parse_json, read_limited
from bytenet.lite.lines import decoded_lines


@pytest.fixture(scope="module")
def bomb(tmp_path_factory):
    """A gzip file of 300 kB with 300 MB of short lines."""
    path = tmp_path_factory.mktemp("bomb") / "bomb.de.gz"
    with gzip.open(path, "wb", compresslevel=9) as file:
        for _ in range(300):
            file.write(b"a\n" * 500_000)
    return path


@pytest.fixture
def memory():
    """A function that gives the most bytes that Python had allocated since the test began."""
    tracemalloc.start()
    yield lambda: tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()


def test_gzip_bomb_is_refused_in_bounded_memory(bomb, memory):
    with pytest.raises(InputError, match=r"bomb\.de\.gz holds more than 67,108,864 bytes .* cut it into parts"):
        read_lines(bomb)
    assert memory() < 3 * SMALL_BYTES


def test_bombs_in_archives_are_refused(tmp_path, memory):
    content = b"a\n" * (SMALL_BYTES // 2 + 1)
    with zipfile.ZipFile(tmp_path / "a.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("text", content)
    with tarfile.open(tmp_path / "a.tgz", "w:gz") as archive:
        member = tarfile.TarInfo("text")
        member.size = len(content)
        archive.addfile(member, io.BytesIO(content))
    for name in ("a.zip", "a.tgz"):
        with pytest.raises(InputError, match=rf"{name} holds more than 67,108,864 bytes"):
            read_members(tmp_path / name, ["text"])
    assert memory() < 5 * SMALL_BYTES


def test_a_small_file_of_equal_lines_is_no_bomb(tmp_path):
    path = tmp_path / "equal.de.gz"
    path.write_bytes(gzip.compress(b"a\n" * 1_000_000))
    assert len(read_lines(path)) == 1_000_000


def test_the_limit_of_a_stream_is_exact():
    def read(size):
        return LimitedStream(io.BytesIO(b"x" * size), 10, "here", most_bytes=100).read()

    assert len(read(100)) == 100
    with pytest.raises(InputError, match="here holds more than 100 bytes"):
        read(101)


def test_a_device_without_end_is_refused():
    with pytest.raises(InputError, match=r"/dev/zero:1: found a NUL character"):
        read_lines("/dev/zero")


@pytest.mark.parametrize("path", ["a\0b", "x" * 5000, "/etc/hostname/x"])
def test_impossible_names_of_files_are_refused(path):
    for read in (read_lines, lambda path: read_limited(path, 10, "a text")):
        with pytest.raises(InputError) as error:
            read(path)
        assert len(str(error.value)) <= MOST_MESSAGE_CHARS


def test_line_beyond_the_limit_is_named(tmp_path):
    path = tmp_path / "long.de"
    path.write_text("short\n" + "x" * (MOST_LINE_CHARS + 1) + "\n")
    with pytest.raises(
        InputError, match=r"long\.de:2: the line has 1,000,001 characters; expected .* at most 1,000,000"
    ):
        read_lines(path)


class Endless(io.RawIOBase):
    """A line that never ends."""

    def __init__(self):
        self.bytes_read = 0

    def readable(self):
        return True

    def readinto(self, buffer):
        buffer[:] = b"x" * len(buffer)
        self.bytes_read += len(buffer)
        return len(buffer)


def test_a_line_without_end_is_not_read_for_ever():
    endless = Endless()
    with pytest.raises(InputError, match=r"stdin:1: the line has more than 1,000,000 characters"):
        next(decoded_lines(io.BufferedReader(endless)))
    assert endless.bytes_read < 5 * MOST_LINE_CHARS


def test_a_compressed_stream_is_to_be_decompressed_and_not_converted():
    with pytest.raises(InputError, match=r"^lines\.gz is compressed with gzip; .* Decompress it first"):
        next(decoded_lines(io.BytesIO(gzip.compress(b"ein Hund\n")), "lines.gz"))


def test_a_line_of_the_longest_length_is_read_whatever_its_characters():
    longest = "\U0001f600" * MOST_LINE_CHARS
    stream = io.BytesIO(f"\ufeff{longest[:-1]}\n{longest}\r\nnext".encode())
    assert list(decoded_lines(stream)) == [longest[:-1], longest, "next"]
    with pytest.raises(InputError, match=r"file:2: the line has more than 1,000,000 characters"):
        list(decoded_lines(io.BytesIO(b"a\n" + b"x" * (MOST_LINE_CHARS + 1)), "file"))


def test_a_pipe_of_one_line_without_end_is_refused(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=write_until_closed, args=(pipe,))
    writer.start()
    with pytest.raises(InputError, match=r"pipe has a line of more than 1,000,000 characters; expected one sentence"):
        read_lines(pipe)
    writer.join()


def write_until_closed(pipe):
    with suppress(BrokenPipeError), open(pipe, "wb", buffering=0) as file:
        while True:
            file.write(b"x" * 100_000)


def test_alphabet_beyond_the_limit_is_refused():
    characters = [
        chr(0xF0000 + number) if number < 60_000 else chr(0x100000 + number - 60_000)
        for number in range(MOST_CHARACTERS + 1)
    ]
    with pytest.raises(
        InputError, match=r"100,001 different characters; expected at most 100,000.*min_character_count"
    ):
        Vocabulary.from_texts(["".join(characters)])


def test_a_missing_and_a_large_file_are_named(tmp_path):
    with pytest.raises(MissingFileError, match=r"no file .*gone; expected a thing"):
        read_limited(tmp_path / "gone", 10, "a thing")
    (tmp_path / "large").write_bytes(b"x" * 11)
    with pytest.raises(InputError, match=r"large is larger than 10 bytes, so it is not a thing"):
        read_limited(tmp_path / "large", 10, "a thing")
    with pytest.raises(InputError, match="is a folder; expected a thing"):
        read_limited(tmp_path, 10, "a thing")


@pytest.mark.parametrize(
    "content",
    [
        "null",
        "[" * 100_000,
        '{"a":' * 100_000,
        "9" * 10_000,
        '{"a": "x"}',
        '{"a": 1.5}',
        "",
        "\ud800",
        '"' + "x" * 9999,
    ],
)
def test_other_json_gives_one_kind_of_error(content):
    with pytest.raises(InputError, match=r"here is damaged \(.*\); expected numbers") as error:
        parse_json(content.encode("utf-8", "surrogatepass"), dict[str, int], "here", "numbers")
    assert len(str(error.value)) < 500


def test_json_that_python_writes_is_read():
    content = {"a": float("nan"), "b": float("inf"), "c": 2.5}
    assert repr(parse_json(json.dumps(content), dict[str, float], "here", "numbers")) == repr(content)


def test_messages_are_short_and_keep_both_ends():
    message = str(ConfigError("begin " + "x" * 1_000_000 + " end"))
    assert len(message) == MOST_MESSAGE_CHARS
    assert message.startswith("begin x")
    assert message.endswith("x end")
    assert "[... 1,000,010 characters ...]" in message
    assert shortened("short") == "short"
