"""The interface of everything that translates sentences for the server."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple, Protocol


class Candidate(NamedTuple):
    """One translation of a sentence.

    Attributes:
        text: the translation.
        score: candidates are ranked by it; larger is better.
    """

    text: str
    score: float


class Alignment(NamedTuple):
    """What the characters of a translation attend to.

    Attributes:
        source: the S symbols of the sentence, each as a text. A character that the model does not know is a symbol,
            too. The last one is the end symbol.
        target: the T symbols of the translation, in the same way.
        weights: T rows of S numbers, rounded to hundredths. Before that, a row sums to 1, or to less if the model
            attends to padding, too.
    """

    source: list[str]
    target: list[str]
    weights: list[list[float]]


class Engine(Protocol):
    """Translates sentences of one language into another. Several threads may call its methods.

    Attributes:
        languages: codes of the language that is read and of the language that is written.
        batch_sizes: numbers of sentences that are translated at once without padding, ascending. Other numbers up to
            the last one take as long as the next larger one.
        max_candidates: largest number of translations of a sentence.
        max_sentence_chars: longer sentences are split before they are translated.
        has_attention: whether `align` works.
        is_starting: whether a faster engine takes over soon.
    """

    languages: tuple[str, str]
    max_candidates: int
    max_sentence_chars: int

    # These may change while an engine starts.
    @property
    def batch_sizes(self) -> tuple[int, ...]: ...

    @property
    def has_attention(self) -> bool: ...

    @property
    def is_starting(self) -> bool: ...

    def warm_up(self) -> None:
        """Prepare for the first request, so that it does not wait. Called once, before the other methods."""

    def translate(self, sentences: Sequence[str], num_candidates: int) -> list[list[Candidate]]:
        """Translate sentences.

        Args:
            sentences: at most the last of `batch_sizes`. No sentence is blank or has a line end.
            num_candidates: 1 or `max_candidates`; a graph of its own is needed for each number.

        Returns:
            For each sentence at least one and at most `num_candidates` translations, best first.

        Raises:
            InputError: a sentence cannot be translated. The message is for the person who wrote it.
            ModelError: the model fails. The message is for the log.
        """

    def draft(self, sentence: str) -> Iterator[str]:
        """Write a quick translation in parts. It may differ from the result of `translate`.

        Args:
            sentence: as for `translate`.

        Yields:
            The next characters. Each part takes some milliseconds, so that other work fits between two parts. Nothing
            comes from an engine that cannot write in parts.

        Raises:
            InputError, ModelError: as for `translate`.
        """

    def align(self, sentence: str, translation: str) -> Alignment | None:
        """Compute what the characters of a translation attend to, for an engine with `has_attention`.

        None if the translation with its end symbol is longer than the model can read.
        """
