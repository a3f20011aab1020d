"""From the command to the first training step: how long, and what for.

Run as a program (`python -m bytenet.profiling.benchmarks.startup MARKS PRESET [SETTING ...]`) this module trains as
`bytenet train` does, notes the time of each part of the start, and ends after the first step.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from bytenet import compile_cache
from bytenet.config import load_config
from bytenet.errors import InputError
from bytenet.profiling.benchmarks.measurement import Spread, refuse_semi_supervised

Way = Literal["no XLA", "XLA, empty cache", "XLA, warm cache"]
WAYS: tuple[Way, ...] = ("no XLA", "XLA, empty cache", "XLA, warm cache")

# What is noted in the order in which it happens, and what then has passed.
_PARTS = {
    "imported": "imports",
    "read": "corpus and plan",
    "made": "model",
    "began": "before the first step",
    "traced": "tracing",
    "ended": "compiling and first step",
}


@dataclass(frozen=True)
class StartupCost:
    """Seconds from the start of a training process to the end of its first step.

    Attributes:
        way: without XLA, or with it and an empty or a warm compile cache.
        seconds: in all.
        parts: by name, in order: "imports" (Python's start counted), "corpus and plan" (reading the corpus, its
            vocabulary and the plan of the batches), "model" (making it), "before the first step" (folders, logs,
            callbacks, the pipeline), "tracing" (of the step's Python code: model, gradients, optimiser),
            "compiling and first step" (TensorFlow's and XLA's work on what was traced, and a step). They add up
            to `seconds` where there is one repeat.
    """

    way: str
    seconds: Spread
    parts: dict[str, Spread]


def measure_startup(
    preset_or_file: str,
    overrides: Sequence[str] = (),
    ways: Sequence[Way] = WAYS,
    repeats: int = 1,
    say: Callable[[str], None] = lambda line: None,
) -> list[StartupCost]:
    """Start real training runs, each in a process of its own, and wait for their first steps.

    Args:
        preset_or_file: what to train; its corpus has to be there.
        overrides: `section.key=value` each.
        ways: of `WAYS`; a warm cache is the one that the run right before it in the same repeat has filled, or
            a run that is not measured.
        repeats: runs of each way, which take turns.
        say: told what is going on.

    Returns:
        A cost for each way, in their order.

    Raises:
        ConfigError: the configuration is not right.
        InputError: it is of a semi-supervised run; or a run failed before its first step: the message has its last
            lines.
    """
    refuse_semi_supervised(load_config(preset_or_file, overrides))
    marks: dict[Way, list[dict[str, float]]] = {way: [] for way in ways}
    with tempfile.TemporaryDirectory(prefix="bytenet-startup-") as folder:
        for repeat in range(repeats):
            cache = Path(folder) / f"cache_{repeat}"
            for way in ways:
                if way == "XLA, warm cache" and not cache.exists():
                    say("filling the compile cache ...")
                    _start(preset_or_file, overrides, way, cache, folder)
                say(f"{way} ...")
                marks[way].append(_start(preset_or_file, overrides, way, cache, folder))
                say(f"{way}: {sum(marks[way][-1].values()):.1f} seconds")
    return [
        StartupCost(
            way,
            Spread.of([sum(run.values()) for run in marks[way]]),
            {part: Spread.of([run[part] for run in marks[way]]) for part in _PARTS.values()},
        )
        for way in ways
    ]


def _start(preset_or_file: str, overrides: Sequence[str], way: Way, cache: Path, folder: str) -> dict[str, float]:
    """Start one run and give the seconds of each part."""
    settings = [*overrides, f"training.jit_compile={'false' if way == 'no XLA' else 'true'}"]
    with tempfile.TemporaryDirectory(dir=folder) as run_folder:
        marks_path = Path(run_folder) / "marks.json"
        arguments = [preset_or_file, *settings]
        # Linux's and macOS's monotonic clock is the same in all processes.
        began = time.monotonic()
        done = subprocess.run(
            [sys.executable, "-m", __name__, str(marks_path), *arguments],
            env=_environment(way, cache), capture_output=True, text=True,
        )  # fmt: skip
        if not marks_path.exists():
            last = "\n".join(done.stderr.strip().split("\n")[-10:])
            raise InputError(
                f"The training of {' '.join(arguments)} ended before its first step. Its last lines:\n{last}"
            )
        times = json.loads(marks_path.read_text(encoding="utf-8"))
    seconds, before = {}, began
    for mark, part in _PARTS.items():
        seconds[part] = times[mark] - before
        before = times[mark]
    return seconds


def _environment(way: Way, cache: Path) -> dict[str, str]:
    """The environment of a run that keeps what XLA compiles in `cache`, or nowhere."""
    # A place that this process was given, or has chosen when it began, would count for the run as well.
    flags = compile_cache.flags_without_cache(os.environ.get("TF_XLA_FLAGS", ""))
    return os.environ | {"TF_XLA_FLAGS": flags, "BYTENET_COMPILE_CACHE": "off" if way == "no XLA" else str(cache)}


def _train_and_mark(marks_path: str, preset_or_file: str, overrides: Sequence[str]) -> None:
    """Train as `bytenet train` does, note when each part of the start is done, and end after the first step."""
    marks: dict[str, float] = {}

    def mark(name: str) -> None:
        marks[name] = time.monotonic()

    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    compile_cache.turn_on()  # before TensorFlow starts
    import keras

    from bytenet.training import trainer
    from bytenet.training.model_pool import ModelPool
    from bytenet.training.tasks import make_task

    class Marks(keras.callbacks.Callback):
        """Marks the trace and the end of the first step."""

        def set_model(self, model):  # before `fit` takes the step of the model
            super().set_model(model)
            train_step = model.train_step

            def marked_train_step(data):  # Python runs it only to trace it
                logs = train_step(data)
                mark("traced")
                return logs

            model.train_step = marked_train_step

        def on_train_batch_begin(self, batch, logs=None):
            mark("began")

        def on_train_batch_end(self, batch, logs=None):
            float(logs["loss"])
            mark("ended")
            Path(marks_path).write_text(json.dumps(marks), encoding="utf-8")
            os._exit(0)  # the rest of the run is not needed

    mark("imported")
    task = make_task(load_config(preset_or_file, overrides))
    mark("read")
    model = task.make_model(ModelPool())
    mark("made")
    with tempfile.TemporaryDirectory() as folder:
        trainer.fit(task, model, folder, more_callbacks=[Marks()])


if __name__ == "__main__":
    _train_and_mark(sys.argv[1], sys.argv[2], sys.argv[3:])
