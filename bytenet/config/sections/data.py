"""The section `data`: the corpus and its batches."""

from typing import Literal, Self

from pydantic import model_validator

from bytenet.config.checks import Character, Name, NonNegative, Positive, Years, check_length_limits, checked


@checked
class DataConfig:
    """The corpus, its vocabulary and its batches. Lengths are in characters, without the end symbol.

    Relative paths start at the working folder. They become absolute when the configuration is read.
    """

    # A name of the registry (`bytenet data --list`), "files" for the paths below, or "shards" for a folder that
    # `bytenet data shard` made, with the validation and test files below.
    corpus: Name = "numbers"
    source_language: Name = "de"
    target_language: Name = "en"
    reversed: bool = False  # the other direction: sources and targets change places, and so do the languages
    # Text files, plain or .gz, with one sentence per line. Line i of a source and line i of its target are a pair.
    train_source: Name | None = None
    train_target: Name | None = None
    train_shards: Name | None = None  # a folder that `bytenet data shard` made
    validation_source: Name | None = None
    validation_target: Name | None = None
    test_source: Name | None = None
    test_target: Name | None = None
    # Monolingual text, in the source language and in the target language.
    monolingual_source: Name | None = None
    monolingual_target: Name | None = None
    # Pairs of which a machine wrote one side, as `bytenet data back-translate` makes them. They are added to the
    # training pairs, with synthetic_tag in front of each source (null: no tag).
    synthetic_source: Name | None = None
    synthetic_target: Name | None = None
    synthetic_tag: Character | None = "⇄"
    pair_copies: Positive = 1  # how often each pair occurs in an epoch; synthetic pairs occur once
    # Years of NewsTest, for corpora that consist of NewsTests or are evaluated on them.
    train_years: Years | None = None
    validation_years: Years | None = None
    test_years: Years | None = None
    # Sizes and seeds of generated corpora; None is the default of the corpus.
    num_train: Positive | None = None
    num_validation: Positive | None = None
    num_test: Positive | None = None
    # Number of sentences of monolingual text on each side; None: none of generated corpora, all of other corpora.
    num_monolingual: Positive | None = None
    train_seed: NonNegative | None = None
    validation_seed: NonNegative | None = None
    test_seed: NonNegative | None = None
    monolingual_seed: NonNegative | None = None
    # Training pairs are left out unless min_length <= length <= max_length on both sides. The thesis's upper limit was
    # exclusive: its 500 is 499 here.
    max_train_pairs: Positive | None = None
    min_length: NonNegative = 1
    max_length: Positive = 500
    # Sentences in a batch. batch_chars replaces it if given: largest number of padded target characters in a batch.
    batch_size: Positive = 32
    batch_chars: Positive | None = None
    # Batches consist of pairs of similar length. "optimal": num_buckets buckets with the least padding (None: as many
    # as "histogram" makes). "histogram" (thesis): buckets of at least bucket_min_width lengths. "none": one bucket.
    bucketing: Literal["optimal", "histogram", "none"] = "optimal"
    num_buckets: Positive | None = None
    bucket_min_size: Positive | None = None  # smallest number of pairs in a bucket; None is two batches
    bucket_min_width: Positive = 10
    # Padded lengths are multiples of it, also for monolingual text. Runs on similar corpora then share the shapes that
    # XLA compiles. A model that does not mask padding (thesis) also learns from the added padding.
    pad_to_multiple_of: Positive = 1
    # "corpus": a new order of the whole corpus every epoch. "buffer" (thesis): the order of the file, through a random
    # buffer of shuffle_buffer pairs. "none": the order of the file. Except with "none", the first batch of a run is one
    # of the largest, so that a run that does not fit into memory fails at once.
    shuffle: Literal["corpus", "buffer", "none"] = "corpus"
    shuffle_buffer: Positive = 8192
    # A character that the training pairs do not have becomes the unknown symbol, nothing (thesis), or an error.
    unknown: Literal["symbol", "drop", "error"] = "symbol"
    min_character_count: Positive = 1  # characters that are rarer in the training pairs count as unknown, too

    @property
    def languages(self) -> tuple[str, str]:
        """The language that is read and the language that is written, with regard to `reversed`."""
        languages = self.source_language, self.target_language
        return languages[::-1] if self.reversed else languages

    @model_validator(mode="after")
    def _check_lengths(self) -> Self:
        check_length_limits(self.min_length, self.max_length)
        return self

    @model_validator(mode="after")
    def _check_files(self) -> Self:
        for split in ("train", "validation", "test"):
            source, target = f"{split}_source", f"{split}_target"
            keys = [key for key in (source, target) if getattr(self, key) is not None]
            readers = ("files",) if split == "train" else ("files", "shards")
            if keys and self.corpus not in readers:
                needed = " or ".join(readers)
                raise ValueError(
                    f"{keys[0]} needs corpus: {needed}, but corpus is {self.corpus!r}. Set data.corpus to {needed}, or "
                    f"leave out {' and '.join(keys)}"
                )
            if len(keys) == 1:
                raise ValueError(f"{keys[0]} is given without its other side; give both {source} and {target}")
        if self.corpus == "files" and self.train_source is None:
            raise ValueError("corpus: files needs train_source and train_target, the paths of two parallel files")
        if (self.synthetic_source is None) != (self.synthetic_target is None):
            raise ValueError("synthetic_source and synthetic_target belong together; give both or neither")
        return self

    @model_validator(mode="after")
    def _check_shards(self) -> Self:
        if self.corpus != "shards":
            if self.train_shards is not None:
                raise ValueError(
                    f"train_shards needs corpus: shards, but corpus is {self.corpus!r}. Set data.corpus to shards, or "
                    "leave out train_shards"
                )
            return self
        if self.train_shards is None:
            raise ValueError("corpus: shards needs train_shards, a folder that `bytenet data shard` made")
        for key, allowed in (
            ("shuffle", ("corpus",)), ("unknown", ("symbol", "error")), ("max_train_pairs", (None,)),
            ("synthetic_source", (None,)), ("pair_copies", (1,)),
        ):  # fmt: skip
            if (value := getattr(self, key)) not in allowed:
                values = " or ".join("null" if one is None else str(one) for one in allowed)
                raise ValueError(f"{key} is {value!r}, but with corpus: shards it must be {values}")
        return self
