"""Sharding a corpus: nothing is lost, everything left out is counted and shown, the side files are right."""

import errno
import json
import os
import resource
import signal
from collections import Counter
from multiprocessing import active_children

import numpy as np
import pytest

from bytenet.datasets import Vocabulary
from bytenet.datasets.shards.folder import ShardFolder, index_path
from bytenet.datasets.shards.sharding import inputs
from bytenet.datasets.shards.sharding.filters import FilterSettings
from bytenet.datasets.shards.sharding.shard_corpus import _hashes, shard_corpus
from bytenet.datasets.shards.sharding.shard_files import ShardPairs
from bytenet.datasets.shards.sharding.writer_processes import ShardWriters
from bytenet.errors import InputError, MissingFileError
from bytenet.files import PARTIAL
from bytenet.folder_lock import LOCK_NAME, alone_in
from tests.waiting import wait_for


def files_of(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_every_pair_is_in_one_shard(pairs, shards, read_pairs):
    by_shard = [read_pairs(shard.paths.records) for shard in shards.shards]
    assert sorted(pair for part in by_shard for pair in part) == sorted(pairs)
    assert min(map(len, by_shard)) > 100
    assert len(shards) == len(pairs)
    # Distributed at random, not in blocks or in turns; within a shard in the order of the input.
    places = {pair: place for place, pair in enumerate(pairs)}
    first = [places[pair] for pair in by_shard[0]]
    assert first == sorted(first)
    assert len(set(np.diff(first))) > 5


def test_side_files_tell_lengths_and_characters(pairs, shards, read_pairs):
    for shard in shards.shards:
        texts = read_pairs(shard.paths.records)
        lengths = [(len(source), len(target)) for source, target in texts]
        assert shard.pair_lengths().tolist() == [list(pair) for pair in lengths]
        counts = zip(*(getattr(shard.lengths, name).tolist() for name in ("source", "target", "pairs")), strict=True)
        assert {(source, target): count for source, target, count in counts} == Counter(lengths)
        assert shard.characters == Counter("".join(source + target for source, target in texts))
    shards.check()
    expected = Vocabulary.from_texts(*zip(*pairs, strict=True))
    assert Vocabulary([*shards.characters()]) == expected
    whole = shards.lengths()
    assert whole.pairs.sum() == len(pairs)
    assert (whole.source @ whole.pairs, whole.target @ whole.pairs) == tuple(
        sum(map(len, side)) for side in zip(*pairs, strict=True)
    )


@pytest.mark.parametrize("processes", [1, 3])
def test_processes_write_the_same_files(text_files, shards, tmp_path, processes):
    report = shard_corpus(text_files, tmp_path, shards=4, duplicates_megabytes=1, processes=processes)
    assert files_of(tmp_path) == files_of(shards.path)
    assert report.pairs_by_shard == [shard.pairs for shard in shards.shards]


def test_freed_memory_is_returned_after_each_block(text_files, tmp_path, monkeypatch):
    returned = []
    monkeypatch.setattr(inputs, "LINES_IN_BLOCK", 250)
    monkeypatch.setattr("bytenet.datasets.shards.sharding.shard_corpus.return_freed_memory", lambda: returned.append(1))
    shard_corpus(text_files, tmp_path / "shards", shards=4, duplicates_megabytes=1, processes=0)
    assert len(returned) == 3  # 600 pairs


def test_hashes_do_not_depend_on_the_process():
    assert _hashes([b"ein\none"]).tobytes().hex() == "ec5fc5d3584afbe4"  # printf 'ein\none' | b2sum --length 64
    assert len(set(_hashes([b"a\nb", b"b\na", b"\n"]).tolist())) == 3


def test_another_seed_distributes_otherwise(text_files, shards, tmp_path):
    shard_corpus(text_files, tmp_path, shards=4, seed=2, duplicates_megabytes=1, processes=0)
    assert ShardFolder.open(tmp_path).fingerprint() != shards.fingerprint()


BAD = {
    "not two columns": b"alone",
    "not UTF-8": "für\tfor".encode("latin-1"),
    "a side is empty": "\u200b\xa0\tempty".encode(),
    "a side is not 2 to 30 characters long": b"a\tb",
    "unassigned characters": "\U000e0080 ja\tyes".encode(),
    "odd characters": b"ja\0\tyes",
    "fewer than 50% letters on a side": b"1234 ja\tyes",
    "both sides are equal": b"gleich\tgleich",
    "one side more than 2 times as long as the other": b"ja\tyes yes yes yes yes yes",
    "the pair came before": "schön\tnice".encode(),
}
STRICT = FilterSettings(min_length=2, max_length=30, max_ratio=2.0, min_letters=0.5)


def test_what_is_left_out_is_counted_by_its_first_reason_and_shown(tmp_path, read_pairs):
    good = "scho\u0308n\tnice".encode()  # the duplicate is composed
    lines = [good, *BAD.values(), *BAD.values()]
    (tmp_path / "a.tsv").write_bytes(b"\n".join(lines))
    report = shard_corpus([str(tmp_path / "a.tsv")], tmp_path / "out", settings=STRICT, shards=1, processes=0)
    assert {entry.reason: entry.pairs for entry in report.left_out} == dict.fromkeys(BAD, 2)
    assert (report.read, report.kept) == (21, 1)
    assert read_pairs(tmp_path / "out" / "shard-00000.tfrecord.gz") == [("schön", "nice")]
    for number, entry in enumerate(report.left_out):
        assert [place for place, _, _ in entry.examples] == [
            f"{tmp_path / 'a.tsv'}:{number + line}" for line in (2, 12)
        ]
    saved = json.loads(index_path(tmp_path / "out").read_text())
    assert saved["report"]["left_out"][7] == {
        "reason": "both sides are equal",
        "pairs": 2,
        "examples": [[f"{tmp_path / 'a.tsv'}:{line}", "gleich", "gleich"] for line in (9, 19)],
    }


def test_filters_can_be_turned_off(tmp_path):
    (tmp_path / "a.tsv").write_bytes(b"\n".join([*BAD.values(), *BAD.values()]))
    settings = FilterSettings(max_ratio=None, odd_characters=False, identical=False, duplicates=False)
    report = shard_corpus([str(tmp_path / "a.tsv")], tmp_path / "out", settings=settings, shards=1, processes=0)
    left_out = {entry.reason: entry.pairs for entry in report.left_out if entry.pairs}
    assert left_out == dict.fromkeys(["not two columns", "not UTF-8", "a side is empty", "unassigned characters"], 2)


def test_a_folder_is_complete_or_refused(text_files, shards, tmp_path):
    with pytest.raises(MissingFileError, match="is not a complete folder of shards"):
        ShardFolder.open(tmp_path / "nowhere")
    with pytest.raises(InputError, match="is not empty"):
        shard_corpus(text_files, shards.path)
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="is a file; expected a folder"):
        shard_corpus(text_files, tmp_path / "file")
    with pytest.raises(InputError, match=r"^FOLDER: the folder /proc/shards cannot be written: No such file"):
        shard_corpus(text_files, "/proc/shards")


