"""Worker processes that train one run after another. The processes are real, the training is a small stand-in."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from bytenet.reproduction.jobs.scheduler import train_all
from bytenet.reproduction.jobs.training_run import TrainingRun
from bytenet.reproduction.jobs.worker_processes import describe_exit

pytestmark = pytest.mark.usefixtures("stand_in")


def run(name, dim=4, together="digits"):
    return TrainingRun(name, "digits", (f"model.dim={dim}",), together=together)


def train(tmp_path, *runs, seeds=(1,), jobs=1, say=lambda line: None):
    return train_all(runs, seeds, tmp_path / "runs", jobs, say)


def log(tmp_path, name, seed=1):
    return (tmp_path / "runs" / name / f"seed-{seed}.log").read_text(encoding="utf-8")


def process(tmp_path, name, seed=1):
    """The id of the process that trained a run."""
    return int(log(tmp_path, name, seed).split()[1])


def has_ended(number):
    try:
        os.kill(number, 0)
    except ProcessLookupError:
        return True
    return False


def test_one_process_trains_all_runs_with_one_pool_and_one_log_each(tmp_path):
    assert train(tmp_path, run("one"), run("two"), seeds=(1, 2)) == {}
    numbers = {process(tmp_path, name, seed) for name in ("one", "two") for seed in (1, 2)}
    assert len(numbers) == 1
    assert has_ended(*numbers)
    for name in ("one", "two"):
        cores = len(os.sched_getaffinity(0))
        first, second = log(tmp_path, name).splitlines()
        assert first.endswith(f"pools 1 threads {cores} {cores} cache True resume True")
        assert second == "from below Python"
        assert (tmp_path / "runs" / name / "seed-2" / "finished").is_file()
    assert train(tmp_path, run("one"), say=pytest.fail) == {}


def test_number_of_processes_equals_number_of_jobs(tmp_path):
    train(tmp_path, run("one", dim=16, together="x"), run("two", together="y"), seeds=range(1, 4), jobs=2)
    numbers = {process(tmp_path, name, seed) for name in ("one", "two") for seed in (1, 2, 3)}
    assert len(numbers) == 2
    assert all(map(has_ended, numbers))


def test_failure_is_reported_and_the_process_continues(tmp_path):
    failed = train(tmp_path, run("one"), run("bad", dim=6), run("two"))
    assert list(failed) == [("bad", 1)]
    assert "`" + sys.executable + " -m bytenet train " in failed["bad", 1]
    assert f"failed: the loss is nan (the whole output is in {tmp_path}/runs/bad/seed-1.log)" in failed["bad", 1]
    assert log(tmp_path, "bad").endswith("Error: the loss is nan\n")
    assert process(tmp_path, "one") == process(tmp_path, "two")


@pytest.mark.parametrize(
    ("dim", "why"),
    [
        (8, "failed: the process was ended by SIGKILL; perhaps there was too little memory"),
        (10, "failed: RuntimeError: a mistake of the program (the"),
    ],
)
def test_dead_process_fails_its_run_and_is_replaced(dim, why, tmp_path):
    failed = train(tmp_path, run("one"), run("bad", dim=dim), run("two"))
    assert list(failed) == [("bad", 1)]
    assert why in failed["bad", 1]
    assert process(tmp_path, "one") == process(tmp_path, "bad") != process(tmp_path, "two")


def test_silent_exit_is_described_by_its_exit_code(tmp_path):
    silent = tmp_path / "silent.log"
    silent.touch()
    assert describe_exit(3, silent) == "the process ended with exit code 3"


def test_signal_without_a_name_is_described_by_its_number(tmp_path):
    assert describe_exit(-signal.SIGTERM, tmp_path) == "the process was ended by SIGTERM"
    assert describe_exit(-40, tmp_path) == "the process was ended by signal 40"


def test_process_with_too_much_memory_is_replaced(tmp_path, monkeypatch):
    monkeypatch.setattr("bytenet.reproduction.jobs.scheduler._MEMORY_SHARE", 0.0)
    assert train(tmp_path, run("one"), run("two")) == {}
    assert process(tmp_path, "one") != process(tmp_path, "two")
    assert has_ended(process(tmp_path, "one"))


@pytest.mark.thorough
def test_process_without_memory_for_other_models_is_replaced(tmp_path, monkeypatch):
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    monkeypatch.setattr("bytenet.reproduction.jobs.scheduler._MEMORY_SHARE", 900_000_000 / memory)
    large, same, other = run("large", dim=14, together="x"), run("same", together="x"), run("other", together="y")
    assert train(tmp_path, large, same, other) == {}
    assert process(tmp_path, "large") == process(tmp_path, "same") != process(tmp_path, "other")
    assert train(tmp_path, run("one", together="x"), run("two", together="y")) == {}
    assert process(tmp_path, "one") == process(tmp_path, "two")


def test_failed_run_is_tried_again(tmp_path):
    assert list(train(tmp_path, run("one", dim=6))) == [("one", 1)]
    assert train(tmp_path, run("one", dim=4)) == {}


def test_interruption_ends_processes_after_a_checkpoint(tmp_path, wait_for):
    def interrupt(line):
        if line.startswith("[1/"):
            wait_for((tmp_path / "runs" / "long" / "seed-1" / "training").exists, "the training")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train(tmp_path, run("long", dim=12, together="x"), run("one", together="y"), run("two"), jobs=2, say=interrupt)
    assert (tmp_path / "runs" / "long" / "seed-1" / "checkpoint").exists()
    assert not (tmp_path / "runs" / "long" / "seed-1" / "finished").exists()
    assert has_ended(process(tmp_path, "long"))
    assert has_ended(process(tmp_path, "one"))


def start_worker(tmp_path):
    return subprocess.Popen(
        [sys.executable, "-m", "bytenet.reproduction.jobs.worker"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        env=os.environ | {"TF_NUM_INTRAOP_THREADS": "1", "TF_NUM_INTEROP_THREADS": "1"},
    )  # fmt: skip


def job(tmp_path, name, dim):
    settings = tmp_path / f"{name}.yaml"
    settings.write_text(run(name, dim).config(seed=1).to_yaml(), encoding="utf-8")
    return json.dumps({"settings": str(settings), "run": str(tmp_path / name), "log": str(tmp_path / f"{name}.log")})


@pytest.mark.parametrize("how", ["signal", "end of input"])
def test_training_stops_on_signal_or_end_of_input(how, tmp_path, wait_for):
    with start_worker(tmp_path) as worker:
        worker.stdin.write(job(tmp_path, "long", dim=12) + "\n")
        worker.stdin.flush()
        wait_for((tmp_path / "long" / "training").exists, "the training")
        if how == "signal":
            worker.send_signal(signal.SIGTERM)
        else:
            worker.stdin.close()
        assert worker.wait() == 130
        assert worker.stdout.read() == ""
    assert (tmp_path / "long" / "checkpoint").exists()
    assert Path(tmp_path / "long.log").read_text().endswith("Stopped, all saved.\n")


def test_job_is_not_started_when_its_sender_is_gone(tmp_path):
    with start_worker(tmp_path) as worker:
        worker.communicate(job(tmp_path, "long", dim=12) + "\n", timeout=50)
        assert worker.returncode == -signal.SIGTERM
    assert not (tmp_path / "long").exists()


def test_each_job_gets_one_answer_and_the_pipe_has_nothing_else(tmp_path):
    with start_worker(tmp_path) as worker:
        for name, dim, error in (("good", 4, ""), ("bad", 6, "the loss is nan")):
            worker.stdin.write(job(tmp_path, name, dim) + "\n")
            worker.stdin.flush()
            answer = json.loads(worker.stdout.readline())
            assert answer.keys() == {"error", "bytes"}
            assert answer["error"] == error
            assert 1e6 < answer["bytes"] < 1e9
        rest, _ = worker.communicate()
    assert (rest, worker.returncode) == ("", 0)


@pytest.mark.thorough
def test_xla_accepts_process_flags_and_user_flags_take_precedence(monkeypatch):
    program = (
        "import os; from bytenet.reproduction.jobs import worker; worker._work = lambda *streams: None; "
        "worker.main(); import tensorflow as tf; print(os.environ['XLA_FLAGS'].split()[-1]); "
        "print(tf.function(lambda x: x + 1, jit_compile=True)(tf.constant(1)).numpy())"
    )
    monkeypatch.delenv("PYTHONPATH")
    result = subprocess.run(
        [sys.executable, "-c", program], env=os.environ | {"XLA_FLAGS": "--xla_cpu_use_xnnpack=false"},
        capture_output=True, text=True,
    )  # fmt: skip
    assert result.returncode == 0, result.stderr  # XLA ends the process if a flag is unknown
    printed = result.stderr.split("\n")  # standard output is reserved for answers
    assert "--xla_cpu_use_xnnpack=false" in printed
    assert "2" in printed
