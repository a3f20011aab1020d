"""Messages about the characters of lines that a model does not know."""

from collections import deque
from collections.abc import Iterable
from typing import TYPE_CHECKING

from bytenet.cli.common.messages import say
from bytenet.lite.unknown_characters import UnknownCharacters

if TYPE_CHECKING:
    from bytenet.datasets import Vocabulary


def say_unknown(vocabulary: "Vocabulary", lines: Iterable[str]) -> None:
    """Name on stderr the characters of lines that a vocabulary does not have."""
    unknown = UnknownCharacters(vocabulary.known)
    deque(unknown.watch(lines), maxlen=0)
    if unknown.message:
        say(unknown.message)
