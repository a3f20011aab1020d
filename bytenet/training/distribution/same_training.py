"""Whether all workers train the same: settings, data and program."""

import hashlib
import json
import os
from pathlib import Path

import bytenet
from bytenet.config import PATH_KEYS
from bytenet.errors import InputError, shown
from bytenet.training.distribution.workers import Workers
from bytenet.training.environment import package_versions
from bytenet.training.tasks import Task


def check_same_training(workers: Workers, task: Task) -> None:
    """Compare the tasks of all workers before the first step.

    Args:
        workers: of the run.
        task: of this worker.

    Raises:
        InputError: they differ; on every worker, with the same message.
    """
    if workers.cluster is None:
        return
    of_chief, *of_others = (json.loads(text) for text in workers.texts(json.dumps(_description(task))))
    differences = [
        f"{workers.cluster.name(index)} has {key} {shown(other.get(key))}, "
        f"but {workers.cluster.name(0)} has {shown(of_chief.get(key))}"
        for index, other in enumerate(of_others, start=1)
        for key in of_chief.keys() | other.keys()
        if other.get(key) != of_chief.get(key)
    ]
    if differences:
        raise InputError(
            f"The workers do not train the same: {'; '.join(sorted(differences))}. Start all of them with the same "
            "settings, the same data and the same version of this program and its packages."
        )


def _description(task: Task) -> dict[str, str]:
    """Everything in which the workers must not differ. The places of files may differ."""
    settings = {key: str(value) for key, value in task.config.settings().items() if key not in PATH_KEYS}
    return {
        **settings,
        **{f"the version of {name}": str(version) for name, version in package_versions().items()},
        "the program with the fingerprint": _code_fingerprint(),
        "training data with the fingerprint": task.data_fingerprint(),
        "validation data with the fingerprint": task.validation_fingerprint(),
    }


def _code_fingerprint() -> str:
    """A digest of the source files of this package."""
    digest = hashlib.sha256()
    package = Path(bytenet.__file__).parent
    # datasets and profiling may be links.
    for folder, folders, names in os.walk(package, followlinks=True):
        folders.sort()
        for name in sorted(names):
            if name.endswith(".py"):
                path = Path(folder, name)
                digest.update(f"{path.relative_to(package)}\0".encode() + path.read_bytes() + b"\0")
    return digest.hexdigest()
