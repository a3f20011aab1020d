"""Freed memory: kept in this process, or returned to the system, by the C library's allocator.

A training step frees hundreds of megabytes at its end, and the next step allocates them again. By default, glibc
returns such large blocks to the system, which then has to map and clear every page anew. For Multi30k with XLA, this
makes 87,000 page faults a step and takes a sixth of the time (docs/performance/training-step.md).

After `keep_freed_memory`, all threads share one heap. Otherwise each thread gets its own heap, which grows to 64 MB at
most, and glibc maps every larger block anew.

Work with arrays of many sizes leaves gaps in the heap that later arrays do not fit. Then the heap grows, although
little of it is in use. `return_freed_memory` returns the memory of the gaps (docs/large-corpora.md).
"""

import ctypes
from collections.abc import Callable

_TRIM_THRESHOLD, _TOP_PAD, _MMAP_MAX, _ARENA_MAX = -1, -2, -4, -8  # M_... of malloc.h
_DISABLED = -1
_PAD_BYTES = 256 << 20


def keep_freed_memory() -> bool:
    """Let this process keep freed memory for its next allocations, until it ends. Call it before other threads start.

    Its peak stays about the same. Between two peaks, other processes cannot use the memory.

    Returns:
        Whether it was possible. If the C library is not glibc, nothing changes, and the answer is False.
    """
    mallopt = _glibc_function("mallopt")
    if mallopt is None:
        return False
    # Allocate large blocks on the heap, too, never shrink the heap, and use it in all threads.
    settings = ((_MMAP_MAX, 0), (_TRIM_THRESHOLD, _DISABLED), (_TOP_PAD, _PAD_BYTES), (_ARENA_MAX, 1))
    accepted = [mallopt(setting, value) for setting, value in settings]
    return all(accepted)


def return_freed_memory() -> bool:
    """Return the free pages of the C library's heap to the system, also after `keep_freed_memory`.

    Python has memory of its own for small objects, which stays.

    Returns:
        Whether it was possible. If the C library is not glibc, nothing happens, and the answer is False.
    """
    malloc_trim = _glibc_function("malloc_trim")
    if malloc_trim is None:
        return False
    malloc_trim(0)
    return True


def _glibc_function(name: str) -> Callable[..., int] | None:
    """A function of glibc; None if the C library is another one."""
    try:
        return getattr(ctypes.CDLL("libc.so.6"), name)
    except (OSError, AttributeError):
        return None