def test_inputs_of_which_nothing_is_kept_are_named_with_the_most_frequent_reason(tmp_path):
    path = tmp_path / "bad.tsv"
    path.write_text("alone\na\ta\nb\tb\n")
    reasons = r"\(not two columns: 1, both sides are equal: 2\)"
    example = rf"The first one for 'both sides are equal' is {path}:2: a \| a\. Correct the text, or look"
    with pytest.raises(InputError, match=rf"^{path}: none of the 3 pairs can be kept {reasons}\. {example}"):
        shard_corpus([str(path)], tmp_path / "none", processes=0)
    with pytest.raises(MissingFileError):
        ShardFolder.open(tmp_path / "none")
    path.write_text("")
    with pytest.raises(InputError, match=rf"^{path}: found no lines; expected pairs of sentences"):
        shard_corpus([str(path)], tmp_path / "none", processes=0)


@pytest.mark.parametrize("processes", [0, 1])
def test_a_sharding_that_fails_leaves_nothing_and_can_be_repeated(text_files, shards, tmp_path, processes):
    longer = tmp_path / "longer.en"
    longer.write_text("one\n" * 700)
    with pytest.raises(InputError, match="one side ends after 600 lines"):
        shard_corpus((text_files[0], str(longer)), tmp_path / "out", duplicates_megabytes=1, processes=processes)
    assert [path.name for path in (tmp_path / "out").iterdir()] == [LOCK_NAME]
    shard_corpus(text_files, tmp_path / "out", shards=4, duplicates_megabytes=1, processes=processes)
    assert files_of(tmp_path / "out") == files_of(shards.path)


