"""Reading a folder of shards: files that are damaged, changed or of other shards are refused."""

import gzip
import json

import numpy as np
import pytest

from bytenet.datasets.shards import side_file as side_file_module
from bytenet.datasets.shards.folder import ShardFolder, index_path
from bytenet.datasets.shards.sharding.filters import FilterSettings
from bytenet.datasets.shards.sharding.shard_corpus import shard_corpus
from bytenet.datasets.shards.side_file import ShardPaths, SideFile
from bytenet.errors import InputError, MissingFileError


def side_file(source="[3]", target="[3]", pairs="[1]", total="1"):
    lengths = f'{{"source": {source}, "target": {target}, "pairs": {pairs}}}'
    texts = '"sha256": "", "lengths_sha256": "", "characters": {}'
    return f'{{"format": "bytenet-shard-1", "pairs": {total}, "bytes": 1, "lengths": {lengths}, {texts}}}'


DAMAGED = [
    "{}",
    "[]",
    "no JSON",
    '{"format": "bytenet-shard-1", "pairs": 1, "lengths": 3}',
    "[" * 100_000,
    side_file(total="2"),
    side_file(source="[3, 4]"),
    side_file(source="[-1]"),
    side_file(source="[65536]"),
    side_file(pairs=f"[{2**64}]", total=f"{2**64}"),
]


def test_a_sound_side_file_is_read(tmp_path):
    paths = ShardPaths(tmp_path, 0)
    paths.side.write_text(side_file())
    assert SideFile.read(paths).pairs == 1


@pytest.mark.parametrize("content", DAMAGED)
def test_damaged_side_files_are_explained(shards, tmp_path, content):
    paths = shards.shards[0].paths
    own = type(paths)(tmp_path, 0)
    own.side.write_text(content)
    with pytest.raises(InputError, match="is not a side file of a shard"):
        SideFile.read(own)


def test_a_large_side_file_is_not_read_to_its_end(tmp_path, monkeypatch):
    paths = ShardPaths(tmp_path, 0)
    paths.side.write_text(side_file())
    monkeypatch.setattr(side_file_module, "_MOST_BYTES", 10)
    with pytest.raises(InputError, match="is larger than 10 bytes, so it is not a side file of a shard"):
        SideFile.read(paths)


@pytest.mark.parametrize("shards", ["0", "-1", "null", '"2"'])
def test_a_damaged_index_is_explained(tmp_path, shards):
    index_path(tmp_path).write_text(f'{{"format": "bytenet-shards-1", "languages": ["de", "en"], "shards": {shards}}}')
    with pytest.raises(InputError, match="is not the index of a folder of shards"):
        ShardFolder.open(tmp_path)


def test_the_languages_are_known_without_the_side_files(tmp_path):
    index_path(tmp_path).write_text('{"format": "bytenet-shards-1", "languages": ["de", "en"], "shards": 1}')
    folder = ShardFolder.open(tmp_path)
    assert folder.languages == ("de", "en")
    with pytest.raises(MissingFileError, match=r"shard-00000\.json is missing"):
        len(folder)


@pytest.mark.parametrize("character", ["ab", "\\ud800", ""])
def test_counts_of_something_else_than_characters_are_refused(tmp_path, character):
    paths = ShardPaths(tmp_path, 0)
    paths.side.write_text(side_file().replace('"characters": {}', f'"characters": {{"{character}": 1}}'))
    with pytest.raises(InputError, match="is not a side file of a shard"):
        SideFile.read(paths)


def test_side_files_of_older_versions_are_read(tmp_path):
    """They have one key more, the size of the file of pairs."""
    paths = ShardPaths(tmp_path, 0)
    paths.side.write_text(side_file())
    assert '"bytes": 1' in side_file()
    assert SideFile.read(paths).pairs == 1


def test_changed_files_are_found(text_files, tmp_path):
    shard_corpus(text_files, tmp_path, shards=1, processes=0)
    folder = ShardFolder.open(tmp_path)
    path = folder.shards[0].paths.records
    content = bytearray(path.read_bytes())
    content[50] ^= 1
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"shard-00000\.tfrecord\.gz has the checksum"):
        folder.check()
    path.unlink()
    with pytest.raises(MissingFileError):
        folder.check()


