"""Small and read-only file systems, in a namespace of mounts that ends with its process."""

import os
import subprocess
import sys
from pathlib import Path

_INSIDE = "BYTENET_CRASH_OWN_MOUNTS"


def enter() -> None:
    """Start this program again with mounts of its own, which needs root or user namespaces (`man unshare`)."""
    if os.environ.get(_INSIDE):
        return
    as_root = [] if os.geteuid() == 0 else ["--user", "--map-root-user"]
    assert __name__ != "__main__"
    module = sys.modules["__main__"].__spec__.name  # type: ignore[union-attr]
    command = ["unshare", "--mount", *as_root, sys.executable, "-m", module, *sys.argv[1:]]
    sys.exit(subprocess.run(command, env=os.environ | {_INSIDE: "1"}).returncode)


def mount(folder: Path, options: str) -> None:
    """Mount a file system in memory, for example with the options `size=64k` or `ro`."""
    folder.mkdir(parents=True, exist_ok=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)], check=True)


def change(folder: Path, options: str) -> None:
    """Change the options of a mounted file system."""
    subprocess.run(["mount", "-o", f"remount,{options}", str(folder)], check=True)


def unmount(folder: Path) -> None:
    """Take a file system away, even if files on it are still open."""
    subprocess.run(["umount", "--lazy", str(folder)], check=True)
