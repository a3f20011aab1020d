"""How much of the monolingual text a training would use."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bytenet.datasets.corpus_report.sentence_lengths import SideLengths, side_lengths
from bytenet.datasets.selection import select_monolingual
from bytenet.datasets.text.characters import comparable
from bytenet.datasets.text.vocabulary import Vocabulary

if TYPE_CHECKING:
    from bytenet.config import DataConfig


@dataclass(frozen=True)
class MonolingualUse:
    """Monolingual text of one side.

    Attributes:
        read: number of sentences.
        used: number of sentences that a training would learn from, at most `num_monolingual`.
        outside_limits: number of sentences that are left out because of their length.
        unknown_characters: number of sentences that are left out because a character is not in the vocabulary.
        lengths: of the used sentences; None if there are none.
        held_out: by split, how many of its sentences of this side are among the used ones.
    """

    read: int
    used: int
    outside_limits: int
    unknown_characters: int
    lengths: SideLengths | None
    held_out: dict[str, int]


def monolingual_use(
    texts: Sequence[str], config: "DataConfig", vocabulary: Vocabulary, held_out: Mapping[str, Sequence[str]]
) -> MonolingualUse:
    """Count what a training would use of a text.

    Args:
        texts: all sentences.
        config: see `select_monolingual`.
        vocabulary: of the training pairs.
        held_out: by split, its sentences of the same side.
    """
    selected = select_monolingual(texts, config, vocabulary)
    used = set(comparable(selected.texts))
    return MonolingualUse(
        read=len(texts),
        used=len(selected.texts),
        outside_limits=selected.outside_limits,
        unknown_characters=selected.unknown_characters,
        lengths=side_lengths(selected.texts) if used else None,
        held_out={split: sum(line in used for line in comparable(lines)) for split, lines in held_out.items()},
    )
