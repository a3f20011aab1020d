"""The probability of translating a text forth and back, summed over the translations of a beam search."""

from keras import ops

from bytenet.training.losses import sentence_cross_entropy


def log_likelihoods(model, source_ids, target_ids, training: bool):
    """log P(target | source) of each target without its padding, in nats.

    Args:
        model: a `TranslationModel`.
        source_ids: int32 `(batch, S)`.
        target_ids: int32 `(k * batch, T)`; the k targets of a source follow each other.
        training: as in `TranslationModel.call`.

    Returns:
        float32 `(k * batch,)`.
    """
    logits = model({"source_ids": source_ids, "target_ids": target_ids}, training=training)
    return -sentence_cross_entropy(logits, target_ids)


def log_marginal(forth, back, counts):
    """log Σ_b P(ŷ_b | x) P(x | ŷ_b) over the beam, and the share of each hypothesis in the sum.

    The sum is not divided by the probability of the whole beam. So it is a lower bound of the sum over all
    translations, and equals it if the beam contains them all. If the shares w are held constant, the gradient of
    Σ_b w_b (log P(ŷ_b | x) + log P(x | ŷ_b)) is the gradient of the logarithm.

    Args:
        forth: float32 `(batch, b)`, log P(ŷ_b | x).
        back: float32 `(batch, b)`, log P(x | ŷ_b).
        counts: bool `(batch, b)`, false for hypotheses that are left out. At least one in each row counts.

    Returns:
        float32 `(batch,)` in nats; and the shares, float32 `(batch, b)`, which sum to 1 in each row.

    Reference:
        Madsen 2017, eq. 2.7.3, B.5.4 and C.2.3.
    """
    joint = ops.where(counts, forth + back, -float("inf"))
    return ops.logsumexp(joint, axis=1), _shares(joint)


def expected_back(forth, back, counts):
    """Back-translation: Σ_b P(ŷ_b | x) log P(x | ŷ_b), with the probabilities of the beam scaled to sum to 1.

    Arguments and results are those of `log_marginal`. The gradient must only go through `back`.
    """
    shares = _shares(ops.where(counts, forth, -float("inf")))
    return ops.sum(shares * ops.where(counts, back, 0.0), axis=1), shares


def first_of_equals(hypotheses):
    """Whether no earlier hypothesis of the sentence is the same text. Symbols 0 are no text and are skipped.

    Args:
        hypotheses: int32 `(batch, b, T)`.

    Returns:
        bool `(batch, b)`.
    """
    order = ops.argsort(ops.cast(hypotheses == 0, "int32") * hypotheses.shape[-1] + ops.arange(hypotheses.shape[-1]))
    texts = ops.take_along_axis(hypotheses, order, axis=-1)  # (batch, b, T), the symbols first
    equal = ops.all(texts[:, :, None] == texts[:, None, :], axis=-1)  # (batch, b, b)
    return ops.sum(ops.tril(ops.cast(equal, "int32"), k=-1), axis=-1) == 0


def _shares(joint):
    """The softmax over a beam. Keras's softmax warns if the beam has one hypothesis."""
    return ops.exp(joint - ops.logsumexp(joint, axis=1, keepdims=True))
