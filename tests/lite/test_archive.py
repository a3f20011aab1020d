"""A `.bytenet` file is checked before anything in it is used, and every fault is one kind of error."""

import errno
import io
import json
import struct
import zipfile

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bytenet.errors import InputError, MissingFileError
from bytenet.lite import archive
from bytenet.lite.archive import Archive, open_zip, packed

from ..archive_entries import entries_of

ENTRIES = {"settings.json": b'{"a": 1}', "vocabulary.json": b"{}", "weights.safetensors": bytes(range(256)) * 9}


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "model.bytenet"
    path.write_bytes(packed(ENTRIES))
    return path


def zipped(entries: dict[str, bytes], compression: int = zipfile.ZIP_STORED) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", compression) as file:
        for name, content in entries.items():
            file.writestr(name, content)
    return stream.getvalue()


def manifest_of(path) -> dict:
    with zipfile.ZipFile(path) as file:
        return json.loads(file.read("manifest.json"))


def test_entries_are_read_as_they_were_written(path):
    opened = Archive(path)
    assert {name: opened.read(name) for name in ENTRIES} == entries_of(path) == ENTRIES
    assert opened.read_json("settings.json") == {"a": 1}
    assert "card.md" not in opened
    with pytest.raises(InputError, match=r"has no card\.md"):
        opened.read("card.md")


def test_equal_entries_give_equal_files():
    assert packed(ENTRIES) == packed(dict(ENTRIES))


def test_what_is_no_file_of_a_model_is_refused(tmp_path):
    with pytest.raises(MissingFileError, match="does not exist"):
        Archive(tmp_path / "nothing")
    with pytest.raises(MissingFileError, match="is a folder"):
        Archive(tmp_path)
    for content in (b"", b"text", zipped({}), zipped({"manifest.json": b"[]"}), zipped({"manifest.json": b"{}"})):
        (tmp_path / "other").write_bytes(content)
        with pytest.raises(InputError, match="is not a model file, or is damaged"):
            Archive(tmp_path / "other")


def test_a_file_that_may_not_be_read_is_not_called_damaged(path, monkeypatch):
    def refuse(*_):
        raise PermissionError(errno.EACCES, "Permission denied")

    opened = Archive(path)
    monkeypatch.setattr(zipfile, "ZipFile", refuse)
    for read in (lambda: Archive(path), lambda: opened.read("settings.json")):
        with pytest.raises(
            InputError, match=r"model\.bytenet cannot be read: Permission denied\. Change its permissions"
        ):
            read()


@settings(max_examples=300)
@given(data=st.data())
def test_no_change_of_bytes_goes_unnoticed(data, tmp_path_factory):
    whole = packed(ENTRIES)
    changed = bytearray(whole)
    for place, value in data.draw(st.lists(st.tuples(st.integers(0, len(whole) - 1), st.integers(0, 255)), max_size=8)):
        changed[place] = value
    cut = bytes(changed)[: data.draw(st.integers(0, len(whole)) | st.just(len(whole)))]
    path = tmp_path_factory.getbasetemp() / "changed.bytenet"
    path.write_bytes(cut)
    try:
        opened = Archive(path)
        read = {name: opened.read(name) for name in ENTRIES}
    except InputError:
        assert cut != whole
    else:
        assert read == ENTRIES  # only what does not matter was changed, such as a time


def test_compressed_entries_are_refused_so_that_none_is_larger_than_the_file(path):
    bomb = zipped(
        {"manifest.json": json.dumps(manifest_of(path)).encode(), "x.json": bytes(10**7)}, zipfile.ZIP_DEFLATED
    )
    assert len(bomb) < 20_000
    path.write_bytes(bomb)
    with pytest.raises(InputError, match="is compressed"):
        Archive(path)


def test_entry_that_claims_to_be_larger_than_the_file_is_refused(path):
    content = path.read_bytes()
    sizes = struct.pack("<II", *[len(ENTRIES["weights.safetensors"])] * 2)
    assert content.count(sizes) == 2  # before the entry, and in the directory
    path.write_bytes(content.replace(sizes, struct.pack("<II", 2**31, 2**31)))
    with pytest.raises(InputError, match="larger than the file"):
        Archive(path)


