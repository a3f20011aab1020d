"""Two processes never train the same run. These tests do no real training."""

import errno
import os
import signal
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest
from filelock import FileLock

from bytenet.config import load_config
from bytenet.reproduction.jobs.scheduler import train_all
from bytenet.reproduction.jobs.training_run import TrainingRun, run_folder_of

from .runs import RUN


def test_run_in_another_process_is_awaited_and_not_trained_twice(trainer, tmp_path):
    said = []

    folder = run_folder_of(RUN, 1, tmp_path)
    with held_by_another(folder) as other:

        def say(line):
            said.append(line)
            if "waiting" in line:
                (folder / "config.yaml").write_text(load_config("digits", [*RUN.settings, "training.seed=1"]).to_yaml())
                (folder / "finished").touch()
                other.release()

        assert train_all([RUN], (1,), tmp_path, 1, say) == {}
    assert said[1] == "one, seed 1: waiting for another process that trains it"
    assert trainer.calls == []


def test_a_file_system_without_locks_keeps_nobody_out(train, trainer, monkeypatch):
    def acquire(self, *arguments, **options):
        Path(self.lock_file).parent.mkdir()  # as the real one
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(FileLock, "acquire", acquire)
    trainer.has_locks = False
    train(RUN)
    assert len(trainer.calls) == 1


def test_interruption_does_not_wait_for_run_in_another_process(trainer, tmp_path):
    def interrupt(line):
        if line.startswith("[1/"):
            raise KeyboardInterrupt

    with held_by_another(run_folder_of(RUN, 1, tmp_path)), pytest.raises(KeyboardInterrupt):
        train_all([RUN, TrainingRun("two", "digits")], (1,), tmp_path, 2, interrupt)
    assert [folder.parent.name for folder in trainer.folders] == ["two"]


@contextmanager
def held_by_another(folder):
    folder.mkdir(parents=True)
    with FileLock(folder.with_suffix(".lock"), thread_local=False) as lock:
        yield lock


def test_lock_of_killed_process_is_released(trainer, tmp_path, wait_for):
    program = (
        "import sys, time; from filelock import FileLock; lock = FileLock(sys.argv[1]); lock.acquire();"
        "print('locked', flush=True); time.sleep(60)"
    )
    path = run_folder_of(RUN, 1, tmp_path).with_suffix(".lock")
    path.parent.mkdir(parents=True)
    # `subprocess.Popen` cannot be used: the trainer replaces it.
    number = os.posix_spawn(
        sys.executable, [sys.executable, "-c", program, str(path)], os.environ,
        file_actions=[(os.POSIX_SPAWN_OPEN, 1, str(tmp_path / "output"), os.O_WRONLY | os.O_CREAT, 0o600)],
    )  # fmt: skip
    wait_for(lambda: (tmp_path / "output").exists() and (tmp_path / "output").read_text(), "the lock")

    def say(line):
        if "waiting" in line:
            os.kill(number, signal.SIGKILL)
            os.waitpid(number, 0)

    assert train_all([RUN], (1,), tmp_path, 1, say) == {}
    assert len(trainer.calls) == 1
    with pytest.raises(ChildProcessError):  # the process was already reaped, so it was killed
        os.waitpid(number, 0)
