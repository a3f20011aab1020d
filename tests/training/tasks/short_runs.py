"""Semi-supervised runs on short pairs, in their own process."""

import subprocess
import sys

# The runs have their own process because devices and determinism are settings of a whole process.
RUNS = """
import collections, json, os, signal, sys
from pathlib import Path
import keras, numpy as np, tensorflow as tf
from bytenet.config import load_config
from bytenet.training import train
from bytenet.training.callbacks import StateKeeper
from bytenet.training.compiled_models.model_pool import ModelPool
from bytenet.training.distribution.strategies import make_strategy

make_strategy(["CPU:0", "CPU:1"])
random = np.random.default_rng(2)


def write(name, count, letters):
    lines = ["".join(random.choice(list(letters), random.integers(1, 5))) for _ in range(count)]
    Path(name).write_text("".join(line + "\\n" for line in lines), encoding="utf-8")


for name, letters in (("source", "abc"), ("target", "xyz")):
    write("pairs." + name, 22, letters)  # the last batch is not full
    write("others." + name, 22, letters)
    write("text." + name, 13, letters)
Path("settings.yaml").write_text("{}\\n", encoding="utf-8")
BASE = [
    "data.corpus=files", "data.bucketing=none", "data.batch_size=8", "model.dim=4", "model.num_sets=1",
    "model.dilations=[1]", "model.dropout=0.2", "training.epochs=3", "training.schedule=linear",
    "training.warmup_steps=0", "training.ema_momentum=0.9", "training.keep_model=last", "training.deterministic=true",
    "evaluation.continuous_every_seconds=null", "training.keep_checkpoints=1", "model.unfold_scale=1.0",
    "model.unfold_offset=3",
]
SEMI = [
    "semi_supervised.enabled=true", "semi_supervised.beam_size=1", "semi_supervised.bucketing=none",
    "semi_supervised.batch_size=4",
]
TEXT = [f"data.monolingual_{side}=text.{side}" for side in ("source", "target")]


def config(*overrides, pairs="pairs"):
    files = [f"data.train_{side}={pairs}.{side}" for side in ("source", "target")]
    return load_config("settings.yaml", [*BASE, *files, *overrides])


def run(name, config, **options):
    train(config, name, **options)


def run_and_stop(name, config, step, **options):
    count = StateKeeper.on_train_batch_end

    def count_and_stop(self, batch, logs=None):
        count(self, batch, logs)
        if self._state.step == step:
            os.kill(os.getpid(), signal.SIGTERM)

    StateKeeper.on_train_batch_end = count_and_stop
    try:
        train(config, name, **options)
    except KeyboardInterrupt:
        return
    finally:
        StateKeeper.on_train_batch_end = count
    raise AssertionError("the run was not stopped")
"""


def run_script(script, folder):
    done = subprocess.run(
        [sys.executable, "-c", RUNS + script], capture_output=True, text=True, timeout=1500, cwd=folder
    )
    assert done.returncode == 0, done.stderr[-4000:]
    return folder
