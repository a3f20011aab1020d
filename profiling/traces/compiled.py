"""What an instruction of a program compiled by XLA was made of.

XLA melts operations together and renames them, but notes with every instruction the name of the operation it comes
from, also inside a fusion. The compiled program lies in the trace beside the events.
"""

from collections import defaultdict
from dataclasses import dataclass
from math import prod
from typing import Any

# Cost nothing, or are computed again wherever they are needed.
_FREE = frozenset({"parameter", "constant", "tuple", "get-tuple-element", "bitcast", "iota", "after-all", "reshape"})
_STEPS_TO_A_NAME = 4


@dataclass(frozen=True)
class Source:
    """An operation of the model that an instruction computes, or a part of it.

    Attributes:
        path: name in the graph; "" where XLA noted none.
        kind: type of the operation, or the opcode of the instruction.
        weight: share of the instruction's elements, in (0, 1].
    """

    path: str
    kind: str
    weight: float


def instruction_sources(module: Any) -> dict[str, tuple[Source, ...]]:
    """The operations in each instruction of a compiled module.

    An instruction of a fusion weighs as much as it has elements, read or written: a stand-in for its share of the
    time, as fused elementwise work is bound by them. An instruction that XLA made up itself has no name and
    takes that of the instruction that uses its result (a part of a reduction: the reduction).

    Args:
        module: `HloModuleProto`, after optimisation.

    Returns:
        For the name of each instruction its sources, heaviest first.
    """
    computations = {computation.id: computation for computation in module.computations}
    callers = _callers(module)
    sources = {}
    for computation in module.computations:
        named = _names(computation, callers.get(computation.id, ""))
        for instruction in computation.instructions:
            fused = [computations[called] for called in instruction.called_computation_ids]
            weights: dict[tuple[str, str], float] = defaultdict(float)
            if instruction.opcode == "fusion":
                for inner in fused:
                    _add_weights(inner, computations, weights, fallback=named[instruction.id])
            if not weights:
                weights[named[instruction.id]] = 1.0
            total = sum(weights.values())
            sources[instruction.name] = tuple(
                sorted(
                    (Source(path, kind, weight / total) for (path, kind), weight in weights.items()),
                    key=lambda source: -source.weight,
                )
            )
    return sources


def _add_weights(computation, computations, weights: dict[tuple[str, str], float], fallback: tuple[str, str]) -> None:
    by_id = {instruction.id: instruction for instruction in computation.instructions}
    for instruction in computation.instructions:
        if instruction.opcode == "fusion":
            for called in instruction.called_computation_ids:
                _add_weights(computations[called], computations, weights, fallback)
        elif instruction.opcode not in _FREE and instruction.opcode != "broadcast":
            sizes = [_elements(instruction), *(_elements(by_id[operand]) for operand in instruction.operand_ids)]
            own = (instruction.metadata.op_name, _kind(instruction))
            weights[own if own[0] else fallback] += max(sizes)


def _elements(instruction) -> int:
    return prod(instruction.shape.dimensions)


def _kind(instruction) -> str:
    return instruction.metadata.op_type or instruction.opcode


def _callers(module) -> dict[int, str]:
    """For the id of a computation the name of the operation that calls it."""
    return {
        called: instruction.metadata.op_name
        for computation in module.computations
        for instruction in computation.instructions
        for called in instruction.called_computation_ids
    }


def _names(computation, caller: str) -> dict[int, tuple[str, str]]:
    """For the id of each instruction the name and the type of its operation, borrowed where it has none."""
    by_id = {instruction.id: instruction for instruction in computation.instructions}
    users = defaultdict(list)
    for instruction in computation.instructions:
        for operand in instruction.operand_ids:
            users[operand].append(instruction.id)

    def search(start: int, neighbours) -> str:
        front = [start]
        for _ in range(_STEPS_TO_A_NAME):
            front = [found for place in front for found in neighbours(place)]
            for place in front:
                # The end of the program uses everything, and says nothing of it.
                if by_id[place].metadata.op_name and by_id[place].opcode != "tuple":
                    return by_id[place].metadata.op_name
        return ""

    names = {}
    for instruction in computation.instructions:
        path = (
            instruction.metadata.op_name
            or search(instruction.id, lambda place: users[place])
            or search(instruction.id, lambda place: by_id[place].operand_ids)
            or caller
        )
        names[instruction.id] = (path, _kind(instruction))
    return names
