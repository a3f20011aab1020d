"""A place on disk where XLA keeps what it compiled, so that the next process need not compile it again.

Compiling a training step for a batch shape takes XLA ten to twenty seconds on a CPU; reading it back saves half of it.
TensorFlow reads the place from the environment when it starts, so `turn_on` comes before it is imported.
"""

import hashlib
import os
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

_FLAG = "--tf_xla_persistent_cache_"
_FILES = "xla_compile_cache_*"
_SUBFOLDER = "bytenet-xla"
_OFF = ("0", "off", "no", "false")
_ON = ("1", "on", "yes", "true")
_MOST_BYTES = 2 << 30


def turn_on() -> Path | None:
    """Let the TensorFlow that this process will import keep what XLA compiles for the CPU.

    The environment variable `BYTENET_COMPILE_CACHE` names a folder to make `bytenet-xla` in, instead of the user's
    cache folder, or, with the value 0 or off, keeps nothing. A place given in `TF_XLA_FLAGS` already counts.

    Returns:
        The folder; None where nothing is kept, also where the folder cannot be used.
    """
    wanted = os.environ.get("BYTENET_COMPILE_CACHE", "")
    wanted = "" if wanted.lower() in _ON else wanted
    flags = os.environ.get("TF_XLA_FLAGS", "")
    if wanted.lower() in _OFF or _FLAG in flags:
        return None
    try:
        root = (Path(wanted).absolute() if wanted else _user_cache()) / _SUBFOLDER
        folder = root / _machine()
        folder.mkdir(parents=True, exist_ok=True)
        _remove_oldest(root, _MOST_BYTES)
    except (OSError, RuntimeError):  # a read-only or no home, a full disk: everything works without, only slower
        return None
    # TensorFlow splits its flags at spaces.
    if not os.access(folder, os.W_OK) or " " in str(folder):
        return None
    cache = f"{_FLAG}directory={folder} {_FLAG}device_types=CPU,XLA_CPU_JIT"
    os.environ["TF_XLA_FLAGS"] = f"{flags} {cache}".strip()
    return folder


def turn_off() -> None:
    """Keep nothing, wherever `turn_on` or the user wanted it kept.

    For what measures compiling, or reads the names of operations, which the cache drops.
    """
    if "TF_XLA_FLAGS" in os.environ:
        os.environ["TF_XLA_FLAGS"] = flags_without_cache(os.environ["TF_XLA_FLAGS"])


def flags_without_cache(flags: str) -> str:
    """A value of `TF_XLA_FLAGS` without what `turn_on` adds."""
    return " ".join(flag for flag in flags.split() if not flag.startswith(_FLAG))


def _user_cache() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")


def _machine() -> str:
    """A name for all that compiled code depends on: TensorFlow's version and the processor's abilities."""
    try:
        tensorflow = version("tensorflow")
    except PackageNotFoundError:  # it is installed under another name
        tensorflow = "tensorflow"
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").split("\n")
    except OSError:
        lines = []
    abilities = next((line for line in lines if line.startswith(("flags", "Features"))), platform.processor())
    return f"{tensorflow}-{hashlib.sha256(abilities.encode()).hexdigest()[:12]}"


def _remove_oldest(root: Path, most_bytes: int) -> None:
    """Delete what was used longest ago until what XLA left there is at most `most_bytes`."""
    files = []
    for path in root.rglob(_FILES):
        try:
            files.append((path, path.stat()))
        except FileNotFoundError:  # another process was quicker
            continue
    total = sum(status.st_size for _, status in files)
    for path, status in sorted(files, key=lambda file: max(file[1].st_atime, file[1].st_mtime)):
        if total <= most_bytes:
            return
        path.unlink(missing_ok=True)
        total -= status.st_size
