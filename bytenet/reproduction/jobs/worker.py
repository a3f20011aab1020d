"""A process that trains one run after the other with models that it traces and compiles once.

`python -m bytenet.reproduction.jobs.worker` reads lines of JSON from standard input, `{"settings": ..., "run": ...,
"log": ...}`: a configuration file, a run folder, which is gone on with where it exists, and the file to print to. For
each it writes a line to standard output, `{"error": ..., "bytes": ...}`: why it failed, or "", and the memory that it
then holds. SIGTERM, Ctrl-C and the end of its input end it, after a checkpoint is saved; an error of the program ends
it, with the traceback in the log.
"""

import ctypes
import gc
import json
import os
import signal
import sys
import threading
from contextlib import suppress
from pathlib import Path
from queue import SimpleQueue
from typing import TextIO

from bytenet import compile_cache
from bytenet.errors import InputError
from bytenet.memory_allocator import keep_freed_memory

# For small models, on one thread (docs/performance.md): matrix products as they are, not by YNNPACK, whose calls cost
# more than the product; and operations in an order that needs little memory, not one that keeps many threads busy.
_XLA_FLAGS = ("--xla_cpu_experimental_ynn_fusion_type=", "--xla_cpu_enable_concurrency_optimized_scheduler=false")


def main() -> None:
    """Train what standard input names until it ends."""
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    # Of two that differ the last counts.
    os.environ["XLA_FLAGS"] = " ".join([*_XLA_FLAGS, os.environ.get("XLA_FLAGS", "")])
    compile_cache.turn_on()
    keep_freed_memory()
    # Not sys.stdin itself, which a thread may be reading when the interpreter closes it at its end.
    lines = os.fdopen(os.dup(sys.stdin.fileno()), encoding="utf-8")
    try:
        _work(lines, answers)
    except KeyboardInterrupt as interrupt:
        print(str(interrupt) or "Interrupted.", file=sys.stderr)
        sys.exit(130)


def _work(lines: TextIO, answers: TextIO) -> None:
    jobs: SimpleQueue[dict[str, str] | None] = SimpleQueue()
    training = threading.Event()
    threading.Thread(target=_read, args=(lines, jobs, training), daemon=True).start()
    models = None
    while (job := jobs.get()) is not None:
        _print_to(Path(job["log"]))
        from bytenet.config import load_config
        from bytenet.training import train
        from bytenet.training.model_pool import ModelPool

        models = models or ModelPool()
        error = ""
        try:
            train(load_config(job["settings"]), job["run"], resume=True, models=models)
        except (InputError, OSError) as failure:
            error = str(failure) or repr(failure)
            print(f"Error: {error}", file=sys.stderr)
        training.clear()
        sys.stdout.flush()
        _give_back_memory()
        answers.write(json.dumps({"error": error, "bytes": _resident_bytes()}) + "\n")
        answers.flush()


def _read(lines: TextIO, jobs: "SimpleQueue[dict[str, str] | None]", training: threading.Event) -> None:
    """Pass on the jobs, and None at their end; if a training is under way then, who asked for it is gone."""
    for line in lines:
        training.set()
        jobs.put(json.loads(line))
    jobs.put(None)
    if training.is_set():
        os.kill(os.getpid(), signal.SIGTERM)


def _give_back_memory() -> None:
    """Let the system have what compiling took and is free again, which `keep_freed_memory` keeps."""
    gc.collect()
    with suppress(OSError, AttributeError):  # another C library
        ctypes.CDLL("libc.so.6").malloc_trim(0)


def _resident_bytes() -> int:
    pages = Path("/proc/self/statm").read_text(encoding="utf-8").split()[1]
    return int(pages) * os.sysconf("SC_PAGE_SIZE")


def _print_to(log: Path) -> None:
    """Let all that this process prints, TensorFlow's own remarks too, go to the end of a file."""
    with open(log, "a", encoding="utf-8") as output:
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
            os.dup2(output.fileno(), stream.fileno())


if __name__ == "__main__":
    main()
