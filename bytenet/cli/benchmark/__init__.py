"""`bytenet benchmark`: how fast things are on this machine; one module a thing that is measured."""

import click

from bytenet import compile_cache
from bytenet.cli.lazy_group import LazyGroup

_MEASURED = {
    "training": "The training step: rate, share of the machine's peak, time to compile.",
    "semi-supervised": "The training step with monolingual text, beside one on pairs only.",
    "decoding": "The search: milliseconds a character, by length, batch and beam.",
    "pipeline": "The input pipeline: pairs a second, and padding by way of bucketing.",
    "startup": "From the command to the first training step.",
    "memory": "The most memory that a training step needs.",
}


@click.group(
    cls=LazyGroup, package=__name__, verbs=_MEASURED, short_help="Measure how fast things are on this machine."
)
def benchmark() -> None:
    """Measure how fast things are on this machine.

    Every measurement is warmed up, repeated, and given as median, least and most; what is compared takes turns
    within one run. Ratios within one run mean more than times, which differ between machines and hours. What was
    compiled before is not used, so that compiling always takes its whole time.
    """
    # The command has just turned the cache on; TensorFlow will read the environment only when it is imported.
    compile_cache.turn_off()
