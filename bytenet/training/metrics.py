"""The metrics of training steps and epochs."""

import keras
from keras import ops

from bytenet.training.losses import sentence_cross_entropy

EPOCH_COLUMNS = (
    "epoch", "step", "seconds", "characters", "loss", "character_error", "val_loss", "val_bleu", "val_chrf",
    "val_misclassification", "learning_rate",
)  # fmt: skip
"""The measurements of an epoch, in the order of `metrics.csv`."""


@keras.saving.register_keras_serializable("bytenet")
class CharacterError(keras.metrics.Metric):
    """Share of the real target characters, end symbols included, that the teacher-forced model gets wrong.

    It is pooled over all sentences since the last reset. Sample weights are ignored, because id 0 marks padding.
    """

    def __init__(self, name: str = "character_error", **kwargs):
        super().__init__(name=name, **kwargs)
        self.wrong = self.add_variable((), initializer="zeros", name="wrong")
        self.total = self.add_variable((), initializer="zeros", name="total")

    def update_state(self, y_true, y_pred, sample_weight=None):
        """y_true: int32 `(batch, length)` ids; y_pred: float `(batch, length, vocab_size)` logits."""
        true_ids = ops.cast(y_true, "int32")
        is_real = ops.cast(true_ids != 0, "float32")
        is_wrong = ops.cast(ops.cast(ops.argmax(y_pred, axis=-1), "int32") != true_ids, "float32")
        self.wrong.assign_add(ops.sum(is_wrong * is_real))
        self.total.assign_add(ops.sum(is_real))

    def result(self):
        return ops.divide_no_nan(self.wrong, self.total)


@keras.saving.register_keras_serializable("bytenet")
class CharacterCrossEntropy(keras.metrics.Metric):
    """Cross entropy of the real target characters, end symbols included, in nats a character.

    It is pooled over all sentences since the last reset. Sample weights are ignored, because id 0 marks padding.
    """

    def __init__(self, name: str = "character_cross_entropy", **kwargs):
        super().__init__(name=name, **kwargs)
        self.nats = self.add_variable((), initializer="zeros", name="nats")
        self.total = self.add_variable((), initializer="zeros", name="total")

    def update_state(self, y_true, y_pred, sample_weight=None):
        """y_true: int32 `(batch, length)` ids; y_pred: float `(batch, length, vocab_size)` logits."""
        self.nats.assign_add(ops.sum(sentence_cross_entropy(y_pred, y_true)))
        self.total.assign_add(ops.sum(ops.cast(ops.cast(y_true, "int32") != 0, "float32")))

    def result(self):
        return ops.divide_no_nan(self.nats, self.total)
