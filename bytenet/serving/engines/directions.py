"""The engines of a server by the languages that they read and write."""

from collections import Counter
from collections.abc import Iterable, Sequence

from bytenet.errors import InputError
from bytenet.serving.engines.engine import Engine


def check_pairs_of_languages(pairs: Iterable[tuple[str, str]]) -> None:
    """Raise an InputError if two of the models have the same languages."""
    for pair, number in Counter(pairs).items():
        if number > 1:
            raise InputError(f"Two models translate {' to '.join(pair)}. Give one model for each pair of languages.")


class Directions:
    """Finds the engine for a pair of languages.

    Args:
        engines: at least one. No two of them have the same languages.

    Attributes:
        engines: by source and target language.

    Raises:
        InputError: two engines have the same languages.
    """

    def __init__(self, engines: Sequence[Engine]):
        check_pairs_of_languages(engine.languages for engine in engines)
        self.engines = {engine.languages: engine for engine in engines}

    @property
    def sources(self) -> list[str]:
        """The languages that are read, sorted."""
        return sorted({source for source, _ in self.engines})

    @property
    def languages(self) -> list[str]:
        """All languages that are read or written, sorted."""
        return sorted({language for pair in self.engines for language in pair})

    def targets(self, source: str) -> list[str]:
        """The languages that `source` is translated into, sorted."""
        return sorted(target for other, target in self.engines if other == source)

    def find(self, source: str, target: str) -> Engine:
        """The engine that translates `source` to `target`.

        Raises:
            InputError: there is none.
        """
        if (source, target) not in self.engines:
            pairs = ", ".join(f"{source} to {target}" for source, target in sorted(self.engines))
            raise InputError(f"{source[:20]!r} to {target[:20]!r} is not translated here. Choose one of: {pairs}.")
        return self.engines[source, target]