@pytest.fixture
def with_other_lengths(text_files, write_checksums, tmp_path):
    """A function that makes a folder of one shard whose lengths are another array, with the right checksum."""
    shard_corpus(text_files, tmp_path, shards=1, processes=0)
    paths = ShardPaths(tmp_path, 0)

    def change(lengths):
        np.save(paths.lengths, lengths(np.load(paths.lengths)))
        write_checksums(paths)
        return ShardFolder.open(tmp_path)

    return change


@pytest.fixture
def with_other_pairs(text_files, write_checksums, tmp_path):
    """A function that makes a folder of one shard with another file of pairs, with the right checksum."""
    shard_corpus(text_files, tmp_path, shards=1, processes=0)
    paths = ShardPaths(tmp_path, 0)

    def change(content):
        paths.records.write_bytes(content(paths.records.read_bytes()))
        write_checksums(paths)
        return ShardFolder.open(tmp_path)

    return change


@pytest.mark.parametrize(
    "lengths",
    [
        lambda lengths: lengths[1:],
        lambda lengths: lengths.astype(np.int64),
        lambda lengths: lengths.astype(str),
        np.asfortranarray,
    ],
)
def test_another_array_than_the_lengths_is_refused(lengths, with_other_lengths):
    with pytest.raises(InputError, match=r"shard-00000\.lengths\.npy has no lengths of pairs: it has"):
        with_other_lengths(lengths).check()


def test_wrong_counts_of_lengths_are_refused(with_other_lengths):
    with_other_lengths(lambda lengths: lengths).check()
    with pytest.raises(InputError, match=r"shard-00000\.json counts other lengths than shard-00000\.lengths\.npy has"):
        with_other_lengths(lambda lengths: lengths + np.uint16(1)).check()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (lambda content: content[:-9], "is not a complete gzip file"),
        (lambda content: b"no gzip", "is not a complete gzip file"),
        (lambda content: content[:60] + bytes(8) + content[68:], "is not a complete gzip file"),
        (lambda content: gzip.compress(gzip.decompress(content)[:-1]), "has fewer than the .* bytes of pairs that"),
        (lambda content: content + gzip.compress(b"a"), "has more than the .* bytes of pairs that"),
    ],
)
def test_pairs_of_another_size_are_refused(content, message, with_other_pairs):
    with_other_pairs(lambda content: content).check()
    with pytest.raises(InputError, match=rf"shard-00000\.tfrecord\.gz {message}"):
        with_other_pairs(content).check()


def test_a_bomb_is_not_decompressed_to_its_end(with_other_pairs, monkeypatch):
    """Two gigabytes of zeros follow the pairs. They would take seconds."""
    zeros = gzip.compress(bytes(1 << 26), 1)
    folder = with_other_pairs(lambda content: content + zeros * 32)
    read = []
    original = gzip.GzipFile.read

    def counting(file, size=-1):
        content = original(file, size)
        read.append(len(content))
        return content

    monkeypatch.setattr(gzip.GzipFile, "read", counting)
    with pytest.raises(InputError, match="has more than"):
        folder.check()
    assert 0 < sum(read) < 4 << 20


@pytest.mark.parametrize("count", [1 << 26, 1 << 62])
def test_counts_of_characters_that_do_not_fit_the_lengths_are_refused(text_files, tmp_path, count):
    """A shard of few pairs cannot be said to have much text."""
    shard_corpus(text_files, tmp_path, shards=1, processes=0)
    side = ShardPaths(tmp_path, 0).side
    content = json.loads(side.read_text())
    content["characters"]["a"] = count
    side.write_text(json.dumps(content))
    with pytest.raises(InputError, match=r"shard-00000\.json counts other characters than lengths"):
        ShardFolder.open(tmp_path).check()


def test_text_that_expands_too_much_is_refused(tmp_path, monkeypatch):
    """Equal pairs of many equal characters: the counts are right, but no text is like that."""
    text = tmp_path / "text.tsv"
    text.write_text(f"{'a' * 500}\t{'b' * 500}\n" * 5000)
    everything = FilterSettings(max_ratio=None, identical=False, duplicates=False)
    shard_corpus([str(text)], tmp_path / "shards", ("de", "en"), everything, shards=1, processes=0)
    folder = ShardFolder.open(tmp_path / "shards")
    folder.check()
    monkeypatch.setattr("bytenet.limits.SMALL_BYTES", 1 << 20)
    monkeypatch.setattr("bytenet.limits.MOST_EXPANSION", 20)
    with pytest.raises(InputError, match="when it is decompressed, more than a text of its"):
        folder.check()
