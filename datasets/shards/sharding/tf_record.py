"""TFRecord, TensorFlow's file format of records. TensorFlow would write it, but takes hundreds of megabytes of memory.

A record has four parts: its length in eight bytes, the masked CRC-32C of the length, its content, and the masked
CRC-32C of the content.
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
