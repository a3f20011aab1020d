"""The files of a run's checkpoints: their names, and what to do if they are lost or damaged."""

import re
import shlex
from pathlib import Path

from bytenet.errors import InputError
from bytenet.files import write_text_atomic
from bytenet.run_folder import RunFolder

_NAME = re.compile(r"step-(\d+)\.npz")
_NONE_YET = "none-yet"


def path_of_step(folder: Path, step: int) -> Path:
    """The path of the checkpoint that is saved after a step."""
    return folder / f"step-{step:08d}.npz"


def checkpoints(folder: Path) -> list[Path]:
    """The checkpoints in a folder, oldest first."""
    if not folder.is_dir():
        return []
    names = (_NAME.fullmatch(path.name) for path in folder.iterdir())
    return [folder / name[0] for name in sorted(filter(None, names), key=lambda name: int(name[1]))]


def latest_checkpoint(folder: Path) -> Path | None:
    """The newest checkpoint in a folder, if there is any."""
    paths = checkpoints(folder)
    return paths[-1] if paths else None


def note_beginning(folder: Path) -> None:
    """Make the folder, and note in it that the training has no checkpoint yet."""
    folder.mkdir(exist_ok=True)
    write_text_atomic(folder / _NONE_YET, "")


def note_first(folder: Path) -> None:
    """Note in a folder that its first checkpoint is saved."""
    (folder / _NONE_YET).unlink(missing_ok=True)


def check_not_lost(run: RunFolder) -> None:
    """Raise an InputError if a run has a model, but not the checkpoints of its training.

    A training that was killed after it saved a model and before its first checkpoint has lost none.
    """
    if run.model_path.is_file() and not checkpoints(run.checkpoints) and not (run.checkpoints / _NONE_YET).is_file():
        raise InputError(
            f"{run.path} has a trained model, but no checkpoint that its training could go on from. Start from the "
            f"model: begin a new run in another folder, with {_start_options(run)}. To train again from the beginning, "
            f"delete {run.model_path}."
        )


def help_with_damage(path: Path) -> str:
    """What to do if a checkpoint of a run is damaged."""
    if len(checkpoints(path.parent)) > 1:
        return "Delete it; the run then resumes from the one before it."
    run = RunFolder(path.parent.parent)
    if run.model_path.is_file():
        return (
            "The run has no other checkpoint. Bring back a copy of this one; or begin a new run in another folder, "
            f"with {_start_options(run)}."
        )
    return "Delete it; the run then begins again."


def _start_options(run: RunFolder) -> str:
    """The options of a training that starts from the model of a run."""
    starts = {"training.start": run.path}
    if not run.missing and run.config.semi_supervised.enabled:
        starts = {
            "semi_supervised.start_forward": run.path,
            "semi_supervised.start_backward": run.path / "backward",
        }
    return " ".join(f"--set {shlex.quote(f'{name}={path}')}" for name, path in starts.items())
