"""The C library's allocator, told to keep what it was given back.

A training step frees hundreds of megabytes at its end and takes them again at the next beginning. By default glibc
hands blocks that large back to the system, which has to map and clear every page anew: 87,000 page faults a step of
Multi30k's training with XLA, and a sixth of its time (docs/performance.md).
"""

import ctypes

_TRIM_THRESHOLD, _TOP_PAD, _MMAP_MAX = -1, -2, -4  # M_... of malloc.h
_DISABLED = -1
_PAD_BYTES = 256 << 20


def keep_freed_memory() -> bool:
    """Let this process keep freed memory for its next allocation, to its end.

    Its peak stays about the same; what it does not use between two peaks is no longer free for other processes.

    Returns:
        Whether that was possible; False, and nothing changed, where the C library is not glibc.
    """
    try:
        mallopt = ctypes.CDLL("libc.so.6").mallopt
    except (OSError, AttributeError):
        return False
    # Large blocks come from the heap too, and the heap does not shrink.
    settings = ((_MMAP_MAX, 0), (_TRIM_THRESHOLD, _DISABLED), (_TOP_PAD, _PAD_BYTES))
    accepted = [mallopt(setting, value) for setting, value in settings]
    return all(accepted)