@pytest.mark.parametrize(
    ("number", "advice"),
    [
        (errno.ENOSPC, "Make room, or choose another folder, and"),
        (errno.EMFILE, "Choose fewer --shards or more --proc"),
    ],
)
def test_an_error_of_the_disk_is_explained(text_files, tmp_path, monkeypatch, number, advice):
    def fill(self, pairs):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr("bytenet.datasets.shards.sharding.shard_files.ShardFiles.add", fill)
    with pytest.raises(InputError, match=f"The shards in .*out could not be written: {os.strerror(number)}.*{advice}"):
        shard_corpus(text_files, tmp_path / "out", shards=4, duplicates_megabytes=1, processes=0)


def test_the_files_of_a_killed_sharding_are_replaced(text_files, shards, tmp_path):
    for name in (LOCK_NAME, "shard-00007.tfrecord.gz", "shard-00000.json", f"{PARTIAL}a-1-2-shard-00001.json"):
        (tmp_path / name).write_text("half")
    shard_corpus(text_files, tmp_path, shards=4, duplicates_megabytes=1)
    assert files_of(tmp_path) == files_of(shards.path)


def test_files_that_no_sharding_left_are_not_removed(text_files, tmp_path):
    (tmp_path / "shard-00000.tfrecord.gz").write_text("of another program")
    with pytest.raises(InputError, match="is not empty"):
        shard_corpus(text_files, tmp_path, shards=4)
    (tmp_path / LOCK_NAME).touch()
    (tmp_path / "notes").write_text("mine")
    with pytest.raises(InputError, match="is not empty"):
        shard_corpus(text_files, tmp_path, shards=4)
    assert (tmp_path / "notes").exists()
    with alone_in(tmp_path, "works"), pytest.raises(InputError, match="Another process shards a corpus in"):
        shard_corpus(text_files, tmp_path, shards=4)


def test_a_process_that_cannot_write_says_why(tmp_path):
    pairs = ShardPairs(0, [b"ja\nyes" * 10_000], np.array([[2, 3]], np.uint16))
    with ShardWriters(tmp_path / "nowhere", shards=2, processes=1) as writers:
        active_children()[0].join()
        with pytest.raises(InputError, match="could not be written: No such file or directory"):
            writers.write([pairs])


def test_an_error_of_the_disk_is_explained_in_another_process(tmp_path):
    pairs = ShardPairs(0, [b"ja\nyes"], np.array([[2, 3]], np.uint16))
    with ShardWriters(tmp_path, shards=1, processes=1) as writers:
        wait_for(lambda: [*tmp_path.iterdir()], "a file of the process")
        resource.prlimit(active_children()[0].pid, resource.RLIMIT_FSIZE, (1, 1))
        writers.write([pairs])
        with pytest.raises(InputError, match=r"could not be written: File too large\..*Make room"):
            writers.close()


def test_a_process_leaves_ctrl_c_to_its_parent(tmp_path):
    with ShardWriters(tmp_path, shards=1, processes=1) as writers:
        wait_for(lambda: [*tmp_path.iterdir()], "a file of the process")
        os.kill(active_children()[0].pid, signal.SIGINT)
        assert writers.close() == {0: 0}


def test_a_process_that_is_killed_is_explained(tmp_path):
    with ShardWriters(tmp_path, shards=2, processes=1) as writers:
        (process,) = active_children()
        process.kill()
        process.join()
        with pytest.raises(InputError, match="A process that writes shards was killed"):
            writers.close()


def test_no_file_stays_open_after_an_error(tmp_path):
    pairs = ShardPairs(0, [b"ja\nyes"], np.array([[2, 3]], np.uint16))
    with pytest.raises(KeyError), ShardWriters(tmp_path, shards=2, processes=0) as writers:
        writers.write([pairs, ShardPairs(2, [], pairs.lengths)])
    opened = {os.path.realpath(f"/proc/self/fd/{number}") for number in os.listdir("/proc/self/fd")}
    assert opened.isdisjoint(str(path.resolve()) for path in tmp_path.iterdir())
    assert len([*tmp_path.iterdir()]) == 4