def test_a_directory_with_many_entries_is_refused_before_it_is_read(tmp_path):
    path = tmp_path / "model.bytenet"
    with zipfile.ZipFile(path, "w") as written:
        for number in range(3000):
            written.writestr(f"{number}.json", b"")
    with pytest.raises(InputError, match=r"directory of the archive has 1\d\d,\d{3} bytes; at most 131,072 are read"):
        Archive(path)
    with open_zip(path, 1 << 20) as opened:
        assert len(opened.infolist()) == 3000


def test_limits_of_sizes_are_kept(path, monkeypatch):
    for limit, value in (("MOST_BYTES", 1000), ("_MOST_ENTRIES", 3), ("_MOST_BYTES_OF_MANIFEST", 100)):
        with monkeypatch.context() as patch:
            patch.setattr(archive, limit, value)
            with pytest.raises(InputError, match="is not a model file"):
                Archive(path)
    monkeypatch.setattr(archive, "_MOST_BYTES_OF_TEXT", 4)
    opened = Archive(path)
    with pytest.raises(InputError, match="at most 4 are read"):
        opened.read_json("settings.json")


@pytest.mark.parametrize("name", ["../settings.json", "/etc/passwd", "a/b.json", "x", "code.py\n"])
def test_names_of_entries_cannot_lead_anywhere(name, path):
    path.write_bytes(packed({name: b"{}"}))
    with pytest.raises(InputError, match="its entries are not those of a model"):
        Archive(path)


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_name_that_occurs_twice_is_refused(path):
    with zipfile.ZipFile(path, "a") as file:
        file.writestr("settings.json", b"{}")
    with pytest.raises(InputError, match="its entries are not those of a model"):
        Archive(path)


@pytest.mark.parametrize("text", [b"[1]", b"{", b"\xff", b'{"a":' * 100_000, b"[" * 100_000])
def test_json_that_is_no_object_is_refused(text, path):
    path.write_bytes(packed({"settings.json": text}))
    with pytest.raises(InputError, match=r"settings\.json is not"):
        Archive(path).read_json("settings.json")


def test_earlier_versions_refuse_only_what_they_cannot_read(path):
    assert manifest_of(path)["format"] == "bytenet-model-1"
    path.write_bytes(packed(ENTRIES | {"copies.json": b"{}"}))
    assert manifest_of(path)["format"] == "bytenet-model-2"
    assert Archive(path).read("copies.json") == b"{}"
    for name in ("bytenet-model-1", "bytenet-model-2"):
        manifest = manifest_of(path) | {"format": name}
        entries = ENTRIES | ({"copies.json": b"{}"} if name == "bytenet-model-1" else {})
        manifest["entries"] = {name: entry for name, entry in manifest["entries"].items() if name in entries}
        other = path.with_name("other.bytenet")
        other.write_bytes(zipped({"manifest.json": json.dumps(manifest).encode(), **entries}))
        with pytest.raises(InputError, match=r"manifest\.json does not describe its entries"):
            Archive(other)


def test_newer_format_is_named(path):
    manifest = manifest_of(path) | {"format": "bytenet-model-3"}
    path.write_bytes(zipped({"manifest.json": json.dumps(manifest).encode(), **ENTRIES}))
    with pytest.raises(InputError, match="has the format 'bytenet-model-3'; this version reads 'bytenet-model-1' and"):
        Archive(path)


@pytest.mark.parametrize("entries", [None, [], {}, {"settings.json": 1}, {"settings.json": {"bytes": 8}}])
def test_manifest_must_describe_every_entry(entries, path):
    manifest = manifest_of(path) | {"entries": entries}
    path.write_bytes(zipped({"manifest.json": json.dumps(manifest).encode(), **ENTRIES}))
    with pytest.raises(InputError, match=r"manifest\.json does not describe its entries"):
        Archive(path)
