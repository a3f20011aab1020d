"""New Python processes. They inherit no memory, and they end when the process that started them is killed."""

import os
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context, parent_process
from multiprocessing.connection import wait
from typing import TypeVar

from bytenet.memory_allocator import keep_freed_memory

_Result = TypeVar("_Result")


def new_process(environment: Mapping[str, str] | None = None) -> ProcessPoolExecutor:
    """A pool of one new interpreter, in which functions that can be pickled are called.

    It keeps freed memory, as the command `bytenet` does.

    Args:
        environment: variables that are set in it.
    """
    return ProcessPoolExecutor(1, mp_context=get_context("spawn"), initializer=_begin, initargs=(environment or {},))


def in_new_process(function: Callable[..., _Result], *arguments: object) -> _Result:
    """Call a function in a new interpreter, whose memory begins small.

    Args:
        function, arguments: can be pickled.

    Raises:
        BrokenProcessPool: the process was killed.
    """
    with new_process() as pool:
        return pool.submit(function, *arguments).result()


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
