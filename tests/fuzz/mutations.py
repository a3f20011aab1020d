"""Damaging bytes at random: single bytes, spans, numbers, and the members of archives."""

import gzip
import io
import re
import zipfile
from collections.abc import Sequence
from random import Random

_NUMBER = re.compile(rb"\d+(\.\d+)?")
_NUMBERS = (b"0", b"-1", b"1e309", b"nan", b"2147483648", b"4294967296", b"9" * 30, b"9" * 5000, b"0x10", b"1_0", b"")
_BYTES = (
    b"\0",
    b"\n",
    b"\r",
    b"\t",
    b" ",
    b"\xff",
    b"\x80",
    b'"',
    b"'",
    b"[",
    b"]",
    b"{",
    b"}",
    b":",
    b",",
    b"\xe2\x80\xa8",
)


def mutate(content: bytes, random: Random, tokens: Sequence[bytes] = ()) -> bytes:
    """Damage bytes in one to eight places.

    Args:
        content: a valid file.
        random: decides where and how.
        tokens: words of the file's format, some of which are put in.
    """
    for _ in range(random.choice((1, 1, 1, 2, 4, 8))):
        content = random.choice(_OPERATIONS)(content, random, tokens)
    return content


def mutate_gzip(content: bytes, random: Random, tokens: Sequence[bytes] = ()) -> bytes:
    """Damage a gzip file, or what it holds."""
    if random.random() < 0.5:
        return mutate(content, random)
    return gzip.compress(mutate(gzip.decompress(content), random, tokens), compresslevel=1, mtime=0)


def mutate_zip(content: bytes, random: Random, tokens: Sequence[bytes] = ()) -> bytes:
    """Damage a zip file, or one of its members with its checksum corrected."""
    if random.random() < 0.3:
        return mutate(content, random)
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = [(name, archive.read(name)) for name in archive.namelist()]
    place = random.randrange(len(members))
    name, member = members[place]
    action = random.choice(("damage", "damage", "damage", "damage", "drop", "rename", "repeat", "compress"))
    if action == "damage":
        members[place] = (name, mutate(member, random, tokens))
    elif action == "drop":
        del members[place]
    elif action == "rename":
        members[place] = (mutate(name.encode(), random).decode("latin-1"), member)
    elif action == "repeat":
        members.append((f"{name}.copy.npy", member))
    output = io.BytesIO()
    with zipfile.ZipFile(output, "w") as archive:
        for name, member in members:
            archive.writestr(zipfile.ZipInfo(name), member, zipfile.ZIP_DEFLATED if action == "compress" else None)
    return output.getvalue()


def _span(content: bytes, random: Random) -> tuple[int, int]:
    """Beginning and end of a piece, more often a short one."""
    begin = random.randrange(len(content) + 1)
    return begin, min(len(content), begin + int(2 ** random.uniform(0, 8)))


def _flip(content: bytes, random: Random, tokens: Sequence[bytes]) -> bytes:
    if not content:
        return content
    place = random.randrange(len(content))
    return content[:place] + bytes([content[place] ^ 1 << random.randrange(8)]) + content[place + 1 :]


def _insert(content: bytes, random: Random, tokens: Sequence[bytes]) -> bytes:
    place = random.randrange(len(content) + 1)
    return content[:place] + random.choice([*tokens, *_BYTES]) + content[place:]


def _replace(content: bytes, random: Random, tokens: Sequence[bytes]) -> bytes:
    begin, end = _span(content, random)
    return content[:begin] + random.choice([*tokens, *_BYTES]) + content[end:]


def _delete(content: bytes, random: Random, tokens: Sequence[bytes]) -> bytes:
    begin, end = _span(content, random)
    return content[:begin] + content[end:]


def _repeat(content: bytes, random: Random, tokens: Sequence[bytes]) -> bytes:
    begin, end = _span(content, random)
    return content[:end] + content[begin:end] * random.choice((1, 1, 2, 30)) + content[end:]


def _cut(content: bytes, random: Random, tokens: Sequence[bytes]) -> bytes:
    return content[: random.randrange(len(content) + 1)]


def _number(content: bytes, random: Random, tokens: Sequence[bytes]) -> bytes:
    numbers = list(_NUMBER.finditer(content[: 1 << 16]))
    if not numbers:
        return content
    found = random.choice(numbers)
    return content[: found.start()] + random.choice(_NUMBERS) + content[found.end() :]


_OPERATIONS = (_flip, _flip, _insert, _insert, _replace, _delete, _repeat, _cut, _number, _number)
