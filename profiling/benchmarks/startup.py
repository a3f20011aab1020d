"""How long it takes from the command to the end of the first training step, and for what.

As a program, `python -m bytenet.profiling.benchmarks.startup MARKS PRESET [SETTING ...]`, this module trains like
`bytenet train` in the folder `run` beside the file MARKS, writes the time of each part of the start to MARKS, and ends
after the first step.
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
from bytenet.errors import InputError, last_lines
from bytenet.memory_allocator import keep_freed_memory
from bytenet.profiling.benchmarks.measurement import Spread
from bytenet.profiling.benchmarks.training_case import refuse_semi_supervised, refuse_start

Way = Literal["no XLA", "XLA, empty cache", "XLA, warm cache"]
WAYS: tuple[Way, ...] = ("no XLA", "XLA, empty cache", "XLA, warm cache")

# The marks in the order of time, and the part of the start that ends with each.
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
        way: without XLA, or with XLA and an empty or a warm compile cache.
        seconds: the whole time.
        parts: time of each part, in order. With one repeat they add up to `seconds`.
            "imports": start of Python, and imports.
            "corpus and plan": reading the corpus, its vocabulary, and the plan of the batches.
            "model": making the model.
            "before the first step": folders, logs, callbacks, and the input pipeline.
            "tracing": the Python code of the step: model, gradients, optimiser.
            "compiling and first step": TensorFlow's and XLA's work on the traced graph, and the step itself.
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
        preset_or_file: what to train. Its corpus must be available.
        overrides: settings, each as `section.key=value`.
        ways: any of `WAYS`. A warm cache was filled by an earlier run of the same repeat. If there was none, a run that
            is not measured fills it.
        repeats: runs of each way. The ways take turns.
        say: called with messages on the progress.

    Returns:
        The cost of each way, in their order.

    Raises:
        ConfigError: the configuration is wrong.
        InputError: the run is semi-supervised or starts from a trained model; or a run failed before its first step.
            Then the message has the run's last lines.
    """
    config = load_config(preset_or_file, overrides)
    refuse_semi_supervised(config)
    refuse_start(config)
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
    """Start one run, and return the seconds of each part."""
    settings = [*overrides, f"training.jit_compile={'false' if way == 'no XLA' else 'true'}"]
    with tempfile.TemporaryDirectory(dir=folder) as run_folder:
        marks_path = Path(run_folder) / "marks.json"
        arguments = [preset_or_file, *settings]
        # On Linux and macOS the monotonic clock is the same in all processes.
        began = time.monotonic()
        done = subprocess.run(
            [sys.executable, "-m", __name__, str(marks_path), *arguments],
            # The run ends without removing its temporary files, such as those of AutoGraph.
            env=_environment(way, cache) | {"TMPDIR": run_folder}, capture_output=True, text=True,
        )  # fmt: skip
        if not marks_path.exists():
            raise InputError(
                f"The training of {' '.join(arguments)} ended before its first step. Its last lines:\n"
                f"{last_lines(done.stderr)}"
            )
        times = json.loads(marks_path.read_text(encoding="utf-8"))
    seconds, before = {}, began
    for mark, part in _PARTS.items():
        seconds[part] = times[mark] - before
        before = times[mark]
    return seconds


def _environment(way: Way, cache: Path) -> dict[str, str]:
    """The environment of a run with its compile cache in `cache`; without XLA it has no cache."""
    # The run would inherit the cache of this process.
    flags = compile_cache.flags_without_cache(os.environ.get("TF_XLA_FLAGS", ""))
    return os.environ | {"TF_XLA_FLAGS": flags, "BYTENET_COMPILE_CACHE": "off" if way == "no XLA" else str(cache)}


def _train_and_mark(marks_path: str, preset_or_file: str, overrides: Sequence[str]) -> None:
    """Train like `bytenet train`, write when each part of the start is done, and end after the first step."""
    marks: dict[str, float] = {}

    def mark(name: str) -> None:
        marks[name] = time.monotonic()

    keep_freed_memory()  # before any thread starts
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    compile_cache.turn_on()  # before TensorFlow starts
    import keras

    from bytenet.training import trainer
    from bytenet.training.compiled_models.model_pool import ModelPool
    from bytenet.training.tasks import make_task

    class Marks(keras.callbacks.Callback):
        """Marks the tracing, and the end of the first step."""

        def set_model(self, model):
            super().set_model(model)
            apply = model.optimizer.apply

            def marked_apply(gradients, weights):  # Python runs it only while it is traced
                apply(gradients, weights)
                mark("traced")

            model.optimizer.apply = marked_apply

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
    trainer.fit(task, model, Path(marks_path).parent / "run", more_callbacks=[Marks()])


if __name__ == "__main__":
    _train_and_mark(sys.argv[1], sys.argv[2], sys.argv[3:])
