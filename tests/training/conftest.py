"""A training run that takes seconds."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from bytenet.config import Config, load_config
from bytenet.training.checkpoints import latest_checkpoint

SMALLEST = (
    "model.dim=4", "model.num_sets=1", "model.dilations=[1,2]", "model.dropout=0.0", "data.num_train=48",
    "data.num_validation=16", "data.batch_size=16", "training.epochs=2", "training.schedule=constant",
    "training.warmup_steps=0", "training.jit_compile=false", "training.keep_model=best", "evaluation.every_epochs=1",
    "evaluation.continuous_every_seconds=null", "evaluation.continuous_batch_size=8",
)  # fmt: skip


@pytest.fixture
def smallest_settings() -> tuple[str, ...]:
    """Overrides of the preset `digits` that make it as small as it can be: three batches an epoch, two epochs."""
    return SMALLEST


@pytest.fixture
def smallest_config() -> Callable[..., Config]:
    """Make the configuration of that run, with further overrides on top."""
    return lambda *overrides: load_config("digits", [*SMALLEST, *overrides])


@pytest.fixture(scope="session")
def final_state() -> Callable[[Path], tuple[dict, dict[str, np.ndarray]]]:
    """Reads what the last checkpoint of a run holds: the state without its times, and the variables."""

    def read(run):
        with np.load(latest_checkpoint(run / "checkpoints")) as saved:
            arrays = {name: saved[name] for name in saved.files}
        state = json.loads(arrays.pop("training_state").tobytes())
        del state["seconds"]
        return state, arrays

    return read
