"""TFRecord, TensorFlow's file format of records, written without TensorFlow, which takes 400 MB of memory.

A record is its length in eight bytes, the masked CRC-32C of these, its content, and the masked CRC-32C of that.
"""

import struct
from collections.abc import Iterable
from functools import cache

from google_crc32c import value as crc32c


def framed(records: Iterable[bytes]) -> bytes:
    """The records as a part of a TFRecord file."""
    parts: list[bytes] = []
    for record in records:
        parts += (_header(len(record)), record, _checksum(record))
    return b"".join(parts)


@cache
def _header(length: int) -> bytes:
    header = struct.pack("<Q", length)
    return header + _checksum(header)


def _checksum(content: bytes) -> bytes:
    crc = crc32c(content)
    masked = (((crc >> 15) | (crc << 17)) + 0xA282EAD8) & 0xFFFFFFFF
    return masked.to_bytes(4, "little")
