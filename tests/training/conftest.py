"""Training runs that take seconds."""

import json
import os
import signal
from collections.abc import Callable
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from keras.ops import convert_to_numpy

from bytenet.config import Config, load_config
from bytenet.datasets import Vocabulary, load_corpus
from bytenet.models import build_model
from bytenet.run_folder import RunFolder
from bytenet.saved.keras_model import save_model
from bytenet.training.callbacks import StateKeeper
from bytenet.training.checkpoints import latest_checkpoint
from bytenet.training.compiled_models.model_pool import ModelPool
from bytenet.training.state import TrainingState

from ..contract.cases import randomize

# Tracing takes most of the time of such runs, so there is only one batch shape.
SMALLEST = (
    "model.dim=4", "model.num_sets=1", "model.dilations=[1]", "model.dropout=0.0", "data.num_train=48",
    "data.num_validation=8", "data.batch_size=16", "data.bucketing=none", "training.epochs=2",
    "training.schedule=constant", "training.warmup_steps=0", "training.jit_compile=false", "training.keep_model=best",
    "evaluation.every_epochs=1", "evaluation.continuous_every_seconds=null", "evaluation.continuous_batch_size=8",
)  # fmt: skip

# Monolingual text of one side, and short searches.
SEMI = (
    "semi_supervised.enabled=true", "semi_supervised.beam_size=2", "semi_supervised.target_weight=0.0",
    "semi_supervised.bucketing=none", "data.num_monolingual=32", "model.unfold_scale=1.0", "model.unfold_offset=15",
    "training.max_steps=4", "training.ema_momentum=0.5", "evaluation.continuous_every_steps=2",
)  # fmt: skip


@pytest.fixture
def smallest_settings() -> tuple[str, ...]:
    """Overrides that make the preset `digits` as small as possible: two epochs of three batches each."""
    return SMALLEST


@pytest.fixture(scope="session")
def pool() -> ModelPool:
    """Models for all runs of a process. Runs with equal traced settings share a model and its traces."""
    return ModelPool()


@pytest.fixture(scope="session")
def smallest_config() -> Callable[..., Config]:
    """Make the configuration of the smallest run, with further overrides."""
    return lambda *overrides: load_config("digits", [*SMALLEST, *overrides])


@pytest.fixture(scope="session")
def final_state() -> Callable[[Path], tuple[dict, dict[str, np.ndarray]]]:
    """Read the last checkpoint of a run: the state without its times, and the variables."""

    def read(run):
        with np.load(latest_checkpoint(run / "checkpoints")) as saved:
            arrays = {name: saved[name] for name in saved.files}
        state = json.loads(arrays.pop("training_state").tobytes())
        del state["seconds"]
        return state, arrays

    return read


@pytest.fixture(scope="session")
def equal_final_states(final_state) -> Callable[[Path, Path], tuple[dict, dict[str, np.ndarray]]]:
    """Checks that two runs ended with the same state and, bit for bit, the same variables; returns both."""

    def check(run, expected):
        state, arrays = final_state(expected)
        other_state, other_arrays = final_state(run)
        assert other_state == state
        assert arrays.keys() == other_arrays.keys()
        assert not [name for name in arrays if not np.array_equal(arrays[name], other_arrays[name])]
        return state, arrays

    return check


@pytest.fixture(scope="session")
def edit():
    """Change settings in the `config.yaml` of a run, as a user would in an editor."""

    return lambda run, *overrides: run.go_on_with(load_config(run.config_path, overrides))


@pytest.fixture
def older_state(monkeypatch):
    """Checkpoints are read as if an older version had saved them, without the settings of the run."""
    from_dict = TrainingState.from_dict

    def without_settings(saved):
        return from_dict({key: value for key, value in saved.items() if key != "settings"})

    monkeypatch.setattr(TrainingState, "from_dict", without_settings)


@pytest.fixture
def interrupted(monkeypatch):
    """Inside `interrupted(step)`, a run gets a signal at that step, for example from Ctrl-C or a cluster."""

    @contextmanager
    def at(step, number=signal.SIGTERM):
        count = StateKeeper.on_train_batch_end

        def count_and_interrupt(self, batch, logs=None):
            count(self, batch, logs)
            if self._state.step == step:
                os.kill(os.getpid(), number)

        with monkeypatch.context() as patch:
            patch.setattr(StateKeeper, "on_train_batch_end", count_and_interrupt)
            yield

    return at


@pytest.fixture
def without_validation(tmp_path) -> tuple[str, ...]:
    """Overrides for the smallest run on three pairs in files, without validation pairs."""
    (tmp_path / "text").write_text("ab\nb\nabb\n", encoding="utf-8")
    files = (f"data.train_{side}={tmp_path / 'text'}" for side in ("source", "target"))
    nothing = (f"data.{name}=null" for name in ("num_train", "num_validation", "num_test"))
    return ("data.corpus=files", *nothing, *files)


@pytest.fixture
def val_losses(monkeypatch):
    """Lets the evaluations of the validation set give these losses, in their order."""

    def give(*losses):
        values = iter(losses)
        monkeypatch.setattr(
            "bytenet.training.validation.Validator.whole_set",
            lambda self: ({"val_loss": next(values)}, [""] * len(self.pairs)),
        )

    return give


@pytest.fixture
def unmeasured(monkeypatch):
    """The validation set is not translated, and the loss on it is always 1."""
    monkeypatch.setattr(
        "bytenet.training.validation.Validator.whole_set", lambda self: ({"val_loss": 1.0}, [""] * len(self.pairs))
    )


@pytest.fixture(scope="session")
def model_weights() -> Callable[[Path], list[np.ndarray]]:
    """Read the weights of the saved model of a run."""
    return lambda path: [convert_to_numpy(weight) for weight in RunFolder.open(path).load_model().weights]


@pytest.fixture(scope="session")
def assert_equal_weights():
    """Check that two models have the same weights."""

    def check(weights, expected):
        assert len(weights) == len(expected) > 10
        for one, other in zip(weights, expected, strict=True):
            np.testing.assert_array_equal(one, other)

    return check


@pytest.fixture(scope="session")
def semi_config(smallest_config):
    """Make the configuration of a semi-supervised run with source text, with further overrides."""
    return lambda *overrides: smallest_config(*SEMI, *overrides)


@pytest.fixture
def supervised_run(semi_config, tmp_path):
    """Make the folder of a finished supervised run whose weights are all different."""

    def make(name, *overrides):
        config = semi_config("semi_supervised.enabled=false", *overrides)
        vocabulary = Vocabulary.from_pairs(load_corpus(config.data).train, config.data)
        folder = RunFolder.create(tmp_path / name, config, vocabulary)
        model = build_model(config.model, vocabulary.size)
        randomize(model, seed=len(name))
        save_model(model, folder.model_path)
        return folder

    return make


@pytest.fixture
def beginnings(monkeypatch):
    """A list of the initial models of runs. The runs are not trained."""
    models = []

    def note(task, folders, model, *more):
        models.append(model)

    monkeypatch.setattr("bytenet.training.trainer.run_steps", note)
    return models
