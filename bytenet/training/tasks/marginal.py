"""The probability of translating a text forth and back again, summed over the translations that a search found."""

from keras import ops

from bytenet.training.losses import sentence_cross_entropy


def log_likelihoods(model, source_ids, target_ids, training: bool):
    """log P(target | source) of each target, in nats, its padding left out.

    Args:
        model: a `TranslationModel`.
        source_ids: int32 `(batch, S)`.
        target_ids: int32 `(k * batch, T)`, k targets side by side for each source.
        training: as in `TranslationModel.call`.

    Returns:
        float32 `(k * batch,)`.
    """
    logits = model({"source_ids": source_ids, "target_ids": target_ids}, training=training)
    return -sentence_cross_entropy(logits, target_ids)


def log_marginal(forth, back, counts):
    """log Σ_b P(ŷ_b | x) P(x | ŷ_b) over the beam, and each hypothesis's share in it.

    The sum is not divided by the probability of the whole beam, so it is a lower bound of the probability over all
    translations, and equals it where the beam holds them all. With the shares w held constant, the gradient of
    Σ_b w_b (log P(ŷ_b | x) + log P(x | ŷ_b)) is the gradient of the logarithm.

    Args:
        forth: float32 `(batch, b)`, log P(ŷ_b | x).
        back: float32 `(batch, b)`, log P(x | ŷ_b).
        counts: bool `(batch, b)`, false for hypotheses that are left out; at least one of each row counts.

    Returns:
        float32 `(batch,)` in nats, and the shares, float32 `(batch, b)` of sum 1.

    Reference:
        Madsen 2017, eq. 2.7.3, B.5.4 and C.1.3.
    """
    joint = ops.where(counts, forth + back, -float("inf"))
    return ops.logsumexp(joint, axis=1), _shares(joint)


def expected_back(forth, back, counts):
    """Σ_b P(ŷ_b | x) log P(x | ŷ_b) over a beam whose probabilities are scaled to sum to 1: back-translation.

    Args and results as of `log_marginal`; only `back` is to be learned from.
    """
    shares = _shares(ops.where(counts, forth, -float("inf")))
    return ops.sum(shares * ops.where(counts, back, 0.0), axis=1), shares


def first_of_equals(hypotheses):
    """Whether no earlier hypothesis of the sentence is the same text; symbols 0, which are no text, are passed over.

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
    """The softmax over a beam; Keras's own warns of a beam of one."""
    return ops.exp(joint - ops.logsumexp(joint, axis=1, keepdims=True))
