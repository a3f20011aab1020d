"""The section `decoding`: the search for translations."""

from dataclasses import asdict
from typing import Any, Literal, Self

from pydantic import model_validator

from bytenet.config.checks import (
    Name,
    NonNegative,
    NonNegativeFloat,
    Positive,
    PositiveFloat,
    Share,
    check_length_limits,
    checked,
)


@checked
class DecodingConfig:
    """The search for translations after training. Options of the commands override it."""

    beam_size: Positive = 10  # hypotheses that are kept; 1 is greedy search
    # Random translations of each line that are drawn instead of a search; 0 is the search. They are ranked as the
    # hypotheses of a beam. See `bytenet.decoding.searches.sampling`.
    samples: NonNegative = 0
    temperature: PositiveFloat = 1.0  # of the samples: below 1, likely symbols are drawn more often
    top_k: NonNegative = 0  # samples have only the k likeliest symbols at each step; 0 is all
    # Samples are drawn only from the smallest set of likeliest symbols with this probability in all.
    top_p: Share = 1.0
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
    # Minimum Bayes risk: rank the hypotheses by their mean chrF, with each hypothesis as the reference, see
    # `bytenet.decoding.minimum_bayes_risk`. Then rerank_with and the penalties are not used.
    mbr: bool = False

    @property
    def num_hypotheses(self) -> int:
        """The number of hypotheses of each line that are ranked."""
        return self.samples or self.beam_size

    @property
    def effective_coverage_penalty(self) -> float:
        """The coverage penalty that ranks the hypotheses: none with minimum Bayes risk, which ranks them alone."""
        return 0.0 if self.mbr else self.coverage_penalty

    @property
    def in_use(self) -> dict[str, Any]:
        """The settings of the search and of the ranking. Leaves out those of a search or ranking that is off.

        The length penalty stays, because files of models need it.
        """
        unused = {"beam_size"} if self.samples else {"samples", "temperature", "top_k", "top_p", "seed"}
        if self.rerank_with is None or self.mbr:
            unused |= {"rerank_with", "rerank_weight"}
        unused.add("coverage_penalty" if self.mbr else "mbr")
        return {name: value for name, value in asdict(self).items() if name not in unused}

    @model_validator(mode="after")
    def _check(self) -> Self:
        check_length_limits(self.min_length, self.max_length)
        if self.mbr and self.num_hypotheses == 1:
            raise ValueError(
                "mbr needs several hypotheses: set --samples (decoding.samples) or --beam-size (decoding.beam_size) to "
                "2 or more, or turn mbr off (--no-mbr)"
            )
        return self
