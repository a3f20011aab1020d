"""New Python processes, whose memory begins small. They end when the process that started them is killed."""

import os
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context, parent_process
from multiprocessing.connection import wait

from bytenet.memory_allocator import keep_freed_memory


def new_process(environment: Mapping[str, str] | None = None, keeps_memory: bool = False) -> ProcessPoolExecutor:
    """A pool of one new interpreter, in which functions that can be pickled are called.

    Args:
        environment: variables that are set in it.
        keeps_memory: whether it keeps freed memory, as the command `bytenet` does.
    """
    initializers: list[Callable[[], object]] = [end_with_parent]
    if keeps_memory:
        initializers.append(keep_freed_memory)
    arguments = environment or {}, initializers
    return ProcessPoolExecutor(1, mp_context=get_context("spawn"), initializer=_begin, initargs=arguments)


def end_with_parent() -> None:
    """From now on, end this process when the one that started it by `multiprocessing` has ended.

    A killed process ends no others. They would go on with their work, or wait for more of it.
    """
    threading.Thread(target=_wait_for_parent, daemon=True).start()


def _begin(environment: Mapping[str, str], initializers: list[Callable[[], object]]) -> None:
    os.environ.update(environment)
    for initialize in initializers:
        initialize()


def _wait_for_parent() -> None:
    parent = parent_process()
    assert parent is not None
    wait([parent.sentinel])
    os._exit(1)
