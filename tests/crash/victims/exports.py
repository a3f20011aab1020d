"""`bytenet export` in its three forms."""

import hashlib
import subprocess
import sys
from pathlib import Path
from typing import ClassVar

from tests.crash.victims.training import ONE_THREAD, SETTINGS
from tests.crash.victims.victim import OUTPUT, Victim


class _Export(Victim):
    """An export of a model that was trained for two steps."""

    output: ClassVar[str]
    options: ClassVar[tuple[str, ...]] = ()
    environment = ONE_THREAD

    def __init__(self, folder: Path):
        super().__init__(folder)
        self._run = folder / "run"
        settings = (f"--set={setting}" for setting in (*SETTINGS, "training.max_steps=2"))
        command = [sys.executable, "-m", "bytenet", "train", "digits", "--run", str(self._run), *settings]
        subprocess.run(command, check=True, capture_output=True)

    def command(self, case: Path) -> list[str]:
        out = str(case / self.output)
        return [sys.executable, "-m", "bytenet", "export", str(self._run), out, *self.options]


class ModelFile(_Export):
    """A `.bytenet` file. Its LiteRT part is written as in `LiteModel`."""

    name = "export, .bytenet"
    output = f"{OUTPUT}.bytenet"
    options = ("--engine", "full")


class LiteModel(_Export):
    """A `.tflite` file."""

    name = "export, LiteRT"
    output = f"{OUTPUT}.tflite"


class SavedModel(_Export):
    """A folder. It may appear only as a whole."""

    name = "export, SavedModel"
    output = OUTPUT

    def is_done(self, case: Path) -> bool:
        return (case / OUTPUT).exists()

    def unwhole(self, case: Path) -> list[str]:
        if self.is_done(case) and not (case / OUTPUT / "fingerprint.pb").exists():  # what is written last
            return ["the folder is not complete"]
        return []

    def contents(self, case: Path) -> dict[str, str]:
        return names_and_weights(case)


def names_and_weights(folder: Path) -> dict[str, str]:
    """The names of all files, and a digest of each weight. TensorFlow names functions otherwise in each process."""
    import tensorflow as tf

    found = {str(path.relative_to(folder)): "" for path in sorted(folder.rglob("*")) if path.is_file()}
    for index in folder.rglob("variables.index"):
        reader = tf.train.load_checkpoint(str(index.with_suffix("")))
        for name, kind in reader.get_variable_to_dtype_map().items():
            if kind.is_floating:  # not the states of dropout, which Keras draws anew and no translation reads
                found[name] = hashlib.sha256(reader.get_tensor(name).tobytes()).hexdigest()
    return found
