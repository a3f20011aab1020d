"""Texts as sentences and what lies between them, so that a model of sentences can translate texts."""

import logging
import re
import unicodedata
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from importlib.util import find_spec
from itertools import accumulate, pairwise
from typing import NamedTuple

from bytenet.errors import InputError
from bytenet.lite.characters import REPLACEMENT, is_blank
from bytenet.lite.languages import WITHOUT_BLANKS, base_language
from bytenet.lite.translation import BLANK, Translation

_log = logging.getLogger(__name__)

# The full-width marks of Chinese and Japanese have no blank after them.
_CLAUSE_END = re.compile(r"[,;:–—)](?=\s)|[，、；：）]")
_WORD_END = re.compile(r"\S(?=\s)")
_BLANK_OUTSIDE_ASCII = re.compile(r"[^\S\x00-\x7f]")
_SURROGATE = re.compile(r"[\ud800-\udfff]")


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
    """Most characters of a sentence that a model translates well, at least 1: the training had no longer ones.

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
    """The text of translated sentences with what lies between them.

    Chinese and Japanese write no blank between sentences. If only one of the two languages is such a language, blanks
    between sentences are added or left out.

    Args:
        pieces: the result of `split_text`.
        translations: one for each piece that is a sentence, in their order.
        languages: codes of the languages of the text and of the translations.
    """
    translated = iter(translations)
    texts = [next(translated) if piece.is_sentence else piece.text for piece in pieces]
    source, target = (base_language(code) in WITHOUT_BLANKS for code in languages)
    if source and not target:
        for index, (left, right) in enumerate(pairwise(pieces)):
            if left.is_sentence and right.is_sentence:
                texts[index] += " "
    elif target and not source:
        for index, (left, middle, right) in enumerate(zip(pieces, pieces[1:], pieces[2:], strict=False), start=1):
            if left.is_sentence and middle == Piece(" ", False) and right.is_sentence:
                texts[index] = ""
    return "".join(texts)


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

    def _count(self, line: str, pieces: list[Piece]) -> None:
        """Note why a line has several pieces that are sentences, if it has."""
        if (number := _num_sentences(pieces)) > 1:
            without_limit = _num_sentences(split_text(line, self._languages[0]))
            self.num_with_several += without_limit > 1
            self.num_with_long += number > without_limit


def _num_sentences(pieces: list[Piece]) -> int:
    return sum(piece.is_sentence for piece in pieces)


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
            while end > blanks + 1 and unicodedata.combining(sentence[end]):
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
