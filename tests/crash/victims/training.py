"""`bytenet train` of every kind of run, small enough that a run takes seconds."""

import sys
from pathlib import Path
from typing import ClassVar

from tests.crash.victims.victim import OUTPUT, Victim

# A checkpoint at every step, so that kills meet writes.
SETTINGS = (
    "model.dim=4", "model.num_sets=1", "model.dilations=[1]", "model.dropout=0.2", "data.num_train=160",
    "data.num_validation=8", "data.num_test=8", "data.batch_size=16", "data.bucketing=none", "training.epochs=3",
    "training.deterministic=true", "training.keep_model=best", "training.ema_momentum=0.5",
    "training.checkpoint_every_steps=1", "training.checkpoint_every_seconds=1e9", "evaluation.every_epochs=1",
    "evaluation.continuous_every_seconds=null", "evaluation.continuous_every_steps=4",
    "evaluation.continuous_batch_size=4",
)  # fmt: skip
SEMI_SUPERVISED = (
    "semi_supervised.enabled=true", "semi_supervised.beam_size=2", "semi_supervised.bucketing=none",
    "data.num_monolingual=64", "model.unfold_scale=1.0", "model.unfold_offset=15",
)  # fmt: skip

ONE_THREAD = {"CUDA_VISIBLE_DEVICES": "", "TF_NUM_INTRAOP_THREADS": "1", "TF_NUM_INTEROP_THREADS": "1"}
"""Sums are added up in the same order each time, and two parts of the campaign share the machine."""


class Training(Victim):
    """A supervised run on one device. `--resume` also begins it."""

    name = "training"
    watched = (".", f"{OUTPUT}/checkpoints")
    settings: ClassVar[tuple[str, ...]] = SETTINGS

    def command(self, case: Path) -> list[str]:
        settings = (f"--set={setting}" for setting in self.settings)
        return [sys.executable, "-m", "bytenet", "train", "digits", "--run", str(case / OUTPUT), "--resume", *settings]

    environment = ONE_THREAD


class TwoReplicas(Training):
    """A run whose batches two devices share."""

    name = "training, two replicas"
    settings = (*SETTINGS, 'training.devices=["CPU:0","CPU:1"]')


class SemiSupervised(Training):
    """A run with two translators, each in a folder of its own."""

    name = "training, semi-supervised"
    settings = (*SETTINGS, *SEMI_SUPERVISED, "training.epochs=2")
