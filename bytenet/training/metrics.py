"""The metrics of training steps and epochs."""

from abc import abstractmethod

import keras
from keras import ops

from bytenet.training.losses import sentence_cross_entropy

SCORES = ("val_loss", "val_bleu", "val_chrf", "val_misclassification")
"""The scores on the validation set."""

EPOCH_COLUMNS = (
    "epoch", "step", "seconds", "characters", "loss", "character_error", *SCORES, "learning_rate",
)  # fmt: skip
"""The measurements at an evaluation or at the end of an epoch, in the order of `metrics.csv`."""


def score_name(score: str, direction: str, is_first: bool) -> str:
    """The name of a translator's score among the measurements of the whole run.

    Args:
        score: of `SCORES`.
        direction: of the translator.
        is_first: whether it is the first translator of the run.
    """
    return score if is_first else f"val_{direction}_{score.removeprefix('val_')}"


def loss_name(direction: str, is_first: bool) -> str:
    """The name of a translator's training loss among the measurements of the whole run.

    Args:
        direction: of the translator.
        is_first: whether it is the first translator that learns.
    """
    return "loss" if is_first else f"{direction}_loss"


class _CharacterMean(keras.metrics.Metric):
    """The mean of a measurement over the real target characters of all sentences since the last reset.

    End symbols count. Sample weights are ignored, because id 0 marks padding.

    Args:
        name: of the metric.
        sum_name: of the variable that holds the sum of the measurements.
    """

    def __init__(self, name: str, sum_name: str, **kwargs):
        super().__init__(name=name, **kwargs)
        self._sum = self.add_variable((), initializer="zeros", name=sum_name)
        self._characters = self.add_variable((), initializer="zeros", name="total")

    @abstractmethod
    def measure(self, true_ids, logits):
        """The sum of the measurements over the real characters: int32 `(batch, length)` and float logits → a scalar."""

    def update_state(self, y_true, y_pred, sample_weight=None):
        """y_true: int32 `(batch, length)` ids; y_pred: float `(batch, length, vocab_size)` logits."""
        true_ids = ops.cast(y_true, "int32")
        self._sum.assign_add(self.measure(true_ids, y_pred))
        self._characters.assign_add(ops.sum(ops.cast(true_ids != 0, "float32")))

    def result(self):
        return ops.divide_no_nan(self._sum, self._characters)


@keras.saving.register_keras_serializable("bytenet")
class CharacterError(_CharacterMean):
    """Share of the real target characters, end symbols included, that the teacher-forced model gets wrong."""

    def __init__(self, name: str = "character_error", **kwargs):
        super().__init__(name, "wrong", **kwargs)

    def measure(self, true_ids, logits):
        is_wrong = ops.cast(ops.argmax(logits, axis=-1), "int32") != true_ids
        return ops.sum(ops.cast(ops.logical_and(is_wrong, true_ids != 0), "float32"))


@keras.saving.register_keras_serializable("bytenet")
class CharacterCrossEntropy(_CharacterMean):
    """Cross entropy of the real target characters, end symbols included, in nats per character."""

    def __init__(self, name: str = "character_cross_entropy", **kwargs):
        super().__init__(name, "nats", **kwargs)

    def measure(self, true_ids, logits):
        return ops.sum(sentence_cross_entropy(logits, true_ids))
