"""Several workers train like one process on the same batches."""

import json

import numpy as np
import pytest

from bytenet.config import load_config
from bytenet.datasets import read_corpus
from bytenet.datasets.shards.sharding.filters import FilterSettings
from bytenet.datasets.shards.sharding.shard_corpus import shard_corpus

from .worker_processes import TRAIN, run_workers

# Twenty steps on full batches. With dropout, each replica would drop the same units. With Adam's usual epsilon of 1e-8,
# a gradient that is nearly zero makes as large a step as any other, in a direction that rounding decides.
TRAINING = [
    "model.dropout=0.0", "data.num_train=48", "data.num_validation=8", "data.batch_size=12", "data.bucketing=none",
    "training.epochs=5", "training.schedule=constant", "training.warmup_steps=0", "training.jit_compile=false",
    "training.ema_momentum=0.9", "training.clip_norm=0.5", "training.epsilon=1e-4", "evaluation.every_epochs=5",
    "evaluation.continuous_every_seconds=null", "evaluation.continuous_batch_size=8",
]  # fmt: skip
BASE = ["model.dim=4", "model.num_sets=1", "model.dilations=[1]", *TRAINING]
FAMILIES = {
    "transformer": [
        "model.dim=8", "model.encoder_layers=1", "model.decoder_layers=1", "model.heads=2", "model.feed_forward_dim=16",
    ],
    "convs2s": [
        "model.dim=8", "model.encoder_widths=[8]", "model.encoder_kernel_sizes=[3]", "model.decoder_widths=[8]",
        "model.decoder_kernel_sizes=[3]", "model.output_dim=8",
    ],
    "recurrent": ["model.dim=8", "model.embedding_dim=8"],
}  # fmt: skip
SEMI = [
    "semi_supervised.enabled=true", "semi_supervised.beam_size=2", "semi_supervised.bucketing=none",
    "semi_supervised.batch_size=6", "data.num_monolingual=24", "model.unfold_scale=1.0", "model.unfold_offset=15",
]  # fmt: skip
CASES = {
    "batch normalisation": BASE,
    "accumulated": [*BASE, "training.accumulate_batches=2", "model.encoder_normalization=layer"],
    "compiled": [*BASE, "model.encoder_normalization=layer", "training.jit_compile=true"],
    "semi-supervised": [*BASE, *SEMI],
    "mixed precision": [*BASE, "training.mixed_precision=true"],
    "bfloat16 exchange": [*BASE, "training.exchange_dtype=bfloat16"],
    **{name: [f"model.family={name}", *sizes, *TRAINING] for name, sizes in FAMILIES.items()},
}
FAST = ("batch normalisation",)
#: A gradient of half the rows is rounded to eight bits before the sum.
TOLERANCES = {"mixed precision": 0.01, "bfloat16 exchange": 0.01}


def trained(folder, cases, count):
    """Train cases, settings by name, with a number of workers. Returns by case the variables of each worker."""
    for ended in run_workers(count, ["-c", TRAIN, json.dumps(cases)], folder):
        assert ended.code == 0, ended.errors[-3000:]
    return {name: [dict(np.load(folder / f"{name}-{count}-{index}.npz")) for index in range(count)] for name in cases}


def check_equal(chief, *others):
    """All workers end with the same bits."""
    for other in others:
        assert chief.keys() == other.keys()
        assert not [name for name in chief if not np.array_equal(chief[name], other[name])]


def check_like_one(one, several, tolerance=1e-5):
    """One process ends with the same values up to rounding; the workers, with the same bits.

    Returns:
        The largest difference of a value.
    """
    check_equal(*several)
    chief, *_ = several
    assert chief.keys() == one.keys()
    differences = {name: float(np.abs(chief[name] - one[name]).max()) for name in one if chief[name].dtype.kind == "f"}
    values = {name: difference for name, difference in differences.items() if not name.startswith("metrics/")}
    assert len(values) > 20
    largest = max(values, key=values.get)
    assert values[largest] < tolerance, largest
    return values[largest]


def test_two_workers_train_like_one_process(tmp_path):
    cases = {name: CASES[name] for name in FAST}
    one, two = trained(tmp_path, cases, 1), trained(tmp_path, cases, 2)
    for name in FAST:
        check_like_one(one[name][0], two[name])


@pytest.mark.slow
@pytest.mark.timeout(1500)
@pytest.mark.parametrize("count", [2, 3])
def test_workers_train_everything_like_one_process(tmp_path, count):
    cases = {name: settings for name, settings in CASES.items() if count == 3 or name not in FAST}
    one, several = trained(tmp_path, cases, 1), trained(tmp_path, cases, count)
    for name in cases:
        largest = check_like_one(one[name][0], several[name], TOLERANCES.get(name, 1e-5))
        print(f"{count} workers, {name}: largest difference {largest:.1g}")  # shown by `pytest -rP`


@pytest.mark.slow
def test_workers_with_statistics_of_their_own_stay_equal(tmp_path):
    settings = [*BASE, "training.sync_batch_norm=false", "training.jit_compile=true"]
    check_equal(*trained(tmp_path, {"own statistics": settings}, 2)["own statistics"])


@pytest.mark.slow
def test_workers_train_from_their_own_shards(tmp_path):
    corpus = read_corpus(load_config("digits", ["data.num_train=48"]).data)
    for side in ("source", "target"):
        lines = "".join(f"{line}\n" for line in getattr(corpus.train, side))
        (tmp_path / side).write_text(lines, encoding="utf-8")
    inputs, languages = [str(tmp_path / side) for side in ("source", "target")], ("de", "en")
    everything = FilterSettings(max_ratio=None, identical=False, duplicates=False)
    shard_corpus(inputs, tmp_path / "shards", languages, everything, shards=2, duplicates_megabytes=1, processes=0)
    settings = [
        *BASE, "data.corpus=shards", f"data.train_shards={tmp_path / 'shards'}", "data.source_language=de",
        "data.target_language=en", *(f"data.{name}=null" for name in ("num_train", "num_validation", "num_test")),
    ]  # fmt: skip
    check_equal(*trained(tmp_path, {"shards": settings}, 2)["shards"])
