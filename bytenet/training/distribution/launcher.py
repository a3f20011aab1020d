"""Several workers on this machine."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, Any

from bytenet.errors import InputError
from bytenet.training.stop_signals import on_stop_signals

# Workers end by themselves when one has failed, with a message. Slow ones are asked to, and then killed.
_SECONDS_TO_END = 20.0
_SECONDS_TO_SAVE = 300.0  # after Ctrl-C or SIGTERM
_STOPPED = 130  # the exit code after them
_POLL_SECONDS = 0.1


def launch(arguments: Sequence[str], workers: int) -> int:
    """Run a command of this program as several workers that train together, until all have ended.

    Each line of a worker's output begins with its number in brackets. If one fails, the others are ended. Ctrl-C and
    SIGTERM are passed on to all.

    Args:
        arguments: of the command, such as `["train", "numbers", "--run", "runs/numbers"]`.
        workers: number of processes.

    Returns:
        0 if all succeeded, else the exit code of the first worker that failed; 1 if a signal killed it.

    Raises:
        InputError: the machine has GPUs, but not one for each worker.
    """
    environments = list(worker_environments(workers))
    command = [sys.executable, "-m", "bytenet", *arguments]
    with ExitStack() as stack:
        processes = [_start(command, environment, stack) for environment in environments]
        printers = [
            threading.Thread(target=_print_lines, args=(f"[{index}] ", lines, out), daemon=True)
            for index, process in enumerate(processes)
            for lines, out in ((process.stdout, sys.stdout), (process.stderr, sys.stderr))
        ]
        for printer in printers:
            printer.start()
        with _passing_on_signals(processes):
            code = _wait(processes)
        for printer in printers:
            printer.join(_SECONDS_TO_END)  # a program that a worker has left behind may hold its output open
    return code


def worker_environments(workers: int, environment: Mapping[str, str] = os.environ) -> Iterator[dict[str, str]]:
    """The environment variables of each worker on this machine: the addresses of all, its GPUs, its share of the cores.

    Raises:
        InputError: the machine has GPUs, but not one for each worker.
    """
    addresses = free_addresses(workers)
    threads = str(max(1, len(os.sched_getaffinity(0)) // workers))
    gpus = _gpus(environment)
    if gpus and len(gpus) < workers:
        raise InputError(
            f"{workers} workers need a GPU each, but {len(gpus)} can be seen. Start fewer workers, or set "
            "CUDA_VISIBLE_DEVICES to nothing to train on the CPU."
        )
    for index in range(workers):
        config = {"cluster": {"worker": addresses}, "task": {"type": "worker", "index": index}}
        own = {"TF_NUM_INTRAOP_THREADS": threads, **environment, "TF_CONFIG": json.dumps(config)}
        if gpus:
            share = len(gpus) // workers
            own["CUDA_VISIBLE_DEVICES"] = ",".join(gpus[index * share : (index + 1) * share])
        yield own


def _gpus(environment: Mapping[str, str]) -> list[str]:
    """The GPUs that TensorFlow can see, as `CUDA_VISIBLE_DEVICES` names them."""
    if "CUDA_VISIBLE_DEVICES" in environment:
        return [name for name in environment["CUDA_VISIBLE_DEVICES"].split(",") if name not in ("", "-1")]
    names = (re.fullmatch(r"nvidia(\d+)", path.name) for path in Path("/dev").glob("nvidia*"))
    return sorted((name[1] for name in names if name), key=int)


def free_addresses(number: int) -> list[str]:
    """Addresses `localhost:PORT` that nobody uses at the moment."""
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(number)]
        for bound in sockets:
            bound.bind(("localhost", 0))
        return [f"localhost:{bound.getsockname()[1]}" for bound in sockets]


def _start(command: Sequence[str], environment: Mapping[str, str], stack: ExitStack) -> subprocess.Popen[Any]:
    """Start a worker. It is killed when `stack` is left, if it still runs."""
    process: subprocess.Popen[Any] = subprocess.Popen(
        # A process group of its own: a second Ctrl-C, from the terminal, would end it without a checkpoint.
        command, env=environment, process_group=0, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, encoding="utf-8", errors="replace",
    )  # fmt: skip
    stack.callback(_signal, process, signal.SIGKILL)
    return process


def _signal(process: subprocess.Popen[Any], number: int) -> None:
    """Send a signal to a worker if it still runs. A kill also reaches the programs that it has started."""
    if number == signal.SIGKILL and process.poll() is None:
        os.killpg(process.pid, number)
    else:
        process.send_signal(number)


def _print_lines(prefix: str, lines: IO[str], out: IO[str]) -> None:
    for line in lines:
        out.write(f"{prefix}{line}" if line.endswith("\n") else f"{prefix}{line}\n")
        out.flush()


@contextmanager
def _passing_on_signals(processes: Sequence[subprocess.Popen[Any]]) -> Iterator[None]:
    """Pass Ctrl-C and SIGTERM on to all workers, so that they stop after the same step with a checkpoint."""

    def pass_on(number, frame):
        for process in processes:
            _signal(process, number)

    with on_stop_signals(pass_on):
        yield


def _wait(processes: Sequence[subprocess.Popen[Any]]) -> int:
    """Wait until all workers have ended. After a failure, end those that do not end by themselves.

    If a worker was stopped by a signal, the others have more time: a second signal would end them without a checkpoint.
    """
    failed, deadline, how = 0, float("inf"), signal.SIGTERM
    while None in (codes := [process.poll() for process in processes]):
        if not failed and any(codes):
            failed = next(filter(None, codes))
            deadline = time.monotonic() + (_SECONDS_TO_SAVE if failed == _STOPPED else _SECONDS_TO_END)
        if time.monotonic() > deadline:
            for process in processes:
                _signal(process, how)
            deadline, how = time.monotonic() + _SECONDS_TO_END, signal.SIGKILL
        time.sleep(_POLL_SECONDS)
    code = failed or next(filter(None, codes), 0)
    return 1 if code < 0 else code
