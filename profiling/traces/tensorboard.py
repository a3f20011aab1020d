"""TensorBoard's Profile tab: checks that it is installed, and gives the command that opens it."""

import os
import shlex
from importlib.metadata import entry_points, version
from importlib.util import find_spec
from pathlib import Path

from bytenet.errors import InputError

_PLUGIN_GROUP = "tensorboard_plugins"


def check_profile_plugin() -> None:
    """Check that TensorBoard can show profiles.

    Raises:
        InputError: the plug-in xprof is not installed, or TensorBoard would not find it.
    """
    if find_spec("xprof") is None:
        raise InputError(
            "TensorBoard's Profile tab needs the plug-in xprof, which is not installed. Install it: "
            "pip install '.[profiling]' in the folder of bytenet's source"
        )
    if not any("profile" in point.name for point in entry_points(group=_PLUGIN_GROUP)):
        raise InputError(
            f"xprof {version('xprof')} is installed, but TensorBoard would not find its Profile tab. Reinstall it: "
            "pip install --force-reinstall '.[profiling]' in the folder of bytenet's source"
        )


def tensorboard_command(folder: str | os.PathLike[str]) -> str:
    """The shell command that shows the traces in a folder."""
    return f"tensorboard --logdir {shlex.quote(os.fspath(folder))}"


def logdir_of(trace: str | os.PathLike[str]) -> Path | None:
    """TensorBoard's --logdir for a trace file; None if the file is not in a FOLDER/plugins/profile/NAME/."""
    trace = Path(trace)
    if [folder.name for folder in list(trace.parents)[1:3]] != ["profile", "plugins"]:
        return None
    return trace.parents[3]
