"""Reading of `.npy` and `.npz` files whose arrays are described before they are read.

`numpy.load` allocates what the header of an array claims, which may be more than any memory has.
"""

import errno
import math
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import numpy as np

from bytenet.errors import InputError
from bytenet.limits import MOST_ZIP_DIRECTORY_BYTES
from bytenet.lite.archive import open_zip

_SUFFIX = ".npy"


@dataclass(frozen=True)
class ArrayDescription:
    """What the header of a saved array says, and what the size of the file confirms."""

    shape: tuple[int, ...]
    dtype: np.dtype


class ArrayFile:
    """An open `.npz` file. `open_arrays` makes one.

    Attributes:
        descriptions: of each array, by name.
    """

    def __init__(self, archive: zipfile.ZipFile):
        self._archive = archive
        self.descriptions = {
            member.filename.removesuffix(_SUFFIX): self._describe(member) for member in archive.infolist()
        }

    def read(self, name: str) -> np.ndarray:
        """Read an array, as large as its description says. The checksum of the archive is checked."""
        with self._archive.open(name + _SUFFIX) as file:
            return np.lib.format.read_array(file, allow_pickle=False)

    def _describe(self, member: zipfile.ZipInfo) -> ArrayDescription:
        with self._archive.open(member) as file:
            shape, _, dtype = _read_header(file)
            claimed = file.tell() + math.prod(shape) * dtype.itemsize
        if member.compress_type != zipfile.ZIP_STORED or claimed != member.file_size:
            raise InputError(f"{member.filename} claims {claimed:,} bytes and has {member.file_size:,}")
        if dtype.hasobject or any(length < 0 for length in shape):
            raise InputError(f"{member.filename} has no numbers, but {dtype}")
        return ArrayDescription(shape, dtype)


def read_array(path: Path, expected: ArrayDescription) -> np.ndarray:
    """Read a `.npy` file in C order that has the shape and type that are expected.

    Raises:
        FileNotFoundError: there is no such file.
        InputError: the file is damaged, or the array is another one.
    """
    try:
        with open(path, "rb") as file:
            shape, is_fortran, dtype = _read_header(file)
            if (shape, dtype, is_fortran) != (expected.shape, expected.dtype, False):
                raise InputError(f"it has {dtype} {shape}; expected {expected.dtype} {expected.shape}")
            size = math.prod(shape) * dtype.itemsize
            content = file.read(size + 1)
    except (InputError, FileNotFoundError):
        raise
    except Exception as error:  # as in `open_arrays`
        raise InputError(f"{type(error).__name__}: {error}") from error
    if len(content) != size:
        raise InputError(f"its values do not have the expected size of {size:,} bytes")
    return np.frombuffer(content, dtype).reshape(shape)


@contextmanager
def open_arrays(path: Path) -> Iterator[ArrayFile]:
    """Open an `.npz` file, and check the header of every array.

    Raises:
        InputError: the file, or an array that is read, is damaged.
        OSError: the system refuses to read the file, which may be intact.
    """
    try:
        with open_zip(path, MOST_ZIP_DIRECTORY_BYTES) as archive:
            yield ArrayFile(archive)
    except (InputError, MemoryError):
        raise
    except Exception as error:  # zipfile and NumPy raise errors of many types for damaged bytes, even SyntaxError
        if isinstance(error, OSError) and error.errno not in (None, errno.EINVAL):  # damage leads to wrong positions
            raise
        raise InputError(f"{type(error).__name__}: {error}") from error


def _read_header(file: IO[bytes]) -> tuple[tuple[int, ...], bool, np.dtype]:
    """Shape, whether the order is Fortran's, and type. NumPy limits the length of the header."""
    version = np.lib.format.read_magic(file)
    read_header = {
        (1, 0): np.lib.format.read_array_header_1_0,
        (2, 0): np.lib.format.read_array_header_2_0,
    }[version]
    return read_header(file)
