"""Graphs that are traced once for each shape."""

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

Graph = TypeVar("Graph")

# Two threads must not trace one model at the same time.
_TRACING = threading.RLock()


class GraphCache(Generic[Graph]):
    """Graphs by their shapes. Several threads may share it: one of them traces, and a known graph does not wait for it.

    Args:
        trace: makes the graph of a shape. Its arguments are those of the call.
    """

    def __init__(self, trace: Callable[..., Graph]):
        self._trace = trace
        self._graphs: dict[tuple[int, ...], Graph] = {}

    def __call__(self, *shape: int) -> Graph:
        """The graph of a shape. The first call traces it."""
        if shape not in self._graphs:
            with _TRACING:
                if shape not in self._graphs:
                    self._graphs[shape] = self._trace(*shape)
        return self._graphs[shape]
