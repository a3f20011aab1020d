"""Corpora: plain text, gzip, and the archives in which corpora are published."""

import gzip
import io
import tarfile
import zipfile
from random import Random

from hypothesis import strategies as st

from bytenet.datasets import Vocabulary, normalise, read_lines
from bytenet.datasets.corpora.preparation.archives import read_members
from tests.fuzz.mutations import mutate, mutate_gzip, mutate_zip
from tests.fuzz.targets.target import Target

_TOKENS = tuple(
    text.encode()
    for text in (
        "\ufeff",
        "\u2028",
        "\x85",
        "\r\n",
        "\r",
        "u\u0308",
        "\U0010ffff",
        "\u200b",
        "e" + "\u0301" * 50,
        "\n\n",
    )
)
_TEXTS = (
    "ein Hund\nzwei Hunde\n",
    "\ufeffGrüße\r\nSchöne Straße\r\n",
    "a\u2028b\n\n\tz \n",
    "日本語\n한국어\n🙂👍🏽\n",
)


def _lines(content: bytes) -> list[str]:
    """The lines of a text, by the rules of the documentation and without the code that is tested."""
    text = content.decode("utf-8").removeprefix("\ufeff")
    lines = text.split("\n")
    if len(lines) > 1 and all(line[-1:] == "\r" for line in lines[:-1]):
        lines = [line[:-1] for line in lines[:-1]] + [lines[-1][:-1] if lines[-1][-1:] == "\r" else lines[-1]]
    return lines[:-1] if lines[-1] == "" else lines


class Texts(Target):
    """Plain text files, and the ids of their characters."""

    name, suffix, tokens = "texts", ".txt", _TOKENS

    def make_seeds(self) -> list[bytes]:
        normalise(["u\u0308"])  # starts TensorFlow, which takes seconds
        return [text.encode() for text in _TEXTS]

    def read(self) -> None:
        lines = read_lines(self.path)
        assert lines == _lines(self._content()), "the lines of a text are wrong"
        normalised = normalise(lines)
        vocabulary = Vocabulary.from_texts(normalised)
        for line in normalised:
            assert vocabulary.decode(vocabulary.encode(line)) == line, "a line changes when it is encoded and decoded"

    def _content(self) -> bytes:
        return self.path.read_bytes()

    def generated(self) -> st.SearchStrategy[bytes]:
        return st.lists(st.text(max_size=30), max_size=5).map(lambda lines: "\n".join(lines).encode())


class CompressedTexts(Texts):
    """The same texts as gzip files."""

    name, suffix = "compressed texts", ".txt.gz"

    def make_seeds(self) -> list[bytes]:
        return [gzip.compress(text, mtime=0) for text in super().make_seeds()]

    def _content(self) -> bytes:
        return gzip.decompress(self.path.read_bytes())

    def mutated(self, random: Random) -> bytes:
        return mutate_gzip(random.choice(self.seeds), random, self.tokens)

    def generated(self) -> None:
        return None


_MEMBER = "folder/text.de"


class ZipArchives(Target):
    """Zip archives with a text."""

    name, suffix = "zip archives", ".zip"

    def make_seeds(self) -> list[bytes]:
        output = io.BytesIO()
        with zipfile.ZipFile(output, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr(zipfile.ZipInfo(_MEMBER), _TEXTS[0] * 5)
            archive.writestr(zipfile.ZipInfo("other"), "other")
        return [output.getvalue()]

    def mutated(self, random: Random) -> bytes:
        return mutate_zip(random.choice(self.seeds), random)

    def read(self) -> None:
        [content] = read_members(self.path, [_MEMBER])
        with zipfile.ZipFile(self.path) as archive:
            assert content == archive.read(_MEMBER), "a member of an archive is wrong"


class TarArchives(Target):
    """Compressed tar archives with a text."""

    name, suffix = "tar archives", ".tgz"

    def make_seeds(self) -> list[bytes]:
        output = io.BytesIO()
        with tarfile.open(fileobj=output, mode="w", format=tarfile.PAX_FORMAT) as archive:
            for name, text in (("ä" * 90, b"other"), (_MEMBER, (_TEXTS[0] * 5).encode())):
                member = tarfile.TarInfo(name)
                member.size = len(text)
                archive.addfile(member, io.BytesIO(text))
        return [gzip.compress(output.getvalue(), mtime=0)]

    def mutated(self, random: Random) -> bytes:
        content = random.choice(self.seeds)
        if random.random() < 0.3:
            return mutate(content, random)
        # Most of a tar file are zeros. Damage the headers and the texts.
        plain = bytearray(gzip.decompress(content))
        used = [place for place, byte in enumerate(plain) if byte]
        for _ in range(random.choice((1, 2, 5))):
            plain[random.choice(used)] = random.randrange(256)
        return gzip.compress(bytes(plain), compresslevel=1, mtime=0)

    def read(self) -> None:
        [content] = read_members(self.path, [_MEMBER])
        with tarfile.open(self.path) as archive:
            members = [member for member in archive if member.name.removeprefix("./") == _MEMBER and member.isfile()]
            assert content == archive.extractfile(members[-1]).read(), "a member of an archive is wrong"
