"""What `bytenet data` tells of a corpus before anything is trained on it."""

import unicodedata
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from bytenet.datasets.batches.bucketing import pair_lengths, plan_from_config
from bytenet.datasets.batches.plan import BatchPlan
from bytenet.datasets.corpora import read_corpus, select_training_pairs
from bytenet.datasets.parallel import Pairs
from bytenet.datasets.selection import select_monolingual
from bytenet.datasets.text.characters import character_counts, comparable, is_blank
from bytenet.datasets.text.vocabulary import REPLACEMENT, Vocabulary

# A character is rare when it occurs less often than this in the training pairs.
RARE_BELOW = 10
# Pairs whose longer side is at least this long, and this many times the shorter, are suspicious.
RATIO_MIN_CHARS = 20
RATIO_LIMIT = 3.0
_SHOWN_PAIRS = 5
_MAX_BARS = 20
_ODD_CATEGORIES = ("C", "M", "Zl", "Zp")


@dataclass(frozen=True)
class CharacterCount:
    """A character of the training pairs.

    Attributes:
        character: itself.
        code_point: `U+00E4`.
        name: Unicode's name, or its category where it has none.
        count: how often it occurs.
        rare: less often than `RARE_BELOW`.
        odd: a control or format character, unassigned, a lone combining mark, a blank other than the space,
            or U+FFFD, the mark of broken text.
    """

    character: str
    code_point: str
    name: str
    count: int
    rare: bool
    odd: bool


@dataclass(frozen=True)
class SuspiciousPairs:
    """Training pairs that may be no translations of each other.

    Attributes:
        reason: what is suspicious.
        count: how many pairs.
        examples: the first of them: line number among all training pairs (from 1), source, target.
    """

    reason: str
    count: int
    examples: tuple[tuple[int, str, str], ...]


@dataclass(frozen=True)
class SideLengths:
    """Characters of one side's sentences, end symbol not counted."""

    shortest: int
    median: float
    mean: float
    longest: int


@dataclass(frozen=True)
class MonolingualReport:
    """Text of one side without translations.

    Attributes:
        read: number of sentences.
        used: number of those that a training would learn from, `num_monolingual` at most.
        outside_limits: number of those left out for their length.
        unknown_characters: number of those left out for characters that are not in the vocabulary.
        lengths: of those used; None where there are none.
        held_out: by split, how many of its sentences of this side are among those used.
    """

    read: int
    used: int
    outside_limits: int
    unknown_characters: int
    lengths: SideLengths | None
    held_out: dict[str, int]


@dataclass(frozen=True, eq=False)
class CorpusReport:
    """All numbers of the report.

    Attributes:
        name: of the corpus.
        source_language: its code.
        target_language: its code.
        pairs: number of pairs of each split, None where there is none; "read" counts the training pairs
            before the limits on length and number.
        source_lengths: of the training sources, within the limits.
        target_lengths: of the training targets.
        length_histogram: (shortest, longest, pairs) of each bar: pair lengths, end symbol counted.
        plan: the batches of an epoch.
        vocabulary_size: ids, the special ones counted.
        alphabet: characters of the training pairs, the most frequent first.
        unseen: per held-out split, characters that are not in the vocabulary and how often they occur there.
        suspicious: one entry a reason, also where the count is 0; all training pairs read are looked at.
        monolingual: of "source" and "target", the sides that have text without translations.
    """

    name: str
    source_language: str
    target_language: str
    pairs: dict[str, int | None]
    source_lengths: SideLengths
    target_lengths: SideLengths
    length_histogram: tuple[tuple[int, int, int], ...]
    plan: BatchPlan
    vocabulary_size: int
    alphabet: tuple[CharacterCount, ...]
    unseen: dict[str, dict[str, int]]
    suspicious: tuple[SuspiciousPairs, ...]
    monolingual: dict[str, MonolingualReport]

    @classmethod
    def from_config(cls, config: Any) -> "CorpusReport":
        """Read the corpus of a `DataConfig` and count.

        Raises:
            InputError: the corpus cannot be had or used.
        """
        corpus = read_corpus(config)
        train = select_training_pairs(corpus.train, config)
        vocabulary = Vocabulary.from_pairs(train, config)
        if vocabulary.unknown == "error":  # unknown characters shall be counted here, not refused
            vocabulary = Vocabulary(vocabulary.characters, "symbol")
        lengths = pair_lengths(train, vocabulary)
        held_out = {"validation": corpus.validation, "test": corpus.test}
        return cls(
            name=corpus.name,
            source_language=corpus.source_language,
            target_language=corpus.target_language,
            pairs={
                "read": len(corpus.train),
                "train": len(train),
                **{split: None if pairs is None else len(pairs) for split, pairs in held_out.items()},
            },
            source_lengths=_side_lengths(train.source),
            target_lengths=_side_lengths(train.target),
            length_histogram=length_bars(lengths),
            plan=plan_from_config(lengths, config),
            vocabulary_size=vocabulary.size,
            alphabet=count_characters(train),
            unseen={
                split: _unseen_characters(pairs, vocabulary) for split, pairs in held_out.items() if pairs is not None
            },
            suspicious=find_suspicious(corpus.train),
            monolingual={
                side: _monolingual(
                    texts,
                    config,
                    vocabulary,
                    {split: getattr(pairs, side) for split, pairs in held_out.items() if pairs is not None},
                )
                for side in ("source", "target")
                if (texts := getattr(corpus, f"monolingual_{side}"))
            },
        )

    def to_dict(self) -> dict[str, Any]:
        """The report as plain dictionaries, lists, numbers and strings."""
        sides = {"source": asdict(self.source_lengths), "target": asdict(self.target_lengths)}
        bars = [{"shortest": low, "longest": high, "pairs": count} for low, high, count in self.length_histogram]
        return {
            "name": self.name,
            "source_language": self.source_language,
            "target_language": self.target_language,
            "pairs": self.pairs,
            "lengths": {**sides, "histogram": bars},
            "batches": {
                "buckets": [asdict(bucket) for bucket in self.plan.buckets],
                "num_batches": self.plan.num_batches,
                "padding_share": self.plan.padding_share,
            },
            "vocabulary_size": self.vocabulary_size,
            "alphabet": [asdict(character) for character in self.alphabet],
            "unseen": self.unseen,
            "suspicious": [
                {
                    "reason": found.reason,
                    "count": found.count,
                    "examples": [
                        {"line": line, "source": source, "target": target} for line, source, target in found.examples
                    ],
                }
                for found in self.suspicious
            ],
            "monolingual": {side: asdict(text) for side, text in self.monolingual.items()},
        }


