"""A place on disk where XLA keeps what it compiled, so that the next process need not compile it again.

Compiling a training step for a batch shape takes XLA ten to twenty seconds on a CPU, reading it back two or three.
TensorFlow reads the place from the environment when it starts, so `turn_on` comes before it is imported.
"""

import hashlib
import os
import platform
from importlib.metadata import version
from pathlib import Path

_DISABLING = ("0", "off", "no", "false")
_MOST_BYTES = 2 << 30


def turn_on() -> Path | None:
    """Let the TensorFlow that this process will import keep what XLA compiles for the CPU.

    The environment variable `BYTENET_COMPILE_CACHE` names another folder than `xla` in the user's cache folder,
    or, with the value 0 or off, keeps nothing. A place given in `TF_XLA_FLAGS` already counts.

    Returns:
        The folder; None where nothing is kept, also where the folder cannot be written to.
    """
    wanted = os.environ.get("BYTENET_COMPILE_CACHE", "")
    flags = os.environ.get("TF_XLA_FLAGS", "")
    if wanted.lower() in _DISABLING or "tf_xla_persistent_cache_directory" in flags:
        return None
    root = Path(wanted) if wanted else _user_cache() / "bytenet" / "xla"
    folder = root / _machine()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _remove_oldest(root, _MOST_BYTES)
    except OSError:  # a read-only home, a full disk: everything works without, only slower
        return None
    if not os.access(folder, os.W_OK):
        return None
    cache = f"--tf_xla_persistent_cache_directory={folder} --tf_xla_persistent_cache_device_types=CPU,XLA_CPU_JIT"
    os.environ["TF_XLA_FLAGS"] = f"{flags} {cache}".strip()
    return folder


def _user_cache() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")


def _machine() -> str:
    """A name for all that compiled code depends on: TensorFlow's version and the processor's abilities."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").split("\n")
    except OSError:
        lines = []
    abilities = next((line for line in lines if line.startswith(("flags", "Features"))), platform.processor())
    return f"{version('tensorflow')}-{hashlib.sha256(abilities.encode()).hexdigest()[:12]}"


def _remove_oldest(root: Path, most_bytes: int) -> None:
    """Delete what was used longest ago until the rest is at most `most_bytes`."""
    files = [(path, path.stat()) for path in root.rglob("*") if path.is_file()]
    total = sum(status.st_size for _, status in files)
    for path, status in sorted(files, key=lambda file: max(file[1].st_atime, file[1].st_mtime)):
        if total <= most_bytes:
            return
        path.unlink(missing_ok=True)
        total -= status.st_size
