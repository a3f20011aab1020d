"""The sections of a configuration, without the model and the training: frozen dataclasses that check their values.

Every setting has its default here and nowhere else. If None stands for a computed value, a comment says which.
"""

from dataclasses import asdict
from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from bytenet.config.checks import (
    Character,
    Fixed,
    Name,
    NonNegative,
    NonNegativeFloat,
    Positive,
    PositiveFloat,
    Years,
    checked,
)


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
    # Text without translations, in the source language and in the target language.
    monolingual_source: Name | None = None
    monolingual_target: Name | None = None
    # Pairs of which a machine wrote one side, as `bytenet data back-translate` makes them. They are added to the
    # training pairs, with synthetic_tag in front of each source (null: no tag).
    synthetic_source: Name | None = None
    synthetic_target: Name | None = None
    synthetic_tag: Character | None = "⇄"
    pair_copies: Positive = 1  # how often each pair comes in an epoch, synthetic ones apart
    # Years of NewsTest, for corpora that consist of NewsTests or are evaluated on them.
    train_years: Years | None = None
    validation_years: Years | None = None
    test_years: Years | None = None
    # Sizes and seeds of generated corpora; None is the default of the corpus.
    num_train: Positive | None = None
    num_validation: Positive | None = None
    num_test: Positive | None = None
    # Most sentences without translations on each side; None means no sentences of generated corpora, all of others.
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
    # Sentences in a batch. If batch_chars is given, it replaces batch_size: most padded target characters in a batch.
    batch_size: Positive = 32
    batch_chars: Positive | None = None
    # Batches consist of pairs of similar length. "optimal": num_buckets buckets with the least padding (None: as many
    # as "histogram" makes). "histogram" (thesis): buckets of at least bucket_min_width lengths. "none": one bucket.
    bucketing: Literal["optimal", "histogram", "none"] = "optimal"
    num_buckets: Positive | None = None
    bucket_min_size: Positive | None = None  # fewest pairs in a bucket; None is two batches
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
        if self.min_length > self.max_length:
            raise ValueError(f"min_length {self.min_length} is more than max_length {self.max_length}")
        return self

    @model_validator(mode="after")
    def _check_files(self) -> Self:
        for split in ("train", "validation", "test"):
            source, target = f"{split}_source", f"{split}_target"
            keys = [key for key in (source, target) if getattr(self, key) is not None]
            readers = ("files",) if split == "train" else ("files", "shards")
            if keys and self.corpus not in readers:
                raise ValueError(
                    f"{keys[0]} is read only with corpus: {' or '.join(readers)}, but corpus is {self.corpus!r}. "
                    "Set data.corpus, or leave out the files"
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
                raise ValueError(f"train_shards is read only with corpus: shards, but corpus is {self.corpus!r}")
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


@checked
class SemiSupervisedConfig:
    """Two translators, forward (source to target) and backward, that train together on pairs and monolingual text.

    One translates a monolingual sentence, and the other learns to translate the result back, see
    `bytenet.training.tasks.translator_pair`. The text comes from `data.monolingual_source` and
    `data.monolingual_target`, or from the corpus. It is used if its weight is above 0 and if it teaches a translator
    that is trained. An epoch is one round of the pairs. Each text has its own pace.
    """

    enabled: Annotated[bool, Fixed()] = False
    # Weight of source text, which is translated into the target language and back (the thesis's lambda_2).
    source_weight: Annotated[NonNegativeFloat, Fixed(bool)] = 0.1
    # Weight of target text, which is translated into the source language and back (the thesis's lambda_1).
    target_weight: Annotated[NonNegativeFloat, Fixed(bool)] = 0.1
    ramp_steps: NonNegative = 0  # steps over which both weights grow from 0
    beam_size: Positive = 5  # hypotheses for each sentence of the text
    # "marginal": the probability of translating forth and back, summed over the beam (thesis). "back_translation": only
    # the probability of translating back, as in training on back-translated text. Text has no label smoothing.
    objective: Annotated[Literal["marginal", "back_translation"], Fixed()] = "marginal"
    # Hypotheses with the same text: each counts (thesis), or only the first.
    duplicates: Literal["keep", "merge"] = "keep"
    trained: Annotated[Literal["both", "forward", "backward"], Fixed()] = "both"  # the other translator stays as it is
    # Batch normalisation in the search: running statistics, or those of the batch (the thesis's code).
    batch_norm_statistics: Literal["moving", "batch"] = "moving"
    # The model that each translator starts from, named as in `training.start`. It must have the sizes of this run's
    # model, which both translators share, and the vocabulary of its pairs.
    start_forward: Name | None = None
    start_backward: Name | None = None
    # Both translators on every device; or forward on the first device and backward on the second (thesis).
    placement: Literal["replicated", "apart"] = "replicated"
    # Batches of monolingual text. The settings mean the same as in `data`. Without batch_size and batch_chars, the
    # batches are as large as those of the pairs. Padding, shuffling and limits of lengths are the settings of `data`.
    batch_size: Annotated[Positive | None, Fixed()] = None
    batch_chars: Annotated[Positive | None, Fixed()] = None
    bucketing: Annotated[Literal["optimal", "histogram", "none"], Fixed()] = "optimal"
    num_buckets: Annotated[Positive | None, Fixed()] = None
    bucket_min_size: Annotated[Positive | None, Fixed()] = None
    bucket_min_width: Annotated[Positive, Fixed()] = 10

    @property
    def parts(self) -> tuple[str, ...]:
        """Names of the run folders inside the run's folder, one for each translator beside the first."""
        return ("backward",) if self.enabled else ()

    @property
    def starts(self) -> dict[str, str | None]:
        """`start_forward` and `start_backward`, by direction."""
        return {"forward": self.start_forward, "backward": self.start_backward}

    @model_validator(mode="after")
    def _check_start(self) -> Self:
        frozen = {"forward": "backward", "backward": "forward"}.get(self.trained)
        if self.enabled and frozen and self.starts[frozen] is None:
            raise ValueError(
                f"trained: {self.trained} leaves the {frozen} translator unchanged, and without start_{frozen} it is "
                f"random; give the folder of a finished run as start_{frozen}"
            )
        return self


@checked
class EvaluationConfig:
    """Measurements during training: random batches at intervals, and the validation set after epochs."""

    # Time or steps between two measurements of a random validation batch; null for none.
    continuous_every_seconds: PositiveFloat | None = 60.0
    continuous_every_steps: Positive | None = None
    continuous_batch_size: Positive = 64  # also for the evaluation after epochs
    continuous_train: bool = False  # also random batches of the training pairs, as in the thesis's curves
    smoothing: Annotated[float, Field(gt=0, le=1)] = 0.1  # alpha of the exponentially weighted mean
    every_epochs: Positive = 1  # epochs between two evaluations of the validation set
    beam_size: Positive = 1  # of the search for translations of the validation set
    max_sentences: Positive | None = None  # only so many of its first sentences; None is all
    num_samples: NonNegative = 5  # sample translations in TensorBoard
    # Batch normalisation in these measurements: running statistics, or those of the batch (the thesis's code).
    batch_norm_statistics: Literal["moving", "batch"] = "moving"


@checked
class DecodingConfig:
    """The search for translations after training. Options of the commands override it."""

    beam_size: Positive = 10  # hypotheses that are kept; 1 is greedy search
    # Random translations of each line that are drawn instead of a search, see `bytenet.decoding.sampling`; 0 is the
    # search. They are ranked as the hypotheses of a beam.
    samples: NonNegative = 0
    temperature: PositiveFloat = 1.0  # of the samples: below 1, likely symbols are drawn more often
    top_k: NonNegative = 0  # samples have only the k likeliest symbols at each step; 0 is all
    # Samples have only the likeliest symbols at each step: as few as together have this probability.
    top_p: Annotated[float, Field(gt=0, le=1)] = 1.0
    seed: NonNegative = 1  # of the samples
    # Finished hypotheses are ranked by log-probability / divisor^length_penalty. The divisor is (5 + length) / 6
    # ("gnmt") or the length ("length").
    length_penalty: NonNegativeFloat = 0.6
    length_penalty_rule: Literal["gnmt", "length"] = "gnmt"
    # Added to the scores: coverage_penalty times the sum over the source symbols of log(min(attention, 1)). Needs a
    # model with attention.
    coverage_penalty: NonNegativeFloat = 0.0
    batch_size: Positive = 32  # lines that are translated at once
    # Limits of the number of symbols of a translation, with the end symbol.
    min_length: NonNegative = 0
    max_length: Positive | None = None
    # Replace an unknown symbol by the source character that it attends to most. Needs a model with attention.
    replace_unknown: bool = False
    # A model of the other direction: run folder, .bytenet file, or name of a pretrained model. Added to the scores of
    # the hypotheses: rerank_weight times log P(source | translation) / divisor^length_penalty.
    rerank_with: Name | None = None
    rerank_weight: NonNegativeFloat = 1.0
    # Minimum Bayes risk: rank the hypotheses by how much the others are like them, see
    # `bytenet.decoding.minimum_bayes_risk`. The model of rerank_with is then not used.
    mbr: bool = False

    @property
    def num_hypotheses(self) -> int:
        """The number of hypotheses of each line that are ranked."""
        return self.samples or self.beam_size

    @property
    def in_use(self) -> dict[str, Any]:
        """The settings that change translations: without those of a beam, samples or a ranking that is not."""
        unused = {"beam_size"} if self.samples else {"samples", "temperature", "top_k", "top_p", "seed"}
        if self.rerank_with is None or self.mbr:
            unused |= {"rerank_with", "rerank_weight"}
        if not self.mbr:
            unused.add("mbr")
        return {name: value for name, value in asdict(self).items() if name not in unused}

    @model_validator(mode="after")
    def _check_lengths(self) -> Self:
        if self.max_length is not None and self.min_length > self.max_length:
            raise ValueError(f"min_length {self.min_length} is more than max_length {self.max_length}")
        return self
