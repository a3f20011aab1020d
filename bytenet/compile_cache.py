"""A folder where XLA keeps compiled code, so that the next process need not compile it again.

On a CPU, XLA takes ten to twenty seconds to compile a training step for one batch shape. Reading it back saves half of
that. TensorFlow reads the folder from the environment when it starts, so call `turn_on` before importing it.
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
    """Keep the code that XLA compiles for the CPU, once this process imports TensorFlow.

    The code goes into the folder `bytenet-xla` in the user's cache folder, or in the folder that the environment
    variable `BYTENET_COMPILE_CACHE` names. With the value 0 or off, nothing is kept. A folder in `TF_XLA_FLAGS` comes
    first.

    Returns:
        The folder, or None if nothing is kept or the folder cannot be used.
    """
    setting = os.environ.get("BYTENET_COMPILE_CACHE", "")
    setting = "" if setting.lower() in _ON else setting
    flags = os.environ.get("TF_XLA_FLAGS", "")
    if setting.lower() in _OFF or _FLAG in flags:
        return None
    try:
        root = (Path(setting).absolute() if setting else _user_cache()) / _SUBFOLDER
        folder = root / _machine()
        folder.mkdir(parents=True, exist_ok=True)
        _remove_oldest(root, _MOST_BYTES)
    except (OSError, RuntimeError):  # no home, a read-only home or a full disk: everything works, only slower
        return None
    # TensorFlow splits its flags at spaces.
    if not os.access(folder, os.W_OK) or " " in str(folder):
        return None
    cache = f"{_FLAG}directory={folder} {_FLAG}device_types=CPU,XLA_CPU_JIT"
    os.environ["TF_XLA_FLAGS"] = f"{flags} {cache}".strip()
    return folder


def turn_off() -> None:
    """Keep nothing, even if `turn_on` or the user chose a folder.

    Call it before measuring compilation, or before reading the names of operations, which the cache drops.
    """
    if "TF_XLA_FLAGS" in os.environ:
        os.environ["TF_XLA_FLAGS"] = flags_without_cache(os.environ["TF_XLA_FLAGS"])


def flags_without_cache(flags: str) -> str:
    """A value of `TF_XLA_FLAGS` without the flags that `turn_on` adds."""
    return " ".join(flag for flag in flags.split() if not flag.startswith(_FLAG))


def _user_cache() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")


def _machine() -> str:
    """A name for everything that compiled code depends on: TensorFlow's version and the processor's abilities."""
    try:
        tensorflow = version("tensorflow")
    except PackageNotFoundError:  # TensorFlow is installed under another name
        tensorflow = "tensorflow"
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").split("\n")
    except OSError:
        lines = []
    abilities = next((line for line in lines if line.startswith(("flags", "Features"))), platform.processor())
    return f"{tensorflow}-{hashlib.sha256(abilities.encode()).hexdigest()[:12]}"


def _remove_oldest(root: Path, most_bytes: int) -> None:
    """Delete XLA's files, those that were not used for the longest time first, until they take at most `most_bytes`."""
    files = []
    for path in root.rglob(_FILES):
        try:
            files.append((path, path.stat()))
        except FileNotFoundError:  # another process has just deleted it
            continue
    total = sum(status.st_size for _, status in files)
    for path, status in sorted(files, key=lambda file: max(file[1].st_atime, file[1].st_mtime)):
        if total <= most_bytes:
            return
        path.unlink(missing_ok=True)
        total -= status.st_size
