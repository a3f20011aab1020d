"""Several workers train like one process on the same batches."""

import json

import numpy as np
import pytest

from .worker_processes import TRAIN, run_workers

# Twenty steps on full batches. With dropout, each replica would draw its own units.
BASE = [
    "model.dim=4", "model.num_sets=1", "model.dilations=[1]", "model.dropout=0.0", "data.num_train=48",
    "data.num_validation=8", "data.batch_size=12", "data.bucketing=none", "training.epochs=5",
    "training.schedule=constant", "training.warmup_steps=0", "training.jit_compile=false", "training.ema_momentum=0.9",
    "training.clip_norm=0.5", "evaluation.every_epochs=5", "evaluation.continuous_every_seconds=null",
    "evaluation.continuous_batch_size=8",
]  # fmt: skip
SEMI = [
    "semi_supervised.enabled=true", "semi_supervised.beam_size=2", "semi_supervised.bucketing=none",
    "semi_supervised.batch_size=6", "data.num_monolingual=24", "model.unfold_scale=1.0", "model.unfold_offset=15",
]  # fmt: skip
CASES = {
    "batch normalisation": BASE,
    "accumulated": [*BASE, "training.accumulate_batches=2", "model.encoder_normalization=layer"],
    "compiled": [*BASE, "model.encoder_normalization=layer", "training.jit_compile=true"],
    "semi-supervised": [*BASE, *SEMI],
}
FAST = ("batch normalisation",)


def trained(folder, names, count):
    """Train cases with a number of workers. Returns by case the variables of each worker."""
    cases = {name: CASES[name] for name in names}
    for ended in run_workers(count, ["-c", TRAIN, json.dumps(cases)], folder):
        assert ended.code == 0, ended.errors[-3000:]
    return {name: [dict(np.load(folder / f"{name}-{count}-{index}.npz")) for index in range(count)] for name in names}


def check_like_one(one, several):
    """One process ends with the same values up to rounding; the workers, with the same bits."""
    chief, *others = several
    for other in others:
        assert chief.keys() == other.keys() == one.keys()
        assert not [name for name in chief if not np.array_equal(chief[name], other[name], equal_nan=True)]
    differences = {name: float(np.abs(chief[name] - one[name]).max()) for name in one if chief[name].dtype.kind == "f"}
    values = {name: difference for name, difference in differences.items() if not name.startswith("metrics/")}
    assert len(values) > 20
    assert max(values.values()) < 1e-5, max(values, key=values.get)


def test_two_workers_train_like_one_process(tmp_path):
    (name,) = FAST
    one, two = trained(tmp_path, FAST, 1), trained(tmp_path, FAST, 2)
    check_like_one(one[name][0], two[name])


@pytest.mark.slow
@pytest.mark.parametrize("count", [2, 3])
def test_workers_train_everything_like_one_process(tmp_path, count):
    names = [name for name in CASES if count == 3 or name not in FAST]
    one, several = trained(tmp_path, names, 1), trained(tmp_path, names, count)
    for name in names:
        check_like_one(one[name][0], several[name])
