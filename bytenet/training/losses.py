"""Losses over the real characters of a target, without padding: cross entropy, and R-Drop."""

import keras
from keras import ops


def sentence_cross_entropy(logits, target_ids, label_smoothing: float = 0.0):
    """Cross entropy of the real characters of each sentence, summed over time, in nats.

    Args:
        logits: float `(batch, target_length, vocab_size)`, before softmax.
        target_ids: int32 `(batch, target_length)`, 0 for padding.
        label_smoothing: share of the target probability spread evenly over the vocabulary.

    Returns:
        float32 `(batch,)`; 0.0 for a sentence with padding only.

    Reference:
        Madsen 2017, eq. 2.1.6; label smoothing as in Szegedy et al. 2016.
    """
    return _cross_entropy(_log_probabilities(logits), target_ids, label_smoothing)


def _cross_entropy(log_probabilities, target_ids, label_smoothing: float):
    true_ids = ops.cast(target_ids, "int32")
    losses = -ops.squeeze(ops.take_along_axis(log_probabilities, true_ids[..., None], axis=-1), axis=-1)
    if label_smoothing:
        losses = (1 - label_smoothing) * losses - label_smoothing * ops.mean(log_probabilities, axis=-1)
    return _sum_of_real(losses, target_ids)


def _symmetric_divergence(first, second, target_ids):
    """KL(P ‖ Q) + KL(Q ‖ P) in nats, from the log-probabilities of P and Q, summed over each sentence."""
    return _sum_of_real(ops.sum((ops.exp(first) - ops.exp(second)) * (first - second), axis=-1), target_ids)


def _log_probabilities(logits):
    return ops.log_softmax(ops.cast(logits, "float32"), axis=-1)


def _sum_of_real(values, target_ids):
    """The sum over the real characters of each sentence: float `(batch, target_length)` → `(batch,)`."""
    return ops.sum(ops.where(target_ids != 0, values, 0.0), axis=-1)


@keras.saving.register_keras_serializable("bytenet")
class SentenceCrossEntropy(keras.losses.Loss):
    """`sentence_cross_entropy` as a Keras loss, with one value for each sentence.

    Keras multiplies it by the sample weights and averages over the batch. The training pipeline chooses the
    weights so that this is the average over the sentences or over the characters of the whole batch, on any number
    of replicas. (Keras would not divide a scalar loss by the number of replicas.)

    Args:
        label_smoothing: see `sentence_cross_entropy`.

    Attributes:
        passes: how often a training step predicts a batch for this loss.
    """

    passes = 1

    def __init__(
        self,
        label_smoothing: float = 0.0,
        name: str = "cross_entropy",
        reduction: str = "sum_over_batch_size",
        **kwargs,
    ):
        super().__init__(name=name, reduction=reduction, **kwargs)
        self.label_smoothing = label_smoothing

    def call(self, y_true, y_pred):
        """y_true: int32 `(batch, length)`; y_pred: float `(batch, length, vocab_size)` logits.

        Returns float32 `(batch,)`, in nats.
        """
        return sentence_cross_entropy(y_pred, y_true, self.label_smoothing)

    def get_config(self):
        return super().get_config() | {"label_smoothing": self.label_smoothing}


@keras.saving.register_keras_serializable("bytenet")
class RDropCrossEntropy(SentenceCrossEntropy):
    """R-Drop: the mean cross entropy of two predictions of each sentence, plus a penalty for their difference.

    The predictions P and Q come from two passes with different dropout. So the model learns to give the same prediction
    with any dropout. The loss is half of the paper's: (CE(P) + CE(Q)) / 2 + α · (KL(P ‖ Q) + KL(Q ‖ P)) / 4. All terms
    are sums over the real characters.

    Args:
        weight: α.
        label_smoothing: see `sentence_cross_entropy`.

    Reference:
        Liang et al. 2021, R-Drop: Regularized Dropout for Neural Networks.
    """

    passes = 2

    def __init__(self, weight: float, label_smoothing: float = 0.0, **kwargs):
        super().__init__(label_smoothing, **kwargs)
        self.weight = weight

    def call(self, y_true, y_pred):
        """y_true: int32 `(batch, length)`; y_pred: float `(batch, 2, length, vocab_size)` logits.

        For a single prediction, `(batch, length, vocab_size)`, the loss is its cross entropy.
        """
        if len(y_pred.shape) == 3:
            return super().call(y_true, y_pred)
        first, second = _log_probabilities(y_pred[:, 0]), _log_probabilities(y_pred[:, 1])
        nats = [_cross_entropy(prediction, y_true, self.label_smoothing) for prediction in (first, second)]
        return (nats[0] + nats[1]) / 2 + self.weight / 4 * _symmetric_divergence(first, second, y_true)

    def get_config(self):
        return super().get_config() | {"weight": self.weight}
