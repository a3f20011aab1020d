"""New Python processes. They inherit no memory, and they end when the process that started them is killed."""

import os
import threading
from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context, parent_process
from multiprocessing.connection import wait

from bytenet.memory_allocator import keep_freed_memory


def new_process(environment: Mapping[str, str] | None = None) -> ProcessPoolExecutor:
    """A pool of one new interpreter, in which functions that can be pickled are called.

    It keeps freed memory, as the command `bytenet` does.

    Args:
        environment: variables that are set in it.
    """
    return ProcessPoolExecutor(1, mp_context=get_context("spawn"), initializer=_begin, initargs=(environment or {},))


def end_with_parent() -> None:
    """From now on, end this process when the one that started it by `multiprocessing` has ended.

    When a process is killed, those that it started go on running.
    """
    threading.Thread(target=_wait_for_parent, daemon=True).start()


def _begin(environment: Mapping[str, str]) -> None:
    os.environ.update(environment)
    keep_freed_memory()  # before any thread starts
    end_with_parent()


def _wait_for_parent() -> None:
    parent = parent_process()
    assert parent is not None
    wait([parent.sentinel])
    os._exit(1)
