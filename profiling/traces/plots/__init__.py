"""Two pictures of a trace: the operations of one step on their threads, and an average step by groups."""

from bytenet.profiling.traces.plots.grouped_bars import KnownStep, draw_grouped, plot_grouped
from bytenet.profiling.traces.plots.step_timeline import Span, Timeline, draw_timeline, plot_timeline, timeline

__all__ = [
    "KnownStep",
    "Span",
    "Timeline",
    "draw_grouped",
    "draw_timeline",
    "plot_grouped",
    "plot_timeline",
    "timeline",
]
