"""The environment of a run: commands, versions, commit and machine."""

import json
import os
import platform
import shlex
import subprocess
import sys
from collections.abc import Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import keras

from bytenet.files import write_text_atomic
from bytenet.run_folder import RunFolder
from bytenet.saved.environment import Environment, commits_of

_PACKAGES = ("bytenet", "tensorflow", "keras", "tensorflow-text", "numpy", "sacrebleu")


def write_environment(
    folder: RunFolder, seed: int, parameters: int, replicas: int, trained_lengths: Sequence[int]
) -> None:
    """Save `environment.json` in the run folder. If the run was resumed, the file lists all commands and commits.

    Args:
        folder: of the run.
        seed: of the run.
        parameters: number of trainable parameters.
        replicas: number of devices that share each batch.
        trained_lengths: padded length of the pairs of each bucket.
    """
    earlier: Environment = folder.environment() if folder.environment_path.is_file() else {}
    here = describe_environment()
    environment = {
        "commands": [*earlier.get("commands", []), command_line(sys.argv)],
        **here,
        "git_commits": _commits(earlier, here["git_commit"]),
        "seed": seed,
        "vocabulary": folder.vocabulary.fingerprint(),
        "trainable_parameters": parameters,
        "devices": device_names(),
        "replicas": replicas,
        "trained_lengths": [int(length) for length in trained_lengths],
    }
    _write(folder, environment)


def add_fitting(folder: RunFolder) -> None:
    """Add the present command to the environment of a prepared run, and put this machine in the place of the other one.

    Packages that are missing here keep the versions that the preparation had.

    Args:
        folder: of the run, whose environment was saved when it was prepared.
    """
    environment, here = folder.environment(), describe_environment()
    backend = keras.backend.backend()
    versions = {name: version for name, version in here["versions"].items() if version is not None}
    fitting = {
        "commands": [*environment.get("commands", []), command_line(sys.argv)],
        "versions": environment.get("versions", {}) | versions | {backend: _version(backend)},
        "git_commit": here["git_commit"] or environment.get("git_commit"),
        "git_commits": _commits(environment, here["git_commit"]),
        "machine": here["machine"],
        "devices": device_names(),
    }
    _write(folder, {**environment, **fitting})


def _commits(earlier: Environment, here: str | None) -> list[str]:
    """The commits that have trained a run so far, in order, and the present one."""
    return list(dict.fromkeys([*commits_of(earlier), *([here] if here else [])]))


def device_names() -> list[str]:
    """The devices that the present backend of Keras computes on. JAX and PyTorch tell the model of a GPU."""
    backend = keras.backend.backend()
    if backend == "jax":
        import jax

        return [device.device_kind for device in jax.devices()]
    if backend == "torch":
        import torch

        return [torch.cuda.get_device_name(number) for number in range(torch.cuda.device_count())] or ["cpu"]
    import tensorflow as tf

    return [device.name for device in tf.config.list_logical_devices()]


def copy_environment(run: RunFolder, folder: RunFolder) -> None:
    """Save the environment of a run in the folder of a model that was made from it, with the present command added.

    Args:
        run: whose environment is copied, if it has any.
        folder: of the model.
    """
    if run.environment_path.is_file():
        environment = run.environment()
        commands = [*environment.get("commands", []), command_line(sys.argv)]
        _write(folder, {**environment, "commands": commands})


def _write(folder: RunFolder, environment: Mapping[str, Any]) -> None:
    write_text_atomic(folder.environment_path, json.dumps(environment, indent=2) + "\n")


def command_line(arguments: Sequence[str]) -> str:
    """A command as a user would write it. `python -m bytenet` counts as `bytenet`.

    Args:
        arguments: path of the program, and its arguments.
    """
    program = Path(arguments[0])
    name = program.parent.name if program.name == "__main__.py" else program.name
    return shlex.join([name, *arguments[1:]])


def describe_environment() -> dict[str, Any]:
    """Versions, commit and machine, for JSON."""
    return {
        "versions": package_versions(),
        "git_commit": _git_commit(),
        "machine": _machine(),
    }


def package_versions() -> dict[str, str | None]:
    """Versions of Python and of the packages that training depends on."""
    return {"python": platform.python_version()} | {name: _version(name) for name in _PACKAGES}


def _machine() -> dict[str, Any]:
    return {"platform": platform.platform(), "processor": _processor(), "cores": os.cpu_count()}


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _git_commit() -> str | None:
    """The commit of the source tree, with "+" if files were changed; None if the package does not run from one."""

    def git(*arguments: str) -> str:
        return subprocess.run(
            ["git", *arguments], cwd=here.parent, capture_output=True, text=True, timeout=10, check=True
        ).stdout.strip()

    here = Path(__file__)
    try:
        git("ls-files", "--error-unmatch", here.name)  # an installed package may be inside another repository
        return git("describe", "--always", "--abbrev=40", "--exclude=*", "--dirty=+")
    except (OSError, subprocess.SubprocessError):
        return None


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").split("\n")
    except OSError:
        return platform.processor()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "unknown")
