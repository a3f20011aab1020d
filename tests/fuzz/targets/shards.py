"""Folders of shards."""

import gzip
import hashlib
import io
import json
import shutil
import zipfile
from pathlib import Path
from random import Random

import numpy as np
import tensorflow as tf

from bytenet.config import DataConfig
from bytenet.datasets import Vocabulary
from bytenet.datasets.shards.dataset import reason_of_failure, shard_dataset
from bytenet.datasets.shards.folder import ShardFolder
from bytenet.datasets.shards.plan import ShardPlan, plan_shards
from bytenet.datasets.shards.sharding.shard_corpus import shard_corpus
from bytenet.datasets.shards.sharding.tf_record import framed
from bytenet.errors import InputError
from tests.fuzz.mutations import mutate, mutate_gzip
from tests.fuzz.targets.target import Target

_TOKENS = (
    b"null", b"-1", b"1e999", b"[" * 5000, b'{"a":' * 5000, b'"\\ud800"', b'"ab"', b"65536", b"9223372036854775807",
    b"(100000, 1000000)", b"'<U8'", b"'|O'", b"'<u4'", b"'descr'", b"True", b"\xff" * 8, b"\0" * 8,
)  # fmt: skip
_DATA = DataConfig(batch_size=2, num_buckets=2, max_length=40)


class Shards(Target):
    """What a training reads of a folder of shards. A case is the folder in a zip archive."""

    name, suffix, tokens = "shards", ".zip", _TOKENS

    def make_seeds(self) -> list[bytes]:
        texts = self.folder / "text.de", self.folder / "text.en"
        for number, path in enumerate(texts):
            lines = [f"{'Grüße ' * (index % 4)}{index}{'!' * number}\n" for index in range(12)]
            path.write_text("".join(lines), encoding="utf-8")
        shards = self.folder / "shards"
        shard_corpus([str(path) for path in texts], shards, shards=2, duplicates_megabytes=1)
        return [_zipped({path.name: path.read_bytes() for path in sorted(shards.iterdir())})]

    def mutated(self, random: Random) -> bytes:
        """Damage one file. Half of the damaged lengths and pairs get the right checksum."""
        files = _unzipped(random.choice(self.seeds))
        name = random.choice(list(files))
        stem, _, kind = name.partition(".")
        if kind == "tfrecord.gz" and random.random() < 0.5:
            files[name] = gzip.compress(_with_other_records(files[name], random, self.tokens), mtime=0)
        else:
            damage = mutate_gzip if kind == "tfrecord.gz" else mutate
            files[name] = damage(files[name], random, self.tokens)
        if kind == "json" and name != "shards.json" and random.random() < 0.2:
            files[name] = _with_other_counts(random.choice(self.seeds), name, random)
        key = {"lengths.npy": "lengths_sha256", "tfrecord.gz": "sha256"}.get(kind)
        if key and random.random() < 0.5:
            side = json.loads(files[f"{stem}.json"]) | {key: hashlib.sha256(files[name]).hexdigest()}
            files[f"{stem}.json"] = json.dumps(side).encode()
        return _zipped(files)

    def read(self) -> None:
        folder = self.folder / "shards"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        files = _unzipped(self.path.read_bytes())
        for name, content in files.items():
            (folder / name).write_bytes(content)
        shards = ShardFolder.open(folder)
        shards.check()
        plan = plan_shards(shards, _DATA)
        vocabulary = Vocabulary.from_counts(shards.characters(), "symbol", 1)
        planned = [
            index
            for group in range(len(plan.batches))
            for batch in plan.group_batches(1, 1, group).batches
            for index in batch.indices.tolist()
            if index >= 0
        ]
        lengths = [_saved_lengths(folder / name) for name in sorted(files) if name.endswith(".npy")]
        within = sum(int(((own >= _DATA.min_length) & (own <= _DATA.max_length)).all(axis=1).sum()) for own in lengths)
        assert len(planned) == within, "an epoch has other pairs than the shards"
        paths = [shard.paths.records for shard in shards.shards]
        assert _trained_on(plan, vocabulary) == _saved_pairs(paths, vocabulary), "the batches have another text"


def _trained_on(plan: ShardPlan, vocabulary: Vocabulary) -> list[tuple[str, str]]:
    """The pairs in the batches of the first epoch, sorted."""
    pairs: list[tuple[str, str]] = []
    try:
        for ids, _, weights in shard_dataset(plan, vocabulary, seed=1).take(plan.num_batches):
            sides = (vocabulary.decode_batch(ids[side][weights > 0]) for side in ("source_ids", "target_ids"))
            pairs += zip(*sides, strict=True)
    except tf.errors.OpError as error:
        reason = reason_of_failure(error)
        if reason is None:
            raise
        raise InputError(reason) from error
    return sorted(pairs)


def _saved_pairs(paths: list[Path], vocabulary: Vocabulary) -> list[tuple[str, str]]:
    """The pairs within the limits in some files, sorted, read without TensorFlow."""
    pairs = []
    for path in paths:
        texts = b"\n".join(_records(gzip.decompress(path.read_bytes()))).decode().split("\n")
        for source, target in zip(texts[::2], texts[1::2], strict=True):
            if all(_DATA.min_length <= len(side) <= _DATA.max_length for side in (source, target)):
                pairs.append(
                    (vocabulary.decode(vocabulary.encode(source)), vocabulary.decode(vocabulary.encode(target)))
                )
    return sorted(pairs)


def _records(content: bytes) -> list[bytes]:
    """The records of a TFRecord file."""
    records, place = [], 0
    while place < len(content):
        size = int.from_bytes(content[place : place + 8], "little")
        records.append(content[place + 12 : place + 12 + size])
        place += 16 + size
    return records


def _with_other_counts(content: bytes, name: str, random: Random) -> bytes:
    """A side file with another count of a character."""
    side = json.loads(_unzipped(content)[name])
    side["characters"][random.choice([*side["characters"], "x"])] = random.choice((0, 1, 2, 100, 1 << 26, 1 << 62))
    return json.dumps(side).encode()


def _with_other_records(compressed: bytes, random: Random, tokens: tuple[bytes, ...]) -> bytes:
    """Damage the decompressed content of a file, or its records with the right checksums."""
    content = gzip.decompress(compressed)
    if random.random() < 0.5:
        return mutate(content, random, tokens)
    records = _records(content)
    place = random.randrange(len(records))
    change = random.choice(("damage", "remove", "repeat", "swap", "bytes"))
    if change == "damage":
        records[place] = mutate(records[place], random, tokens)
    elif change == "remove":
        del records[place]
    elif change == "repeat":
        records.insert(place, records[place])
    elif change == "swap":
        records[place], records[-1] = records[-1], records[place]
    else:
        changed = bytearray(records[place])
        changed[random.randrange(len(changed))] = random.randrange(256)
        records[place] = bytes(changed)
    return framed(records)


def _saved_lengths(path: Path) -> np.ndarray:
    """The lengths in a file, without NumPy's reader of headers: after the header, each pair has 4 bytes."""
    content = path.read_bytes()
    begin = 10 + int.from_bytes(content[8:10], "little")
    return np.frombuffer(content[begin:], "<u2").reshape(-1, 2)


def _zipped(files: dict[str, bytes]) -> bytes:
    output = io.BytesIO()
    with zipfile.ZipFile(output, "w") as archive:
        for name, content in files.items():
            archive.writestr(zipfile.ZipInfo(name), content)
    return output.getvalue()


def _unzipped(content: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}
