"""The memory of processes that is in RAM."""

import resource
import sys
from multiprocessing import active_children
from pathlib import Path


def resident_bytes() -> int:
    """Memory of this process that is in RAM now; its peak on systems that do not tell the present value."""
    return _status("VmRSS") or peak_resident_bytes()


def peak_resident_bytes() -> int:
    """Peak of this process's memory in RAM."""
    # On Linux a process inherits `ru_maxrss`, so the value may be the parent's.
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return _status("VmHWM") or (most if sys.platform == "darwin" else most * 1024)


def peak_of_children() -> int:
    """Peaks of the memory in RAM of the processes that `multiprocessing` started and that still run, added up."""
    return sum(_status("VmHWM", str(child.pid)) or 0 for child in active_children())


def _status(key: str, process: str = "self") -> int | None:
    """A size in bytes from Linux's status file of a process; None on other systems."""
    try:
        lines = Path(f"/proc/{process}/status").read_text(encoding="utf-8").split("\n")
    except OSError:
        return None
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith(f"{key}:")), None)
