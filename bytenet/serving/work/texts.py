"""Translation of whole texts by the translating threads."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from bytenet.lite.sentences import Piece, join_pieces, split_text
from bytenet.serving.engines.engine import Candidate, Engine
from bytenet.serving.work.translating_threads import TranslatingThreads


@dataclass(frozen=True)
class TranslatedText:
    """A text in pieces, the candidates of each sentence, best first, and the languages of both."""

    pieces: list[Piece]
    candidates: list[list[Candidate]]
    languages: tuple[str, str]

    @property
    def best(self) -> str:
        """The text with the best translation of each sentence."""
        return self._of_rank(0)

    def alternatives(self, most: int) -> list[str]:
        """Up to `most` other translations of the text, best first.

        The first has the second-best translation of each sentence, the next one the third-best, and so on. A sentence
        with fewer candidates keeps its best one. Equal texts are left out.
        """
        num_ranks = max(map(len, self.candidates), default=1)
        texts = [self._of_rank(rank) for rank in range(num_ranks)]
        return list(dict.fromkeys(text for text in texts if text != texts[0]))[:most]

    def _of_rank(self, rank: int) -> str:
        ranked = (candidates[rank if rank < len(candidates) else 0].text for candidates in self.candidates)
        return join_pieces(self.pieces, ranked, self.languages)


async def translate_texts(
    threads: TranslatingThreads, engine: Engine, texts: Sequence[str], num_alternatives: int, into_sentences: bool
) -> list[TranslatedText]:
    """Translate texts, sentence by sentence.

    Args:
        threads: translate.
        engine: the engine for their languages.
        texts: any texts.
        num_alternatives: number of other translations that are needed.
        into_sentences: as for `split_text`.

    Returns:
        The translated texts, in their order.

    Raises:
        QueueFullError: too much waits already.
        InputError: a sentence cannot be translated.
    """
    pieces = [split_for(engine, text, into_sentences) for text in texts]
    sentences = [piece.text for text in pieces for piece in text if piece.is_sentence]
    future = threads.translate(engine, sentences, engine.max_candidates if num_alternatives else 1)
    candidates = await asyncio.wrap_future(future)
    of_sentence = iter(candidates)
    return [
        TranslatedText(text, [next(of_sentence) for piece in text if piece.is_sentence], engine.languages)
        for text in pieces
    ]


def split_for(engine: Engine, text: str, into_sentences: bool) -> list[Piece]:
    """Split a text into sentences that an engine can read."""
    return split_text(text, engine.languages[0], engine.max_sentence_chars, into_sentences)
