"""All that is reported about a corpus."""

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from bytenet.datasets.batches.bucketing import plan_from_config
from bytenet.datasets.batches.lengths import pair_lengths
from bytenet.datasets.batches.plan import BatchPlan
from bytenet.datasets.corpus_report.alphabet import CharacterCount, count_characters, unseen_characters
from bytenet.datasets.corpus_report.monolingual_use import MonolingualUse, monolingual_use
from bytenet.datasets.corpus_report.sentence_lengths import SideLengths, length_bars, side_lengths
from bytenet.datasets.corpus_report.suspicious_pairs import SuspiciousPairs, find_suspicious
from bytenet.datasets.loading import read_corpus
from bytenet.datasets.parallel import Pairs
from bytenet.datasets.selection import training_pairs
from bytenet.datasets.text.characters import comparable
from bytenet.datasets.text.vocabulary import Vocabulary

if TYPE_CHECKING:
    from bytenet.config import DataConfig


@dataclass(frozen=True, eq=False)
class CorpusReport:
    """All numbers of the report.

    Attributes:
        name: of the corpus.
        source_language: its code.
        target_language: its code.
        num_read: number of training pairs before the limits on length and number.
        num_train: number of training pairs within the limits, without copies and synthetic pairs.
        pair_copies: how often each of them comes in an epoch.
        num_synthetic: number of synthetic pairs within the limits.
        synthetic_held_out: by split, how many of its pairs share a sentence with the synthetic pairs.
        train_held_out: by split, how many of its pairs are also among the training pairs that were read.
        num_held_out: number of pairs of "validation" and "test"; None if the corpus has no such split.
        source_lengths: of the training sources within the limits, also of synthetic pairs, with their tag.
        target_lengths: of the training targets within the limits, also of synthetic pairs.
        length_histogram: (shortest, longest, pairs) of each bar: pair lengths, end symbol counted.
        plan: the batches of an epoch.
        vocabulary_size: number of ids, the special ones counted.
        alphabet: the characters of the training pairs; the most frequent come first.
        unseen: per held-out split, the characters that are not in the vocabulary, with their counts.
        suspicious: one entry for each reason, also if its count is 0. All training pairs that were read are examined.
        suspicious_held_out: the same for the pairs of each held-out split.
        monolingual: by side ("source", "target"), the use of its monolingual text, if there is any.
    """

    name: str
    source_language: str
    target_language: str
    num_read: int
    num_train: int
    pair_copies: int
    num_synthetic: int
    synthetic_held_out: dict[str, int]
    train_held_out: dict[str, int]
    num_held_out: dict[str, int | None]
    source_lengths: SideLengths
    target_lengths: SideLengths
    length_histogram: tuple[tuple[int, int, int], ...]
    plan: BatchPlan
    vocabulary_size: int
    alphabet: tuple[CharacterCount, ...]
    unseen: dict[str, dict[str, int]]
    suspicious: tuple[SuspiciousPairs, ...]
    suspicious_held_out: dict[str, tuple[SuspiciousPairs, ...]]
    monolingual: dict[str, MonolingualUse]

    @classmethod
    def from_config(cls, config: "DataConfig") -> "CorpusReport":
        """Read the corpus of a configuration and count.

        Raises:
            InputError: the corpus is missing or cannot be used.
        """
        corpus = read_corpus(config)
        selected = training_pairs(corpus, config)
        train = selected.once
        vocabulary = Vocabulary.from_pairs(train, config)
        if vocabulary.unknown == "error":  # here unknown characters are counted
            vocabulary = Vocabulary(vocabulary.characters, "symbol")
        lengths = pair_lengths(train, vocabulary)
        splits = {"validation": corpus.validation, "test": corpus.test}
        held_out = {split: pairs for split, pairs in splits.items() if pairs is not None}
        texts = {"source": corpus.monolingual_source, "target": corpus.monolingual_target}
        return cls(
            name=corpus.name,
            source_language=corpus.source_language,
            target_language=corpus.target_language,
            num_read=len(corpus.train),
            num_train=len(selected.real),
            pair_copies=selected.copies,
            num_synthetic=len(selected.synthetic),
            synthetic_held_out={split: _num_shared(corpus.synthetic, pairs) for split, pairs in held_out.items()},
            train_held_out={split: _num_equal(corpus.train, pairs) for split, pairs in held_out.items()},
            num_held_out={split: None if pairs is None else len(pairs) for split, pairs in splits.items()},
            source_lengths=side_lengths(train.source),
            target_lengths=side_lengths(train.target),
            length_histogram=length_bars(lengths),
            plan=plan_from_config(selected.in_epoch(lengths), config),
            vocabulary_size=vocabulary.size,
            alphabet=count_characters(train),
            unseen={split: unseen_characters(pairs, vocabulary) for split, pairs in held_out.items()},
            suspicious=find_suspicious(corpus.train),
            suspicious_held_out={split: find_suspicious(pairs) for split, pairs in held_out.items()},
            monolingual={
                side: monolingual_use(
                    lines, config, vocabulary, {split: getattr(pairs, side) for split, pairs in held_out.items()}
                )
                for side, lines in texts.items()
                if lines
            },
        )

    def to_dict(self) -> dict[str, Any]:
        """The report as dictionaries, lists, numbers and strings."""
        sides = {"source": asdict(self.source_lengths), "target": asdict(self.target_lengths)}
        bars = [{"shortest": low, "longest": high, "pairs": count} for low, high, count in self.length_histogram]
        return {
            "name": self.name,
            "source_language": self.source_language,
            "target_language": self.target_language,
            "pairs": {
                "read": self.num_read,
                "train": self.num_train,
                "copies": self.pair_copies,
                "synthetic": self.num_synthetic,
                **self.num_held_out,
            },
            "synthetic_held_out": self.synthetic_held_out,
            "train_held_out": self.train_held_out,
            "lengths": {**sides, "histogram": bars},
            "batches": {
                "buckets": [asdict(bucket) for bucket in self.plan.buckets],
                "num_batches": self.plan.num_batches,
                "padding_share": self.plan.padding_share,
            },
            "vocabulary_size": self.vocabulary_size,
            "alphabet": [asdict(character) for character in self.alphabet],
            "unseen": self.unseen,
            "suspicious": [entry.to_dict() for entry in self.suspicious],
            "suspicious_held_out": {
                split: [entry.to_dict() for entry in entries] for split, entries in self.suspicious_held_out.items()
            },
            "monolingual": {side: asdict(text) for side, text in self.monolingual.items()},
        }


def _num_equal(train: Pairs, held_out: Pairs) -> int:
    """The number of held-out pairs that are also training pairs, with both sides."""
    known = set(zip(comparable(train.source), comparable(train.target), strict=True))
    return sum(pair in known for pair in zip(comparable(held_out.source), comparable(held_out.target), strict=True))


def _num_shared(synthetic: Pairs | None, held_out: Pairs) -> int:
    """The number of held-out pairs of which a side is among the synthetic pairs."""
    if synthetic is None:
        return 0
    sources, targets = set(comparable(synthetic.source)), set(comparable(synthetic.target))
    pairs = zip(comparable(held_out.source), comparable(held_out.target), strict=True)
    return sum(source in sources or target in targets for source, target in pairs)
