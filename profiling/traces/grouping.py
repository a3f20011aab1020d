"""Where in the model an operation belongs: the four levels of groups of the thesis, read off its name.

| level | groups |
| --- | --- |
| 0 pass | forward, backward, optimiser, input, other |
| 1 half | encoder, decoder, other |
| 2 part | embedding, other, and those of the model's family (ByteNet: pre-normalization, reduce-dim, ...) |
| 3 kind | normalisation, activation, convolution, dense, optimiser, data movement, ... |

As in the thesis, the normalisation and activation that follow a map belong to that map's part (`reduce-dim` is map,
normalisation and activation), and pre-normalization is the first step of a block only.

Reference:
    Madsen 2017, section 3.3 and figure 3.3.6.
"""

import re
from collections.abc import Mapping
from functools import cache, lru_cache
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from bytenet.models.translation_model import ProfilePart

LEVELS = ("pass", "half", "part", "kind")

RUNTIME = "runtime"
"""Type of the pieces of time in which a thread schedules operations, or works for one that is not known.

Operations that TensorFlow takes for cheap are among them, above all in loops of a plain graph: its profiler leaves them
out, and in TensorFlow 2.21 no `ProfilerOptions` change that (`host_tracer_level` is not passed on).
"""
INPUT = "input"
"""Type of the pieces of time in which a thread of the input pipeline works."""


class Place(NamedTuple):
    """The group of an operation at each level; see the table above."""

    pass_: str
    half: str
    part: str
    kind: str


_REPLICA = re.compile(r"(?:^|/)replica_(\d+)(?=/|$)")
_UPDATE = re.compile(r"(?:^|/)update_(\d+)(?=/|$)")
# What executing a graph puts around and between the names of the layers.
_WRAPPER = re.compile(
    r"(StatefulPartitionedCall|PartitionedCall|while|body|cond|then|else|replica|update|jit\(.*\)|)(_\d+)*|_+\d+"
)
_NUMBERED = re.compile(r"(_\d+)+$")

_OPTIMISERS = {"adam", "adamw", "sgd", "rmsprop", "momentum", "optimizer", "optimiser", "Adam", "SGD", "RMSprop"}

_ACTIVATION = re.compile(r"_?(Mkl|Fused)?(Relu|Relu6|Selu|Elu|Gelu|LeakyRelu|Tanh|Sigmoid)(Grad)?$", re.IGNORECASE)
_CONVOLUTION = re.compile(r"Conv[123]D|^convolution", re.IGNORECASE)
_PRODUCT = re.compile(r"MatMul|Einsum|^dot$|BatchDot|gemm", re.IGNORECASE)
_GATHER = re.compile(r"Gather|UnsortedSegmentSum|ScatterNd|ResourceScatter|^gather|^scatter")
_COMMUNICATION = re.compile(
    r"^Collective|^Nccl|AllReduce|all-reduce|AllGather|^_?(Send|Recv|HostSend|HostRecv)$", re.IGNORECASE
)
_MOVEMENT = re.compile(
    r"^(Pad|PadV2|Slice|StridedSlice|StridedSliceGrad|Concat|ConcatV2|Split|SplitV|Transpose|Tile|Reshape|Squeeze|"
    r"ExpandDims|SpaceToBatchND|BatchToSpaceND|Pack|Unpack|Stack|BroadcastTo|Identity|Cast|Fill|Copy|Memcpy\w*|Memset|"
    r"_MklTranspose|_MklConcatV2|_MklSlice|ReadVariableOp|GatherNd|copy|transpose|reshape|pad|slice|dynamic-slice|"
    r"dynamic-update-slice|concatenate|broadcast|bitcast|copy-start|copy-done|convert|reverse)$",
    re.IGNORECASE,
)


