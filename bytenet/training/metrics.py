"""The metric of every training step."""

import keras
from keras import ops


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
