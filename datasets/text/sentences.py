"""Texts as sentences and what lies between them, so that a model of sentences can translate texts."""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import sentencex

from bytenet.datasets.text.characters import is_blank

_CLAUSE_END = re.compile(r"[,;:–—)](?=\s)")
_WORD_END = re.compile(r"\S(?=\s)")


class Piece(NamedTuple):
    """A part of a text.

    Attributes:
        text: a sentence without blanks around it; or what lies between sentences: blanks and line ends.
        is_sentence: whether it is a sentence.
    """

    text: str
    is_sentence: bool


def split_text(text: str, language: str, max_chars: int | None = None, into_sentences: bool = True) -> list[Piece]:
    """Split a text into sentences. No sentence has a line end.

    The sentences of a line end where the rules of its language say so. A sentence of more than `max_chars` characters
    is split at the end of a clause if it can be, else between words, else anywhere.

    Args:
        text: any text. The texts of the pieces, one after the other, are this text.
        language: code of the language, such as "de". A language that sentencex does not know is split by the rules of
            English.
        max_chars: largest number of characters of a sentence; None for no limit.
        into_sentences: False leaves each line whole, up to `max_chars`.
    """
    pieces = []
    for number, line in enumerate(text.split("\n")):
        if number:
            pieces.append(Piece("\n", False))
        for sentence in sentencex.segment(language, line) if into_sentences else [line]:
            for part in _limited(sentence, max_chars):
                pieces += _without_blanks(part)
    return pieces


def join_pieces(pieces: Iterable[Piece], translations: Iterable[str]) -> str:
    """The text of translated sentences with what lies between them.

    Args:
        pieces: the result of `split_text`.
        translations: one for each piece that is a sentence, in their order.
    """
    translated = iter(translations)
    return "".join(next(translated) if piece.is_sentence else piece.text for piece in pieces)


def _limited(sentence: str, max_chars: int | None) -> Iterator[str]:
    """Parts of a sentence that have at most `max_chars` characters, blanks at the ends not counted."""
    while max_chars is not None and len(sentence.strip()) > max_chars:
        blanks = len(sentence) - len(sentence.lstrip())
        longest = blanks + max_chars
        # The end of a clause in the first half would leave a part that is much shorter than it could be.
        clauses = _CLAUSE_END.finditer(sentence, blanks + max_chars // 2 - 1, longest + 1)
        words = _WORD_END.finditer(sentence, blanks, longest + 1)
        ends = [found.end() for found in clauses] or [found.end() for found in words] or [longest]
        end = ends[-1]
        yield sentence[:end]
        sentence = sentence[end:]
    yield sentence


def _without_blanks(part: str) -> Iterator[Piece]:
    """The sentence in a part, and the blanks before and after it."""
    sentence = part.strip()
    if is_blank(sentence):
        if part:
            yield Piece(part, False)
        return
    start = part.index(sentence)
    for text, is_sentence in ((part[:start], False), (sentence, True), (part[start + len(sentence) :], False)):
        if text:
            yield Piece(text, is_sentence)
