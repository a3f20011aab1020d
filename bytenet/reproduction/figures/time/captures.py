"""Profiles of training steps: their settings, their folders, and the thesis's steps beside them."""

import json
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from bytenet.config import Config, load_config
from bytenet.errors import InputError
from bytenet.files import atomic_folder, write_text_atomic
from bytenet.profiling.traces.plots import KnownStep
from bytenet.reproduction.data import thesis_numbers
from bytenet.reproduction.engine.experiment import Scale, Work

BATCH_SIZE = 16
"""Sentences per device."""
THESIS_DEVICES = 4
_LOGICAL_CPUS = 2
_ENVIRONMENT = "environment.json"
# The settings of the thesis's code that differ from the defaults. The author's job for the speed leaves XLA off.
_THESIS = (
    "model.settings=thesis", "training.loss=sentence", "training.clip_norm=null", "training.jit_compile=false",
    "data.min_length=0", "data.unknown=drop", "evaluation.every_epochs=1000",
)  # fmt: skip
_SCALES: dict[Scale, tuple[str, tuple[str, ...]]] = {
    "smoke": (
        "numbers",
        ("model.dim=8", "model.dilations=[1,2]", "data.num_train=512", "data.num_validation=8", "data.bucketing=none"),
    ),
    "cpu": ("newstest-memorise", ("data.max_length=80", "data.bucketing=none")),
    "thesis": ("newstest-memorise", ("data.max_length=10000", "data.bucketing=histogram")),
}
_CPU_DIMS = {"bytenet": 128, "simplified": 64, "selu": 128}
_STEPS: dict[Scale, tuple[str, ...]] = {"smoke": ("--steps", "6:7"), "cpu": (), "thesis": ("--steps", "4500:4500")}


@dataclass(frozen=True)
class ThesisProfile:
    """A profiled training step of the thesis, as `thesis_numbers.yaml` explains it.

    Attributes:
        variant: of the model.
        cards: 1 or 4.
        step: seconds of a step.
        busy: seconds of a step in which a card works.
        named: seconds by group, for the groups that can be read off the figure.
        idle: share of a step in which a card does nothing.
        words: about the groups.
    """

    variant: str
    cards: int
    step: float
    busy: float
    named: dict[str, float]
    idle: float
    words: str


@cache
def thesis_profiles() -> dict[tuple[str, int], ThesisProfile]:
    """The thesis's profiles by variant and number of cards."""
    profiles = [ThesisProfile(**profile) for profile in thesis_numbers("profiles")]
    return {(profile.variant, profile.cards): profile for profile in profiles}


@dataclass(frozen=True)
class Captured:
    """The steps that a picture shows.

    Attributes:
        variant: of the model.
        devices: of the thesis, 1 or 4. At smaller scales, two logical CPUs stand in for four devices.
    """

    variant: str
    devices: int

    @property
    def of_thesis(self) -> ThesisProfile:
        """The thesis's profile of the same model on as many devices."""
        return thesis_profiles()[self.variant, self.devices]

    @property
    def known_step(self) -> KnownStep:
        """The thesis's step, as a picture shows it."""
        profile = self.of_thesis
        cards = "1 Titan X" if self.devices == 1 else f"each of {self.devices} Titan X"
        seconds = {**profile.named, "other": profile.busy - sum(profile.named.values())}
        return KnownStep(f"thesis, {cards} (cards of 2017)", seconds, profile.step, profile.words)

    def config(self, scale: Scale) -> Config:
        """The configuration of the training."""
        preset, settings = _SCALES[scale]
        kind, count = ("GPU", self.devices) if scale == "thesis" else ("CPU", min(self.devices, _LOGICAL_CPUS))
        if scale == "cpu":
            settings = (*settings, f"model.dim={_CPU_DIMS[self.variant]}")
        names = ",".join(f'"{kind}:{index}"' for index in range(count))
        return load_config(preset, [
            f"model.variant={self.variant}", *_THESIS, *settings,
            f"training.devices=[{names}]", f"data.batch_size={BATCH_SIZE * count}",
        ])  # fmt: skip

    def trace_folder(self, work: Work) -> Path:
        """The folder of the profile; the profile is made if it does not exist.

        Raises:
            InputError: profiling fails; or the existing profile was made with other settings, from another commit or on
                another machine.
        """
        config = self.config(work.scale)
        folder = work.runs / f"trace-{self.variant}-{self.devices}"
        settings = folder / "config.yaml"
        if settings.is_file():
            if difference := _difference(folder, config, work.environment):
                raise InputError(f"{folder} was captured {difference}. Remove it, or give another --runs.")
            return folder
        work.say(f"capturing steps of {self.variant} on {', '.join(config.training.devices or ())} in {folder} ...")
        folder.parent.mkdir(parents=True, exist_ok=True)
        with atomic_folder(folder) as new:
            new.mkdir()
            config_path = new / settings.name
            write_text_atomic(config_path, config.to_yaml())
            write_text_atomic(new / _ENVIRONMENT, json.dumps(work.environment, indent=2) + "\n")
            options = [str(config_path), "--out", str(new), *_STEPS[work.scale]]
            command = [sys.executable, "-m", "bytenet", "profile", *options]
            process = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
            if process.returncode:
                last_line = process.stderr.rstrip().rpartition("\n")[2] or "it printed nothing"
                raise InputError(f"Profiling {self.variant} failed with exit code {process.returncode}: {last_line}")
        return folder


def _difference(folder: Path, config: Config, environment: Mapping[str, Any]) -> str:
    """How the capture of an existing profile differs from one that would be made now, in words; "" if it does not."""
    if load_config(folder / "config.yaml").differences(config):
        return "with other settings"
    path = folder / _ENVIRONMENT
    if not path.is_file():
        return "from an unknown commit"
    captured = json.loads(path.read_text(encoding="utf-8"))
    commit, now = captured.get("git_commit"), environment.get("git_commit")
    if commit != now:
        return f"from the commit {commit}, not {now}"
    return "on another machine" if captured.get("machine") != environment.get("machine") else ""
