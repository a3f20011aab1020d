"""The kind of an operation, level 3 of the groups: given by its type, or by the names of the layers around it."""

import re
from collections.abc import Sequence

from bytenet.profiling.traces.grouping.layer_parts import parts_of_layers

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
    r"_MklTranspose|_MklConcatV2|_MklSlice|ReadVariableOp|copy|transpose|reshape|pad|slice|dynamic-slice|"
    r"dynamic-update-slice|concatenate|broadcast|bitcast|copy-start|copy-done|convert|reverse)$",
    re.IGNORECASE,
)


def is_communication(operation_type: str) -> bool:
    """Whether operations of a type exchange data between devices."""
    return bool(_COMMUNICATION.search(operation_type))


def kind_of(scopes: Sequence[str], operation_type: str) -> str:
    """The kind of an operation of the model.

    Args:
        scopes: of its name, as `scopes_of` gives them.
        operation_type: such as "Conv2D", or the opcode of an instruction of XLA.
    """
    if _ACTIVATION.match(operation_type):
        return "activation"
    if _CONVOLUTION.search(operation_type):
        return "convolution"
    if any("normalization" in scope for scope in scopes[:-1]):
        return "normalisation"
    if _PRODUCT.search(operation_type):
        return "dense"
    if any(scope.endswith("dropout") for scope in scopes):
        return "dropout"
    if _GATHER.search(operation_type):
        return "gather"
    if _MOVEMENT.match(operation_type):
        return "data movement"
    parts = parts_of_layers()
    declared = next((parts[scope].kind for scope in scopes if scope in parts), "other")
    if declared != "other":
        return declared
    return "loss" if "compile_loss" in scopes else "other"
