"""Only one process at a time writes into a folder."""

import errno
import subprocess
import sys

import pytest

from bytenet.errors import InputError
from bytenet.folder_lock import alone_in

HOLD = """
import sys, time
from bytenet.folder_lock import alone_in
with alone_in(sys.argv[1], "works"):
    print("held", flush=True)
    time.sleep(600)
"""


def test_the_second_process_is_refused_until_the_first_has_ended(tmp_path):
    with subprocess.Popen([sys.executable, "-c", HOLD, tmp_path], stdout=subprocess.PIPE) as first:
        assert first.stdout.readline() == b"held\n"
        with (
            pytest.raises(InputError, match=f"Another process works in {tmp_path}. Wait until"),
            alone_in(tmp_path, "works"),
        ):
            pass
        first.kill()
    with alone_in(tmp_path, "works"):
        pass


def test_a_lock_counts_within_a_process_too(tmp_path):
    with alone_in(tmp_path, "works"):
        with pytest.raises(InputError), alone_in(tmp_path, "works"):
            pass
        with pytest.raises(InputError), alone_in(tmp_path, "works"):  # the refused one has not released it
            pass
    with alone_in(tmp_path, "works"):
        pass


@pytest.mark.parametrize("code", [errno.ENOLCK, errno.ENOSYS])
def test_a_file_system_without_locks_keeps_nobody_out(tmp_path, monkeypatch, code):
    def refuse(file, operation):
        raise OSError(code, "no locks")

    monkeypatch.setattr("fcntl.flock", refuse)
    with alone_in(tmp_path, "works"), alone_in(tmp_path, "works"):
        pass
