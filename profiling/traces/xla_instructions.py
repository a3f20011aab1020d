"""The operations of a model that each instruction of a program compiled by XLA computes.

XLA fuses operations and renames them. With every instruction, also inside a fusion, it keeps the name of the operation
that the instruction comes from. The trace holds the compiled program beside the events.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from math import prod
from typing import Any

# These cost nothing, or are computed again wherever they are needed.
_FREE = frozenset({"parameter", "constant", "tuple", "get-tuple-element", "bitcast", "iota", "after-all", "reshape"})
_STEPS_TO_A_NAME = 4

_NameAndKind = tuple[str, str]


@dataclass(frozen=True)
class Source:
    """An operation of the model that an instruction computes, in whole or in part.

    Attributes:
        path: name in the graph; "" if XLA kept none.
        kind: type of the operation, or the opcode of the instruction.
        weight: share of the instruction's elements, in (0, 1].
    """

    path: str
    kind: str
    weight: float


def instruction_sources(module: Any) -> dict[str, tuple[Source, ...]]:
    """The operations in each instruction of a compiled module.

    Inside a fusion, an instruction weighs as much as it has elements, read or written. This stands for its share of
    the time, since reading and writing limits fused elementwise work. An instruction that XLA added has no name. It
    takes the name of the instruction that uses its result: a part of a reduction takes the name of the reduction.

    Args:
        module: `HloModuleProto`, after optimisation.

    Returns:
        By the name of each instruction, its sources, heaviest first.
    """
    computations = {computation.id: computation for computation in module.computations}
    callers = _callers(module)
    sources = {}
    for computation in module.computations:
        names = _names(computation, callers.get(computation.id, ""))
        for instruction in computation.instructions:
            weights: dict[_NameAndKind, float] = defaultdict(float)
            if instruction.opcode == "fusion":
                for called in instruction.called_computation_ids:
                    _add_weights(computations[called], computations, weights, fallback=names[instruction.id])
            if not weights:
                weights[names[instruction.id]] = 1.0
            total = sum(weights.values())
            sources[instruction.name] = tuple(
                sorted(
                    (Source(path, kind, weight / total) for (path, kind), weight in weights.items()),
                    key=lambda source: -source.weight,
                )
            )
    return sources


def _add_weights(
    computation: Any, computations: Mapping[int, Any], weights: dict[_NameAndKind, float], fallback: _NameAndKind
) -> None:
    by_id = {instruction.id: instruction for instruction in computation.instructions}
    for instruction in computation.instructions:
        if instruction.opcode == "fusion":
            for called in instruction.called_computation_ids:
                _add_weights(computations[called], computations, weights, fallback)
        elif instruction.opcode not in _FREE and instruction.opcode != "broadcast":
            sizes = [_elements(instruction), *(_elements(by_id[operand]) for operand in instruction.operand_ids)]
            own = (instruction.metadata.op_name, _kind(instruction))
            weights[own if own[0] else fallback] += max(sizes)


def _elements(instruction: Any) -> int:
    return prod(instruction.shape.dimensions)


def _kind(instruction: Any) -> str:
    return instruction.metadata.op_type or instruction.opcode


def _callers(module: Any) -> dict[int, str]:
    """By the id of a computation, the name of the operation that calls it."""
    return {
        called: instruction.metadata.op_name
        for computation in module.computations
        for instruction in computation.instructions
        for called in instruction.called_computation_ids
    }


def _names(computation: Any, caller: str) -> dict[int, _NameAndKind]:
    """By the id of each instruction, name and type of its operation; a nameless one takes a neighbour's name."""
    by_id = {instruction.id: instruction for instruction in computation.instructions}
    users = defaultdict(list)
    for instruction in computation.instructions:
        for operand in instruction.operand_ids:
            users[operand].append(instruction.id)

    def nearest_name(start: int, neighbours: Callable[[int], Iterable[int]]) -> str:
        front = [start]
        for _ in range(_STEPS_TO_A_NAME):
            front = [neighbour for number in front for neighbour in neighbours(number)]
            for number in front:
                # The tuple at the end of a program uses every result, so its name says nothing about one of them.
                if by_id[number].metadata.op_name and by_id[number].opcode != "tuple":
                    return by_id[number].metadata.op_name
        return ""

    names = {}
    for instruction in computation.instructions:
        path = (
            instruction.metadata.op_name
            or nearest_name(instruction.id, lambda number: users[number])
            or nearest_name(instruction.id, lambda number: by_id[number].operand_ids)
            or caller
        )
        names[instruction.id] = (path, _kind(instruction))
    return names
