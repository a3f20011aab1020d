"""Texts as sentences and what lies between them."""

import logging
import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from importlib.util import find_spec
from itertools import accumulate, pairwise
from typing import NamedTuple

from bytenet.errors import InputError
from bytenet.lite.characters import REPLACEMENT
from bytenet.lite.languages import WITHOUT_BLANKS, base_language
from bytenet.lite.white_space import is_blank

_log = logging.getLogger(__name__)

# The full-width marks of Chinese and Japanese have no blank after them.
_CLAUSE_END = re.compile(r"[,;:–—)](?=\s)|[，、；：）]")
_WORD_END = re.compile(r"\S(?=\s)")
_BLANK_OUTSIDE_ASCII = re.compile(r"[^\S\x00-\x7f]")
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_MOST_MARKS = 16  # on a letter that are kept together with it; no language has more


class Piece(NamedTuple):
    """A part of a text.

    Attributes:
        text: a sentence without blanks around it; or what lies between sentences: blanks and line ends.
        is_sentence: whether it is a sentence.
    """

    text: str
    is_sentence: bool


def splits_lines(wish: bool | None, n_best: int) -> bool:
    """Whether a translator splits lines into sentences.

    Without a wish, it does so where `bytenet translate` does: if each line has one translation. If the library
    sentencex is not installed, it leaves lines whole, and a warning says so once.

    Args:
        wish: what the user says; None for nothing.
        n_best: largest number of hypotheses for each line.

    Raises:
        ValueError: the user wishes both several hypotheses for each line and sentences.
    """
    if wish and n_best > 1:
        raise ValueError(
            f"n_best is {n_best}, but a line that is split into sentences has one translation. Leave out n_best or "
            "split_sentences."
        )
    if wish is None:
        return n_best == 1 and _can_split()
    return wish


@cache
def _can_split() -> bool:
    """Whether sentencex is installed. If not, the first call logs a warning."""
    if find_spec("sentencex") is not None:
        return True
    _log.warning(
        "Lines are translated whole, because the library sentencex is not installed. To translate them sentence by "
        "sentence, run: pip install sentencex. If each line is one sentence, --no-split or split_sentences=False turns "
        "this message off."
    )
    return False


def max_sentence_chars(max_length: int, longest: int | None) -> int:
    """Largest number of characters of a sentence for a model, at least 1: the training had no longer sentences.

    Args:
        max_length: most characters of a sentence of the training.
        longest: largest number of symbols that the model reads, with the end symbol; None for no limit.
    """
    return max_length if longest is None else max(min(max_length, longest - 1), 1)


def split_text(text: str, language: str, max_chars: int | None = None, into_sentences: bool = True) -> list[Piece]:
    """Split a text into sentences. No sentence has a line end.

    The sentences of a line end where the rules of its language say so. A sentence of more than `max_chars` characters
    is split at the end of a clause if it can be, else between words, else anywhere.

    Args:
        text: any text. The texts of the pieces, one after the other, are this text in Unicode's form NFC, which models
            read. In another form, it would have more characters.
        language: code of the language, such as "de". Its region is ignored. A language that sentencex does not know is
            split by the rules of English.
        max_chars: largest number of characters of a sentence, at least 1; None for no limit.
        into_sentences: False leaves each line whole, up to `max_chars`.

    Raises:
        InputError: the library sentencex is not installed, but `into_sentences` needs it.
    """
    pieces = []
    for number, line in enumerate(unicodedata.normalize("NFC", text).split("\n")):
        if number:
            pieces.append(Piece("\n", False))
        for sentence in _sentences(line, language) if into_sentences else [line]:
            for part in _limited(sentence, max_chars):
                pieces += _without_blanks(part)
    return pieces


def join_pieces(pieces: Sequence[Piece], translations: Iterable[str], languages: tuple[str, str]) -> str:
    """The text of translated sentences with what lies between them, see `adapt_gaps`.

    Args:
        pieces: the result of `split_text`.
        translations: one for each piece that is a sentence, in their order.
        languages: codes of the languages of the text and of the translations.
    """
    translated = iter(translations)
    return "".join(next(translated) if piece.is_sentence else piece.text for piece in adapt_gaps(pieces, languages))


def adapt_gaps(pieces: Sequence[Piece], languages: tuple[str, str]) -> Iterator[Piece]:
    """The pieces of a text with the gaps that its translation has.

    Chinese and Japanese write no blank between sentences. If only one of the two languages is such a language, blanks
    between sentences are added or left out.

    Args:
        pieces: the result of `split_text`.
        languages: codes of the languages of the text and of the translation.
    """
    source, target = (base_language(code) in WITHOUT_BLANKS for code in languages)
    blank = Piece(" ", False)
    for left, piece, right in zip([None, *pieces], pieces, [*pieces[1:], None], strict=False):
        follows_sentence = left is not None and left.is_sentence
        if source and not target and follows_sentence and piece.is_sentence:
            yield blank
        is_between = follows_sentence and right is not None and right.is_sentence
        if not (target and not source and is_between and piece == blank):
            yield piece


def _sentences(line: str, language: str) -> list[str]:
    """The sentences of a line, each with the blanks after it. One after the other, they are the line."""
    try:
        import sentencex
    except ImportError as error:
        raise InputError(
            f"Splitting lines into sentences needs the library sentencex ({error}). Install it: pip install sentencex."
        ) from error
    try:
        # sentencex fails for halves of surrogate pairs, and for some blanks outside ASCII: for "A\u00a0." but not for
        # "A .". What it gets has the same length.
        readable = _SURROGATE.sub(REPLACEMENT, _BLANK_OUTSIDE_ASCII.sub(" ", line))
        sentences = sentencex.segment(base_language(language), readable)
    except BaseException as error:
        # A failure of its Rust code is no Exception, and its class cannot be imported. The text is not lost for it.
        if type(error).__name__ != "PanicException":
            raise
        return [line]
    ends = accumulate(map(len, sentences), initial=0)
    return [line[start:end] for start, end in pairwise(ends)]


def _limited(sentence: str, max_chars: int | None) -> Iterator[str]:
    """Parts of a sentence that have at most `max_chars` characters, blanks at the ends not counted."""
    while max_chars is not None and len(sentence.strip()) > max_chars:
        blanks = len(sentence) - len(sentence.lstrip())
        longest = blanks + max_chars
        # The end of a clause in the first half would leave a part that is much shorter than it could be.
        clauses = _CLAUSE_END.finditer(sentence, blanks + max_chars // 2 - 1, longest + 1)
        words = _WORD_END.finditer(sentence, blanks, longest + 1)
        ends = _ends(clauses, longest) or _ends(words, longest)
        if ends:
            end = ends[-1]
        else:
            end = longest
            while end > max(longest - _MOST_MARKS, blanks + 1) and unicodedata.combining(sentence[end]):
                end -= 1  # a mark stays with its letter
        yield sentence[:end]
        sentence = sentence[end:]
    yield sentence


def _ends(matches: Iterable[re.Match[str]], longest: int) -> list[int]:
    return [match.end() for match in matches if match.end() <= longest]


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