def length_bars(lengths: np.ndarray) -> tuple[tuple[int, int, int], ...]:
    """A histogram of at most 20 equally wide bars from the shortest to the longest.

    Args:
        lengths: int `(pairs,)`, at least one.

    Returns:
        (shortest, longest, pairs) of each bar; the counts sum up to the number of pairs.
    """
    low, high = int(lengths.min()), int(lengths.max())
    width = -(-(high - low + 1) // _MAX_BARS)
    counts = np.bincount((lengths - low) // width)
    starts = (low + width * bar for bar in range(len(counts)))
    return tuple((start, start + width - 1, int(count)) for start, count in zip(starts, counts, strict=True))


def count_characters(pairs: Pairs) -> tuple[CharacterCount, ...]:
    """The characters of both sides in NFC, the most frequent first."""
    counts = character_counts(pairs.source, pairs.target)
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return tuple(
        CharacterCount(
            character=character,
            code_point=f"U+{ord(character):04X}",
            name=unicodedata.name(character, f"(no name, category {unicodedata.category(character)})"),
            count=count,
            rare=count < RARE_BELOW,
            odd=is_odd(character),
        )
        for character, count in ordered
    )


def is_odd(character: str) -> bool:
    """Whether a character seldom belongs in a sentence; see `CharacterCount`."""
    category = unicodedata.category(character)
    other_blank = category == "Zs" and character != " "
    return category.startswith(_ODD_CATEGORIES) or other_blank or character == REPLACEMENT


def find_suspicious(pairs: Pairs) -> tuple[SuspiciousPairs, ...]:
    """The pairs with an empty side, with equal sides, and with sides of very unequal length.

    A pair is named under the first of these reasons only. Sides without a visible character are empty, and decomposed
    characters equal composed ones.
    """
    ratio_reason = f"one side {RATIO_LIMIT:g} times as long as the other, or more"
    found: dict[str, list[int]] = {"a side is empty": [], "both sides are equal": [], ratio_reason: []}
    for index, (source, target) in enumerate(zip(pairs.source, pairs.target, strict=True)):
        shorter, longer = sorted((len(source.strip()), len(target.strip())))
        if is_blank(source) or is_blank(target):
            found["a side is empty"].append(index)
        elif source == target:
            found["both sides are equal"].append(index)
        elif longer >= RATIO_MIN_CHARS and longer >= RATIO_LIMIT * shorter:
            found[ratio_reason].append(index)
    return tuple(
        SuspiciousPairs(
            reason,
            len(indices),
            tuple((index + 1, pairs.source[index], pairs.target[index]) for index in indices[:_SHOWN_PAIRS]),
        )
        for reason, indices in found.items()
    )


def _side_lengths(texts: list[str]) -> SideLengths:
    lengths = np.array([len(text) for text in texts])
    return SideLengths(int(lengths.min()), float(np.median(lengths)), float(lengths.mean()), int(lengths.max()))


def _monolingual(
    texts: list[str], config: Any, vocabulary: Vocabulary, held_out: dict[str, list[str]]
) -> MonolingualReport:
    selected = select_monolingual(texts, config, vocabulary)
    used = set(comparable(selected.texts))
    return MonolingualReport(
        read=len(texts),
        used=len(selected.texts),
        outside_limits=selected.outside_limits,
        unknown_characters=selected.unknown_characters,
        lengths=_side_lengths(selected.texts) if used else None,
        held_out={split: sum(line in used for line in comparable(lines)) for split, lines in held_out.items()},
    )


def _unseen_characters(pairs: Pairs, vocabulary: Vocabulary) -> dict[str, int]:
    known = set(vocabulary.characters)
    return {item.character: item.count for item in count_characters(pairs) if item.character not in known}
