"""The place of an operation: its group at each of the four levels."""

from functools import cache, lru_cache
from typing import NamedTuple

from bytenet.profiling.traces.grouping.layer_parts import parts_of_layers
from bytenet.profiling.traces.grouping.operation_kinds import is_communication, kind_of
from bytenet.profiling.traces.grouping.operation_names import scopes_of

LEVELS = ("pass", "half", "part", "kind")

RUNTIME = "runtime"
"""Type of the time in which a thread schedules operations, or helps an operation that is not known.

This time includes operations that TensorFlow considers cheap, above all in loops of a plain graph. Its profiler does
not record them. No `ProfilerOptions` of TensorFlow 2.21 change that: `host_tracer_level` is not passed on.
"""
INPUT = "input"
"""Type of the time in which a thread of the input pipeline works."""

# Names of optimisers in traces of other programs.
_OTHER_OPTIMISERS = {"momentum", "optimizer", "optimiser", "Adam", "SGD", "RMSprop"}


class Place(NamedTuple):
    """The group of an operation at each level."""

    pass_: str
    half: str
    part: str
    kind: str


@lru_cache(maxsize=100_000)
def place_of(path: str, kind: str) -> Place:
    """The place of an operation.

    The normalisation and the activation after a layer belong to the layer's part, as in the thesis, if the model's
    family declares them so.

    Args:
        path: its name in the graph, `bytenet/encoder/set_0/block_3_dilation_8/pre_normalization/...`, with or
            without the scopes of calls and loops around it.
        kind: its type, such as "Conv2D", or the opcode of an instruction of XLA; or `RUNTIME` or `INPUT`.
    """
    if kind == RUNTIME:
        return Place("other", "other", "other", "runtime")
    if kind == INPUT or kind.startswith(("Iterator", "MultiDeviceIterator")):
        return Place("input", "other", "other", "input pipeline")
    scopes = scopes_of(path)
    # Gradients that are written out by hand, as those of normalisation, have tapes with numbers.
    is_backward = "gradient_tape" in scopes or path.partition("/")[0] == "gradients"
    scopes = [scope for scope in scopes if scope != "gradient_tape"]
    if not _optimisers().isdisjoint(scopes):
        return Place("optimiser", "other", "other", "communication" if is_communication(kind) else "optimiser")
    parts = parts_of_layers()
    part = next((parts[scope].part for scope in reversed(scopes) if scope in parts), "other")
    half = next((scope for scope in scopes if scope in ("encoder", "decoder")), "other")
    if half == "other" and part not in ("other", "embedding"):
        half = "decoder"  # a layer outside of both is called in a step of decoding, and only the decoder has steps
    if kind == "AddN" and len(scopes) == 1:  # TensorFlow's sum of the gradients of a tensor that is used twice
        return Place("backward", "other", "other", "sum of gradients")
    pass_ = "backward" if is_backward else "forward" if len(scopes) > 1 else "other"
    return Place(pass_, half, part, "communication" if is_communication(kind) else kind_of(scopes, kind))


@cache
def _optimisers() -> frozenset[str]:
    # Imported here, since it imports TensorFlow, and a profile can be drawn from a table without it.
    from bytenet.training.optimizers.choice import optimizer_scopes

    return optimizer_scopes() | _OTHER_OPTIMISERS
