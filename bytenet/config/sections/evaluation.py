"""The section `evaluation`: measurements during training."""

from typing import Literal

from bytenet.config.checks import NonNegative, Positive, PositiveFloat, Share, checked


@checked
class EvaluationConfig:
    """Measurements during training: random batches at intervals, and the validation set after epochs or more often.

    A resumed run keeps those that its best score so far depends on, see `bytenet.config.resuming`.
    """

    # Time or steps between two measurements of a random validation batch; null for none.
    continuous_every_seconds: PositiveFloat | None = 60.0
    continuous_every_steps: Positive | None = None
    continuous_batch_size: Positive = 64  # also for evaluations of the validation set
    continuous_train: bool = False  # also random batches of the training pairs, as in the thesis's curves
    smoothing: Share = 0.1  # alpha of the exponentially weighted mean
    every_epochs: Positive = 1  # epochs between two evaluations of the validation set
    every_steps: Positive | None = None  # steps between further evaluations; null for none
    beam_size: Positive = 1  # of the search for translations of the validation set
    max_sentences: Positive | None = None  # validation pairs to measure, from the first; None is all
    num_samples: NonNegative = 5  # sample translations in TensorBoard
    # Batch normalisation in these measurements: running statistics, or those of the batch (the thesis's code).
    batch_norm_statistics: Literal["moving", "batch"] = "moving"
