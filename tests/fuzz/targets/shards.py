"""Folders of shards."""

import hashlib
import io
import json
import shutil
import zipfile
from pathlib import Path
from random import Random

import numpy as np

from bytenet.config import DataConfig
from bytenet.datasets import Vocabulary
from bytenet.datasets.shards.dealing.shard_corpus import shard_corpus
from bytenet.datasets.shards.folder import ShardFolder
from bytenet.datasets.shards.plan import plan_shards
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
        dealt = self.folder / "dealt"
        shard_corpus([str(path) for path in texts], dealt, shards=2, duplicates_megabytes=1)
        return [_zipped({path.name: path.read_bytes() for path in sorted(dealt.iterdir())})]

    def mutated(self, random: Random) -> bytes:
        """Damage one file. Half of the damaged lengths get the right checksum."""
        files = _unzipped(random.choice(self.seeds))
        name = random.choice(list(files))
        damage = mutate_gzip if name.endswith(".gz") else mutate
        files[name] = damage(files[name], random, self.tokens)
        if name.endswith(".npy") and random.random() < 0.5:
            side_name = name.replace(".lengths.npy", ".json")
            side = json.loads(files[side_name]) | {"lengths_sha256": hashlib.sha256(files[name]).hexdigest()}
            files[side_name] = json.dumps(side).encode()
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
        Vocabulary.from_counts(shards.characters(), "symbol", 1)
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
