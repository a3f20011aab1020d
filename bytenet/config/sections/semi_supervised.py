"""The section `semi_supervised`: training with monolingual text."""

from typing import Annotated, Literal, Self

from pydantic import model_validator

from bytenet.config.checks import Fixed, Name, NonNegative, NonNegativeFloat, Positive, checked


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
    # "marginal": the probability of translating there and back, summed over the beam (thesis). "back_translation": only
    # the probability of translating back, as in training on back-translated text. Text has no label smoothing.
    objective: Annotated[Literal["marginal", "back_translation"], Fixed()] = "marginal"
    # Hypotheses with the same text: each counts (thesis), or only the first.
    duplicates: Literal["keep", "merge"] = "keep"
    trained: Annotated[Literal["both", "forward", "backward"], Fixed()] = "both"  # the other translator does not change
    # Batch normalisation in the search: running statistics, or those of the batch (the thesis's code).
    batch_norm_statistics: Literal["moving", "batch"] = "moving"
    # The model that each translator starts from, named as in `training.start`. The run takes over its settings and its
    # vocabulary. Two starts must have the same.
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
