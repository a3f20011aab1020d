"""`bytenet benchmark`: speed and memory on this machine. Each module is one benchmark."""

import click

from bytenet import compile_cache
from bytenet.cli.common.lazy_group import LazyGroup

_MEASURED = {
    "training": "Training step: rate, share of the machine's peak, time to compile.",
    "exchange": "Exchange of gradients between workers: time, and a model for many machines.",
    "semi-supervised": "Training step with monolingual text, compared with one on pairs only.",
    "decoding": "Search: milliseconds per character, by length, batch and beam.",
    "pipeline": "Input pipeline: pairs per second, and padding by bucketing method.",
    "sharding": "Corpora larger than memory: pairs per second and peak memory.",
    "startup": "Time from the command to the first training step.",
    "memory": "Peak memory of training.",
    "serving": "Requests to a translation server: rate, time, memory, right answers.",
}


@click.group(cls=LazyGroup, package=__name__, verbs=_MEASURED)
def benchmark() -> None:
    """Measure speed and memory on this machine.

    Every measurement is warmed up and repeated. The result is the median, with minimum and maximum. Cases of one
    benchmark take turns, so their ratios are more reliable than their times, which depend on the machine and its load.
    The compile cache is off, so that the time to compile is always the whole time.
    """
    # `bytenet` has turned the cache on. TensorFlow reads the environment only later, when it is imported.
    compile_cache.turn_off()
