"""Functions that several workers on this machine run together."""

from collections.abc import Callable
from contextlib import ExitStack
from typing import TypeVar

from bytenet.new_process import new_process
from bytenet.training.distribution.launcher import worker_environments

_T = TypeVar("_T")


def on_each_worker(workers: int, function: Callable[..., _T], *arguments: object) -> _T:
    """Call a function on each of some new processes, with `TF_CONFIG` set, and return what it returns on the chief.

    Args:
        workers: number of processes.
        function, arguments: can be pickled.

    Raises:
        InputError: there are too few GPUs.
    """
    with ExitStack() as stack:
        pools = [stack.enter_context(new_process(environment)) for environment in worker_environments(workers)]
        of_chief, *_ = [future.result() for future in [pool.submit(function, *arguments) for pool in pools]]
        return of_chief
