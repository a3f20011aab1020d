"""TensorBoard's Profile tab: whether it is installed, and how to open it."""

import os
import shlex
from importlib.metadata import entry_points, version
from importlib.util import find_spec
from pathlib import Path

from bytenet.errors import InputError

_PLUGIN_GROUP = "tensorboard_plugins"


def check_profile_plugin() -> None:
    """Make sure that TensorBoard can show profiles.

    Raises:
        InputError: the plug-in is missing, or TensorBoard would not find it.
    """
    if find_spec("xprof") is None:
        raise InputError(
            "TensorBoard's Profile tab needs the plug-in xprof, which is not installed. Install it with: "
            "pip install 'bytenet[profiling]'"
        )
    if not any("profile" in point.name for point in entry_points(group=_PLUGIN_GROUP)):
        raise InputError(
            f"xprof {version('xprof')} is installed, but TensorBoard would not find its Profile tab. Install it again: "
            "pip install --force-reinstall 'bytenet[profiling]'"
        )


def tensorboard_command(folder: str | os.PathLike[str]) -> str:
    """The line for a shell that shows the traces in a folder."""
    return f"tensorboard --logdir {shlex.quote(os.fspath(folder))}"


def logdir_of(trace: str | os.PathLike[str]) -> Path | None:
    """The folder to give to TensorBoard for a trace file; None where the file does not lie as it should."""
    trace = Path(trace)
    if [folder.name for folder in list(trace.parents)[1:3]] != ["profile", "plugins"]:
        return None
    return trace.parents[3]
