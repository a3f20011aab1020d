"""Half-written files are never mistaken for complete files, even when the disk is full."""

import errno
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from bytenet.errors import InputError
from bytenet.files import PARTIAL, atomic_folder, atomic_path, atomic_paths, write_text_atomic


@pytest.fixture
def full_disk(tmp_path):
    """A folder on a file system of 64 KiB, with an earlier file of 1 KiB on it."""
    folder = tmp_path / "full"
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(folder)]
    if shutil.which("mount") is None or subprocess.run(command, capture_output=True).returncode != 0:
        pytest.skip("mounting a small file system needs root")
    try:
        (folder / "saved.txt").write_text("earlier" * 150)
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True)


def test_the_file_appears_only_when_it_is_complete(tmp_path):
    path = tmp_path / "model.keras"
    with atomic_path(path) as partial:
        partial.write_bytes(b"new")
        assert not path.exists()
        assert partial.parent == tmp_path
        assert partial.suffix == ".keras"
    assert path.read_bytes() == b"new"
    assert os.listdir(tmp_path) == ["model.keras"]


@pytest.mark.parametrize("error", [RuntimeError("broken"), KeyboardInterrupt(), OSError(errno.EACCES, "no")])
def test_an_error_leaves_the_earlier_file_and_nothing_else(tmp_path, error):
    path = tmp_path / "saved.txt"
    path.write_text("earlier")

    def fail_half_way() -> None:
        with atomic_path(path) as partial:
            partial.write_text("half")
            raise error

    with pytest.raises(type(error)) as caught:
        fail_half_way()
    assert caught.value is error
    assert path.read_text() == "earlier"
    assert os.listdir(tmp_path) == ["saved.txt"]


def write_all(paths, text):
    with atomic_paths(paths) as partials:
        for partial in partials:
            partial.write_text(text)


def test_files_that_belong_together_change_together(tmp_path):
    paths = [tmp_path / name for name in ("a.txt", "b.txt")]
    write_all(paths, "earlier")
    with atomic_paths(paths) as partials:
        for partial in partials:
            partial.write_text("new")
        assert [path.read_text() for path in paths] == ["earlier", "earlier"]
    assert [path.read_text() for path in paths] == ["new", "new"]
    assert sorted(os.listdir(tmp_path)) == ["a.txt", "b.txt"]


@pytest.mark.parametrize("name", ["a", "b", "c"])
def test_a_folder_in_the_place_of_one_file_leaves_all_as_they_were(tmp_path, name):
    paths = [tmp_path / letter for letter in "abc"]
    (tmp_path / name).mkdir()
    others = [path for path in paths if path.name != name]
    for path in others:
        path.write_text("earlier")
    with pytest.raises(InputError, match=rf"{tmp_path / name} is a folder"):
        write_all(paths, "new")
    assert [path.read_text() for path in others] == ["earlier", "earlier"]
    assert sorted(os.listdir(tmp_path)) == ["a", "b", "c"]


def test_nothing_is_renamed_before_all_is_on_the_disk(tmp_path, monkeypatch):
    paths = [tmp_path / letter for letter in "abc"]
    write_all(paths, "earlier")
    synced = []

    def sync(partial):
        synced.append(partial)
        if len(synced) == 3:  # as a file system with delayed allocation does
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("bytenet.files._sync", sync)
    with pytest.raises(InputError, match="disk is full"):
        write_all(paths, "new")
    assert [path.read_text() for path in paths] == ["earlier"] * 3
    assert sorted(os.listdir(tmp_path)) == ["a", "b", "c"]


def test_a_folder_appears_only_when_it_is_complete(tmp_path):
    with atomic_folder(tmp_path / "model") as partial:
        (partial / "variables").mkdir(parents=True)
        (partial / "variables" / "a").write_text("a")
        assert os.listdir(tmp_path) == [partial.name]
    assert os.listdir(tmp_path) == ["model"]

    def fail_half_way() -> None:
        with atomic_folder(tmp_path / "other") as partial:
            partial.mkdir()
            (partial / "a").write_text("a")
            raise RuntimeError("Failed to write: 28; No space left on device")  # as TensorFlow says it

    with pytest.raises(InputError, match=r"disk is full.*other"):
        fail_half_way()
    assert os.listdir(tmp_path) == ["model"]


def test_what_a_killed_process_left_is_removed_with_the_next_file_of_the_name(tmp_path):
    path = tmp_path / "saved.txt"
    program = "import os, sys\nfrom bytenet.files import atomic_path\nwith atomic_path(sys.argv[1]) as partial:\n"
    program += "    partial.write_text('half')\n    os.kill(os.getpid(), 9)"
    for name in ("saved.txt", "other.txt"):
        subprocess.run([sys.executable, "-c", program, str(tmp_path / name)])
    with atomic_path(path) as first:
        first.write_text("by another thread")
        (left,) = (name for name in os.listdir(tmp_path) if name != first.name)
        assert left.startswith(PARTIAL)
        assert left.endswith("-other.txt")
        write_text_atomic(tmp_path / "third.txt", "")  # files of other names are left alone, and so are running writers
        assert first.exists()
    assert sorted(os.listdir(tmp_path)) == [left, "saved.txt", "third.txt"]


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EDQUOT])
def test_a_full_disk_is_explained(tmp_path, code):
    path = tmp_path / "saved.txt"
    with (
        pytest.raises(InputError, match=r"disk is full.*saved\.txt.*Nothing was left behind"),
        atomic_path(path),
    ):
        raise OSError(code, os.strerror(code))
    path.write_text("earlier")
    with pytest.raises(InputError, match=r"The earlier file there is intact"), atomic_path(path):
        raise OSError(code, os.strerror(code))


def test_a_really_full_disk_keeps_the_earlier_file(full_disk):
    path = full_disk / "saved.txt"
    with pytest.raises(InputError, match="disk is full"):
        write_text_atomic(path, "x" * 200_000)
    assert path.read_text() == "earlier" * 150
    assert os.listdir(full_disk) == ["saved.txt"]


def test_saving_a_model_on_a_full_disk_is_explained(full_disk):
    import keras

    model = keras.Sequential([keras.layers.Dense(400)])
    model.build((None, 400))
    path = full_disk / "model.keras"
    with pytest.raises(InputError, match="disk is full"), atomic_path(path) as partial:
        model.save(partial)
    assert os.listdir(full_disk) == ["saved.txt"]


@pytest.mark.parametrize("text", ["", "ü\u2028\x00\r\n\ttrailing \n", "no end of line"])
def test_text_is_written_unchanged(tmp_path, text):
    path = tmp_path / "text.txt"
    write_text_atomic(path, text)
    assert path.read_bytes() == text.encode()


def test_missing_folder_is_not_reported_as_a_full_disk(tmp_path):
    with pytest.raises(FileNotFoundError):
        write_text_atomic(Path(tmp_path, "missing", "text.txt"), "text")
