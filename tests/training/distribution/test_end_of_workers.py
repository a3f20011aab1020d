"""Workers that die, differ, or are asked to stop."""

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from bytenet.training.distribution.launcher import free_addresses

from .worker_processes import (
    ENDLESS,
    MOST_SECONDS_TO_END,
    SETTINGS,
    run_workers,
    start_worker,
    train_command,
    wait_for_checkpoint,
    wait_for_workers,
    wait_while_all_live,
)


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_after_a_death_the_others_end_and_all_resume_bit_identical(tmp_path, equal_final_states):
    """First the chief dies, then another worker."""
    broken, unbroken = tmp_path / "broken", tmp_path / "unbroken"
    for killed in (0, 1):
        addresses = free_addresses(2)
        command = train_command("broken", *SETTINGS, "training.epochs=8")
        processes = [start_worker(addresses, index, command, tmp_path) for index in range(2)]
        before = set((broken / "checkpoints").glob("step-*"))
        wait_while_all_live(
            processes, lambda before=before: set((broken / "checkpoints").glob("step-*")) - before, "a checkpoint"
        )
        processes[killed].send_signal(signal.SIGKILL)
        ended = wait_for_workers(processes, tmp_path, MOST_SECONDS_TO_END)
        assert ended[killed].code == -signal.SIGKILL
        code, errors = ended[1 - killed]
        assert code == 1
        assert f"worker {killed} ({addresses[killed]}) ended or cannot be reached" in errors
        assert "--resume" in errors
        assert "Traceback" not in errors
    for run in ("broken", "unbroken"):
        for ended in run_workers(2, train_command(run, *SETTINGS, "training.epochs=8"), tmp_path):
            assert ended.code == 0, ended.errors[-2000:]
    state, _ = equal_final_states(broken, unbroken)
    assert state["step"] == 96
    assert (broken / "model.keras").exists()


@pytest.mark.slow
def test_workers_resume_without_the_start_of_their_run(tmp_path, supervised_run):
    start = supervised_run("start")
    for epochs in (1, 2):
        command = train_command("run", *SETTINGS, f"training.start={start.path}", f"training.epochs={epochs}")
        for ended in run_workers(2, command, tmp_path):
            assert ended.code == 0, ended.errors[-2000:]
        shutil.rmtree(start.path, ignore_errors=True)
    assert (tmp_path / "run" / "checkpoints" / "step-00000024.npz").exists()


@pytest.mark.slow
def test_a_signal_to_any_worker_stops_all_after_the_same_step(tmp_path):
    addresses, command = free_addresses(2), train_command("run", *SETTINGS, ENDLESS)
    processes = [start_worker(addresses, index, command, tmp_path) for index in range(2)]
    wait_for_checkpoint(tmp_path / "run", processes)
    processes[1].send_signal(signal.SIGTERM)
    ended = wait_for_workers(processes, tmp_path)
    assert [one.code for one in ended] == [130, 130]
    advice = "To resume, start all 2 workers again with --resume. On one machine: bytenet launch --workers 2 -- train"
    assert all(f"{advice} --resume --run run\n" in one.errors for one in ended)
    steps = {one.errors.partition("Stopped at step ")[2].partition(";")[0] for one in ended}
    assert len(steps) == 1
    assert (tmp_path / "run" / "checkpoints" / f"step-{int(steps.pop()):08d}.npz").exists()


@pytest.mark.thorough
def test_workers_with_other_settings_are_refused(tmp_path):
    addresses = free_addresses(2)
    commands = [train_command("run", *SETTINGS, f"training.learning_rate={rate}") for rate in (0.001, 0.002)]
    processes = [start_worker(addresses, index, command, tmp_path) for index, command in enumerate(commands)]
    for ended in wait_for_workers(processes, tmp_path):
        assert ended.code == 1
        assert "Traceback" not in ended.errors
        assert (
            f"worker 1 ({addresses[1]}) has training.learning_rate '0.002', but worker 0 ({addresses[0]}) has '0.001'"
        ) in ended.errors
    assert not (tmp_path / "run").exists()


@pytest.mark.slow
def test_all_workers_stop_at_a_loss_that_is_not_a_number(tmp_path):
    settings = ("training.learning_rate=1e30", "training.clip_norm=null", "training.warmup_steps=0")
    for ended in run_workers(2, train_command("run", *SETTINGS, ENDLESS, *settings), tmp_path):
        assert ended.code == 1
        assert "The weights are lost" in ended.errors
        assert "Traceback" not in ended.errors


@pytest.mark.slow
def test_all_workers_stop_early(tmp_path):
    settings = ("evaluation.every_epochs=1", "training.early_stopping_patience=1", "training.learning_rate=1e-12")
    for ended in run_workers(2, train_command("run", *SETTINGS, ENDLESS, *settings), tmp_path):
        assert ended.code == 0, ended.errors[-2000:]
    rows = (tmp_path / "run" / "metrics.csv").read_text(encoding="utf-8").splitlines()
    assert 2 < len(rows) < 20  # a header, and few epochs of a thousand


@pytest.mark.slow
def test_a_worker_that_cannot_begin_tells_the_others_why(tmp_path):
    """Here the chief, whose folder is in use."""
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "notes.txt").write_text("")
    command = [one for one in train_command("run", *SETTINGS) if one != "--resume"]
    chief, other = run_workers(2, command, tmp_path)
    assert chief.code == other.code == 1
    assert "notes.txt" in chief.errors
    assert "because worker 0 (localhost:" in other.errors
    assert "notes.txt" in other.errors


@pytest.mark.slow
def test_launched_workers_end_when_one_is_killed(tmp_path):
    arguments = train_command("run", *SETTINGS, ENDLESS)[2:]
    command = [sys.executable, "-m", "bytenet", "launch", "--workers", "2", "--", *arguments]
    with open(tmp_path / "errors.txt", "w", encoding="utf-8") as errors:
        launcher = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=errors)
    try:
        wait_for_checkpoint(tmp_path / "run", [launcher])
        children = Path(f"/proc/{launcher.pid}/task/{launcher.pid}/children").read_text().split()
        (worker,) = (pid for pid in children if b'"index": 1' in Path(f"/proc/{pid}/environ").read_bytes())
        os.kill(int(worker), signal.SIGKILL)
        assert launcher.wait(MOST_SECONDS_TO_END) == 1
    finally:
        launcher.kill()
    lines = (tmp_path / "errors.txt").read_text(encoding="utf-8").splitlines()
    assert [line for line in lines if line.startswith("[0] Error: This is worker 0 (localhost:")]
    assert not [line for line in lines if "I0000" in line or "Traceback" in line]
