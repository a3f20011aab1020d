"""Arrays that are described before they are read."""

import errno

import pytest

from bytenet.errors import InputError
from bytenet.saved import array_file
from bytenet.saved.array_file import open_arrays


@pytest.mark.parametrize(
    "error", [PermissionError(errno.EACCES, "refused"), OSError(errno.EIO, "broken"), MemoryError()]
)
def test_a_file_that_the_system_does_not_read_is_not_called_damaged(error, tmp_path, monkeypatch):
    def refuse(*arguments):
        raise error

    monkeypatch.setattr(array_file, "open_zip", refuse)
    with pytest.raises(type(error)), open_arrays(tmp_path / "checkpoint.npz"):
        pass


def test_a_file_of_other_bytes_is_damaged(tmp_path):
    path = tmp_path / "checkpoint.npz"
    path.write_bytes(b"no zip")
    with pytest.raises(InputError), open_arrays(path):
        pass
