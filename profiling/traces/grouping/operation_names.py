"""Names of operations in a graph, without what TensorFlow and XLA put around the names of the layers."""

import re

_REPLICA = re.compile(r"(?:^|/)replica_(\d+)(?=/|$)")
_UPDATE = re.compile(r"(?:^|/)update_(\d+)(?=/|$)")
# Scopes of calls, loops, branches and replicas around and between the names of the layers.
_WRAPPER = re.compile(
    r"(StatefulPartitionedCall|PartitionedCall|while|body|cond|then|else|replica|update|jit\(.*\)|)(_\d+)*|_+\d+"
)
_NUMBERED = re.compile(r"(_\d+)+$")


def scopes_of(path: str) -> list[str]:
    """The scopes of an operation's name without wrappers and final numbers.

    Args:
        path: such as "StatefulPartitionedCall/bytenet_1/encoder_1/add_3".

    Returns:
        Such as ["bytenet", "encoder", "add"].
    """
    return [_NUMBERED.sub("", word) for word in path.split("/") if not _WRAPPER.fullmatch(word)]


def replica_of(path: str) -> int:
    """Number of the model's replica that an operation belongs to; 0 if its name has no such number."""
    match = _REPLICA.search(path)
    return int(match.group(1)) if match else 0


def update_of(path: str) -> int:
    """Number of the replica whose weights an optimiser's operation updates; 0 if its name has no such number.

    Without replicas the number may mean a variable: some versions of Keras number the variables in the same way.
    """
    match = _UPDATE.search(path)
    return int(match.group(1)) if match else 0


def folded_name(path: str) -> str:
    """The name of an operation without the numbers of blocks, so that equal operations of all blocks share it."""
    scopes = (scope for scope in scopes_of(path) if not re.fullmatch(r"set(_\d+)*", scope))
    return "/".join("block" if scope.startswith("block_") else scope for scope in scopes)