@cache
def parts_of_layers() -> Mapping[str, "ProfilePart"]:
    """The parts of the layers of all families, and of the embeddings and the head, which all have."""
    from bytenet.models.registry import profile_parts
    from bytenet.models.translation_model import ProfilePart

    embeddings = dict.fromkeys(("source_embedding", "target_embedding"), ProfilePart("embedding"))
    return embeddings | dict.fromkeys(("head", "dense"), ProfilePart("other", "dense")) | profile_parts()


def replica_of(path: str) -> int:
    """Which copy of the model an operation of `tf.distribute` belongs to; 0 where the name does not say."""
    found = _REPLICA.search(path)
    return int(found.group(1)) if found else 0


def update_of(path: str) -> int:
    """Which copy of the model the optimiser updates with an operation, if there are copies; 0 where it does not say.

    Without copies, an older Keras numbers the variables so.
    """
    found = _UPDATE.search(path)
    return int(found.group(1)) if found else 0


@lru_cache(maxsize=100_000)
def place_of(path: str, kind: str) -> Place:
    """The place of an operation.

    Args:
        path: its name in the graph, `bytenet/encoder/set_0/block_3_dilation_8/pre_normalization/...`, with
            whatever executing the graph puts around it.
        kind: its type, `Conv2D`, or the opcode of an instruction of XLA; or `RUNTIME` or `INPUT`.
    """
    if kind == RUNTIME:
        return Place("other", "other", "other", "runtime")
    if kind == INPUT or kind.startswith(("Iterator", "MultiDeviceIterator")):
        return Place("input", "other", "other", "input pipeline")
    words = path.split("/")
    scopes = [_NUMBERED.sub("", word) for word in words if not _WRAPPER.fullmatch(word)]
    # Gradients that are written out (those of normalisation) have numbered tapes.
    is_backward = "gradient_tape" in scopes or words[0] == "gradients"
    scopes = [scope for scope in scopes if scope != "gradient_tape"]
    is_communication = bool(_COMMUNICATION.search(kind))
    if any(scope in _OPTIMISERS for scope in scopes):
        return Place("optimiser", "other", "other", "communication" if is_communication else "optimiser")
    parts = parts_of_layers()
    part = next((parts[scope].part for scope in reversed(scopes) if scope in parts), "other")
    half = next((scope for scope in scopes if scope in ("encoder", "decoder")), "other")
    if half == "other" and part not in ("other", "embedding"):
        half = "decoder"  # where a block is called by itself, it takes a step, and only the decoder has steps
    if kind == "AddN" and len(scopes) == 1:  # so TensorFlow adds up the gradients of a tensor used twice
        return Place("backward", "other", "other", "sum of gradients")
    pass_ = "backward" if is_backward else "forward" if len(scopes) > 1 else "other"
    return Place(pass_, half, part, "communication" if is_communication else _kind(scopes, kind))


def _kind(scopes: list[str], kind: str) -> str:
    if _ACTIVATION.match(kind):
        return "activation"
    if _CONVOLUTION.search(kind):
        return "convolution"
    if any("normalization" in scope for scope in scopes[:-1]):
        return "normalisation"
    if _PRODUCT.search(kind):
        return "dense"
    if "dropout" in scopes:
        return "dropout"
    if _GATHER.search(kind):
        return "gather"
    if _MOVEMENT.match(kind):
        return "data movement"
    parts = parts_of_layers()
    declared = next((parts[scope].kind for scope in scopes if scope in parts), "other")
    if declared != "other":
        return declared
    if "compile_loss" in scopes:
        return "loss"
    return "other"


def folded_name(path: str) -> str:
    """The name without what tells apart the blocks of a stack, so that equal operations of all blocks are one."""
    words = [_NUMBERED.sub("", word) for word in path.split("/") if word and not _WRAPPER.fullmatch(word)]
    folded = []
    for word in words:
        if re.fullmatch(r"set(_\d+)*", word):
            continue
        folded.append("block" if word.startswith("block_") else word)
    return "/".join(folded)
