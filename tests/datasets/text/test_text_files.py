"""Reading text files: what is kept, what is reported, what is refused."""

import bz2
import gzip
import logging
import lzma

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bytenet.datasets.text.text_files import read_lines, read_parallel, split_lines
from bytenet.errors import InputError, MissingFileError


@pytest.fixture
def write(tmp_path):
    def write_file(content: bytes, name: str = "text.de"):
        path = tmp_path / name
        path.write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
        return path

    return write_file


def test_lines_end_at_newlines_only(write):
    content = "Erste\x0bZeile\n  zweite \u2028Zeile\t\n\nl\u00e4\x85tzte\x1c".encode()
    for name in ("text.de", "text.de.gz"):
        assert read_lines(write(content, name)) == [
            "Erste\x0bZeile",
            "  zweite \u2028Zeile\t",
            "",
            "lä\x85tzte\x1c",
        ]


@pytest.mark.parametrize(
    ("content", "lines"),
    [
        (b"a\nb\n", ["a", "b"]),
        (b"a\nb", ["a", "b"]),
        (b"a\n\n", ["a", ""]),
        (b"\n", [""]),
        (b"\n\n", ["", ""]),
    ],
)
def test_a_final_newline_ends_the_last_line(write, content, lines):
    assert read_lines(write(content)) == lines


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be", "utf-16-le"])
def test_utf_16_is_named_in_the_error(write, encoding):
    with pytest.raises(InputError, match=r"UTF-16.*UTF-8") as told:
        read_lines(write("sch\u00f6n \u2028\n".encode(encoding)))
    assert "8859" not in str(told.value)


def test_file_with_only_a_byte_order_mark_is_empty(write):
    with pytest.raises(InputError, match="is empty"):
        read_lines(write(b"\xef\xbb\xbf"))
    assert read_lines(write(b"\xef\xbb\xbf"), allow_empty=True) == []


texts_without_nul = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0\n\r\ufeff"))


@given(st.lists(texts_without_nul, min_size=1))
def test_any_lines_are_read_back_unchanged(lines):
    logging.getLogger("bytenet.datasets").disabled = True
    try:
        assert split_lines("".join(line + "\n" for line in lines).encode(), "text") == lines
    finally:
        logging.getLogger("bytenet.datasets").disabled = False


@pytest.mark.parametrize(
    ("character", "name"),
    [("\u2028", "U+2028"), ("\u2029", "U+2029"), ("\x85", "U+0085"), ("\r", "U+000D"), ("\f", "U+000C")],
)
def test_other_line_break_characters_are_kept_and_reported(write, caplog, character, name):
    path = write(f"eins\nzw{character}ei\ndrei\nvi{character}er\n".encode())
    assert read_lines(path) == ["eins", f"zw{character}ei", "drei", f"vi{character}er"]
    (record,) = caplog.records
    assert record.levelno == logging.WARNING
    assert f"{path}: {name}" in record.getMessage()
    assert "2 line(s) (2, 4)" in record.getMessage()


def test_carriage_returns_on_some_lines_are_kept_and_reported(write, caplog):
    assert read_lines(write(b"eins\r\nzwei\ndrei\r\n")) == ["eins\r", "zwei", "drei\r"]
    [message] = caplog.messages
    assert "2 of 3 lines have Windows line ends (1, 3). Their \\r was kept as a character. Remove it, for" in message


def test_windows_line_ends_are_removed(write, caplog):
    assert read_lines(write(b"eins\r\nzwei\r\n")) == ["eins", "zwei"]
    assert "Windows line ends" in caplog.text


def test_windows_line_ends_are_removed_if_the_last_line_has_none(write, caplog):
    assert read_lines(write(b"eins\r\nzwei\r\ndrei")) == ["eins", "zwei", "drei"]
    assert "Windows line ends" in caplog.text


def test_byte_order_mark_is_removed(write, caplog):
    assert read_lines(write(b"\xef\xbb\xbfeins\n")) == ["eins"]
    assert "byte order mark" in caplog.text


def test_byte_order_marks_elsewhere_are_kept_and_reported(write, caplog):
    assert read_lines(write("\ufeff\ufeffeins\nzwei\ndr\ufeffei\n".encode())) == ["\ufeffeins", "zwei", "dr\ufeffei"]
    assert "starts with a byte order mark. It was removed." in caplog.messages[0]
    assert "a byte order mark, U+FEFF, is within 2 line(s) (1, 3). It was kept as a character." in caplog.messages[1]


