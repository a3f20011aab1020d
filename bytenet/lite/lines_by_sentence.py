"""Translates lines sentence by sentence."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator

from bytenet.lite.sentences import Piece, join_pieces, split_text
from bytenet.lite.translation import BLANK, Translation


class LinesBySentence:
    """Translates lines sentence by sentence, and puts each line together again.

    Args:
        languages: codes of the languages of the lines and of the translations.
        max_chars: as for `split_text`.

    Attributes:
        max_chars: as given.
        num_with_several: number of lines so far that had several sentences.
        num_with_long: number of lines so far with a sentence that was split because it has more than `max_chars`
            characters.
    """

    def __init__(self, languages: tuple[str, str], max_chars: int | None = None):
        self._languages = languages
        self.max_chars = max_chars
        self.num_with_several = 0
        self.num_with_long = 0

    def translate(
        self, lines: Iterable[str], translate: Callable[[Iterable[str]], Iterator[list[Translation]]]
    ) -> Iterator[list[Translation]]:
        """Translate lines in their order.

        Args:
            lines: any lines. No more of them are read than `translate` asks for.
            translate: gives the hypotheses of each sentence, best first.

        Yields:
            The translation of each line, made of the best ones of its sentences; its score and log-probability are
            sums. A blank line has an empty translation.

        Raises:
            InputError: as for `split_text`, or as `translate` does.
        """
        waiting: deque[list[Piece]] = deque()

        def sentences() -> Iterator[str]:
            for line in lines:
                pieces = split_text(line, self._languages[0], self.max_chars)
                self._count(line, pieces)
                waiting.append(pieces)
                # A blank line is a sentence here, so that its answer does not wait for the next line.
                yield from [piece.text for piece in pieces if piece.is_sentence] or [""]

        hypotheses = translate(sentences())
        for best, *_ in hypotheses:
            pieces = waiting.popleft()
            number = _num_sentences(pieces)
            if number == 0:
                yield [BLANK]
                continue
            texts, scores, log_probabilities, ended = zip(
                best, *(next(hypotheses)[0] for _ in range(number - 1)), strict=True
            )
            text = join_pieces(pieces, texts, self._languages)
            yield [Translation(text, sum(scores), sum(log_probabilities), all(ended))]

    def watch(self, lines: Iterable[str]) -> Iterator[str]:
        """Yield lines as they are, and count those that `translate` would split."""
        for line in lines:
            self._count(line, split_text(line, self._languages[0], self.max_chars))
            yield line

    def _count(self, line: str, pieces: list[Piece]) -> None:
        """Note why a line has several pieces that are sentences, if it has."""
        if (number := _num_sentences(pieces)) > 1:
            without_limit = _num_sentences(split_text(line, self._languages[0]))
            self.num_with_several += without_limit > 1
            self.num_with_long += number > without_limit


def _num_sentences(pieces: list[Piece]) -> int:
    return sum(piece.is_sentence for piece in pieces)
