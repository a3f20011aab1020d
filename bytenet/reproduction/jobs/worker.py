"""A process that trains one run after the other. Each model is traced and compiled only once.

`python -m bytenet.reproduction.jobs.worker` reads jobs from standard input, one line of JSON each: `{"settings": ...,
"run": ..., "log": ...}`. These are a configuration file, a run folder (resumed if it exists) and the file to print to.
After each job it writes one line to standard output: `{"error": ..., "bytes": ...}`. These are the reason of a failure
("" without one) and the memory that the process holds.

SIGTERM, Ctrl-C and the end of the input end the process after it has saved a checkpoint. A programming error ends it,
too; the traceback is in the log.
"""

import gc
import json
import os
import signal
import sys
import threading
from pathlib import Path
from queue import SimpleQueue
from typing import TextIO

from bytenet import compile_cache
from bytenet.errors import InputError
from bytenet.memory_allocator import keep_freed_memory, return_freed_memory
from bytenet.profiling.benchmarks.resident_memory import resident_bytes

# For small models on one thread (docs/performance/semi-supervised.md). YNNPACK is off, because its calls cost more than
# the matrix products. The order of the operations saves memory, because an order for many threads brings nothing.
_XLA_FLAGS = ("--xla_cpu_experimental_ynn_fusion_type=", "--xla_cpu_enable_concurrency_optimized_scheduler=false")


def main() -> None:
    """Train the jobs of standard input until it ends."""
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    # XLA uses the last of two contradicting flags, so the user's come last.
    os.environ["XLA_FLAGS"] = " ".join([*_XLA_FLAGS, os.environ.get("XLA_FLAGS", "")])
    compile_cache.turn_on()
    keep_freed_memory()
    # A copy: at its end the interpreter closes sys.stdin, and the thread may still be reading.
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
        from bytenet.training.compiled_models.model_pool import ModelPool

        models = models or ModelPool()
        error = ""
        try:
            train(load_config(job["settings"]), job["run"], resume=True, models=models)
        except (InputError, OSError) as failure:
            error = str(failure) or repr(failure)
            print(f"Error: {error}", file=sys.stderr)
        training.clear()
        sys.stdout.flush()
        gc.collect()
        return_freed_memory()  # such as that of compiling
        answers.write(json.dumps({"error": error, "bytes": resident_bytes()}) + "\n")
        answers.flush()


def _read(lines: TextIO, jobs: "SimpleQueue[dict[str, str] | None]", training: threading.Event) -> None:
    """Pass on the jobs, then None. If the input ends during a training, the scheduler has died: stop the training."""
    for line in lines:
        training.set()
        jobs.put(json.loads(line))
    jobs.put(None)
    if training.is_set():
        os.kill(os.getpid(), signal.SIGTERM)


def _print_to(log: Path) -> None:
    """Append all output of this process to a file, including that of TensorFlow's C++ code."""
    with open(log, "a", encoding="utf-8") as output:
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
            os.dup2(output.fileno(), stream.fileno())


if __name__ == "__main__":
    main()