@pytest.mark.parametrize("text", [b"eins\rzwei\rdrei\r", b"eins\rzwei"])
def test_carriage_returns_instead_of_newlines_are_reported(write, text, caplog):
    assert read_lines(write(text)) == [text.decode()]
    assert f"has {text.count(13)} \\r but no \\n, so it is one line." in caplog.messages[0]
    assert "tr '\\r' '\\n'" in caplog.messages[0]
    assert not any("Windows" in message for message in caplog.messages)


def test_one_line_may_end_in_a_carriage_return(write):
    assert read_lines(write(b"eins\r")) == ["eins\r"]


def test_ordinary_text_is_not_reported(write, caplog):
    read_lines(write("Ein \u00a0 ganz\tgew\u00f6hnlicher Text\n".encode()))
    assert caplog.records == []


def test_report_of_many_lines_is_shortened(write, caplog):
    read_lines(write(b"a\rb\n" * 100))
    assert "100 line(s) (1, 2, 3, 4, 5 and 95 more)" in caplog.text


def test_invalid_utf_8_error_names_line_and_byte(write):
    path = write("äb\n".encode() + b"c\xe4d\n")
    with pytest.raises(InputError, match=rf"{path}:2: byte 2 of the line \(byte 6 of the file\) is 0xe4.*iconv"):
        read_lines(path)


def test_nul_error_names_the_line(write):
    path = write(b"a\nb\nc\0d\n")
    with pytest.raises(InputError, match=rf"{path}:3: found a NUL.*UTF-16"):
        read_lines(path)


def test_spreadsheet_is_called_a_zip_archive(write):
    with pytest.raises(InputError, match=r"is a zip archive, as \.xlsx"):
        read_lines(write(b"PK\x03\x04\x14\0\0"))


@pytest.mark.parametrize(
    ("compress", "advice"),
    [
        (gzip.compress, r"is compressed with gzip; expected text\. Decompress it \(gzip -d\), or give the file a name"),
        (lzma.compress, r"is compressed with xz; expected text or \.gz\. Decompress it first\."),
        (bz2.compress, r"is compressed with bzip2; expected text or \.gz\."),
    ],
)
def test_compression_that_the_name_does_not_say_is_named(write, compress, advice):
    path = write(compress(b"line\n" * 1000))
    with pytest.raises(InputError, match=f"^{path} {advice}"):
        read_lines(path)


@pytest.mark.parametrize("name", ["text.de", "text.de.gz"])
def test_an_empty_file_is_refused(write, name):
    path = write(b"", name)
    with pytest.raises(InputError, match=rf"{path} is empty"):
        read_lines(path)
    assert read_lines(path, allow_empty=True) == []


def test_a_missing_file_is_refused(tmp_path):
    with pytest.raises(MissingFileError, match=r"no file .*gone\.de"):
        read_lines(tmp_path / "gone.de")


def test_a_folder_is_refused(tmp_path):
    with pytest.raises(InputError, match="is a folder"):
        read_lines(tmp_path)


def test_a_broken_gzip_file_is_refused(write, tmp_path):
    whole = write(b"line\n" * 1000, "whole.gz").read_bytes()
    path = tmp_path / "cut.gz"
    for content in (whole[:-20], b"plain text", whole[:12] + b"\xff" * 10 + whole[22:]):
        path.write_bytes(content)
        with pytest.raises(InputError, match=r"cut\.gz is not a complete gzip file"):
            read_lines(path)


def test_parallel_files_are_read_as_pairs(write):
    pairs = read_parallel(write(b"ein\nzwei\n", "a.de"), write(b"one\ntwo\n", "a.en.gz"))
    assert (pairs.source, pairs.target, len(pairs)) == (["ein", "zwei"], ["one", "two"], 2)


def test_unequal_line_counts_are_refused(write):
    with pytest.raises(InputError, match=r"a\.de has 2 lines but .*a\.en has 3; expected the same number"):
        read_parallel(write(b"ein\nzwei\n", "a.de"), write(b"one\ntwo\nthree\n", "a.en"))
    columns = write(b"ein\tone\nzwei\ttwo\n", "all.tsv")
    with pytest.raises(InputError, match=r"Every line of .*all\.tsv has a TAB: `cut -f1`"):
        read_parallel(columns, write(b"one\n", "b.en"))
