"""Several workers on this machine: their environment, their output, and their end."""

import json
import signal
import sys
import threading

import pytest

from bytenet.errors import InputError
from bytenet.training.distribution import launcher

# In place of Python: `worker COMMAND` does what the command says, in the shell.
WORKER = """#!/bin/sh
case $TF_CONFIG in *'"index": 0'*) index=0;; *) index=1;; esac
shift 2
eval "$1"
"""


@pytest.fixture
def launch(tmp_path, monkeypatch):
    """Launch two workers that run a shell command, in which `$index` is the number of the worker."""
    program = tmp_path / "worker"
    program.write_text(WORKER)
    program.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(program))
    monkeypatch.setattr(launcher, "_gpus", lambda environment: [])
    monkeypatch.setattr(launcher, "_POLL_SECONDS", 0.01)
    return lambda command: launcher.launch([command], 2)


def test_lines_begin_with_the_number_of_their_worker(launch, capfd):
    assert launch('echo "out $index"; echo "error $index" >&2; printf "no end $index"') == 0
    out, errors = capfd.readouterr()
    assert sorted(out.splitlines()) == ["[0] no end 0", "[0] out 0", "[1] no end 1", "[1] out 1"]
    assert sorted(errors.splitlines()) == ["[0] error 0", "[1] error 1"]


def test_workers_know_each_other(launch, capfd):
    assert launch("echo $TF_CONFIG") == 0
    configs = [json.loads(line[4:]) for line in sorted(capfd.readouterr().out.splitlines())]
    assert [config["task"] for config in configs] == [{"type": "worker", "index": index} for index in (0, 1)]
    assert configs[0]["cluster"] == configs[1]["cluster"]
    assert len(set(configs[0]["cluster"]["worker"])) == 2


def test_a_failed_worker_ends_the_others(launch, monkeypatch):
    monkeypatch.setattr(launcher, "_SECONDS_TO_END", 0.2)
    assert launch('if [ $index = 1 ]; then exit 3; else trap "" TERM; sleep 1000 & wait; fi') == 3


def test_a_killed_worker_is_a_failure(launch, monkeypatch):
    monkeypatch.setattr(launcher, "_SECONDS_TO_END", 0.2)
    assert launch("if [ $index = 0 ]; then kill -9 $$; else exec sleep 1000; fi") == 1


def test_signals_are_passed_on_once(launch, tmp_path, capfd):
    before, ended = signal.getsignal(signal.SIGTERM), threading.Event()
    files = [tmp_path / f"ready-{index}" for index in (0, 1)]
    ready = f'echo ready; touch "{tmp_path}/ready-$index"'

    def send():
        while not ended.wait(0.01):
            # The workers and this process must have their handlers before the signal comes.
            if all(file.exists() for file in files) and signal.getsignal(signal.SIGTERM) != before:
                signal.pthread_kill(threading.main_thread().ident, signal.SIGTERM)
                return

    sender = threading.Thread(target=send)
    sender.start()
    try:
        assert launch(f'trap "echo stopped; exit 130" TERM; {ready}; while true; do sleep 0.05; done') == 130
    finally:
        ended.set()
        sender.join()
    assert sorted(capfd.readouterr().out.splitlines()) == ["[0] ready", "[0] stopped", "[1] ready", "[1] stopped"]


def test_after_a_signal_slow_workers_have_time_to_save(launch, monkeypatch, capfd):
    monkeypatch.setattr(launcher, "_SECONDS_TO_END", 0.5)
    slow = 'trap "echo second" TERM; sleep 1; echo saved; exit 130'
    assert launch(f"if [ $index = 1 ]; then exit 130; else {slow}; fi") == 130
    assert capfd.readouterr().out == "[0] saved\n"


def test_workers_share_gpus_and_cores():
    environments = list(launcher.worker_environments(2, {"CUDA_VISIBLE_DEVICES": "4,5,6,7"}))
    assert [environment["CUDA_VISIBLE_DEVICES"] for environment in environments] == ["4,5", "6,7"]
    assert all(int(environment["TF_NUM_INTRAOP_THREADS"]) >= 1 for environment in environments)
    (chosen, _) = launcher.worker_environments(2, {"CUDA_VISIBLE_DEVICES": "", "TF_NUM_INTRAOP_THREADS": "7"})
    assert chosen["CUDA_VISIBLE_DEVICES"] == ""
    assert chosen["TF_NUM_INTRAOP_THREADS"] == "7"


def test_too_few_gpus_are_refused():
    with pytest.raises(InputError, match="2 workers need a GPU each, but 1 can be seen"):
        list(launcher.worker_environments(2, {"CUDA_VISIBLE_DEVICES": "0"}))
