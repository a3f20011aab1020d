"""Minimum Bayes risk: of several translations, the one that is most like the others."""

from collections.abc import Sequence

import numpy as np

from bytenet.lite.translation import Translation, best_first


def minimum_bayes_risk(translations: Sequence[Translation], are_samples: bool) -> list[Translation]:
    """Rank the translations of a line by their expected chrF, which becomes their score.

    Those that ended come first, and those without text last.

    The expected chrF of a translation is its mean chrF, with each of the translations as the reference. Samples have
    the same weight, as likely ones are drawn more often. The hypotheses of a beam are weighted by their probabilities.

    Args:
        translations: of one line.
        are_samples: whether they were drawn; otherwise, they are the hypotheses of a beam.

    Reference:
        Kumar and Byrne 2004, "Minimum Bayes-Risk Decoding for Statistical Machine Translation" (hypotheses of a beam);
        Eikema and Aziz 2020, "Is MAP Decoding All You Need?" (samples).
    """
    from fastchrf import pairwise_chrf  # the chrF2 of sacreBLEU

    texts = [one.text for one in translations]
    log_probabilities = np.array([0.0 if are_samples else one.log_probability for one in translations])
    weights = np.exp(log_probabilities - log_probabilities.max())
    expected = np.array(pairwise_chrf([texts], [texts])[0]) @ (weights / weights.sum())
    return best_first(one._replace(score=float(score)) for one, score in zip(translations, expected, strict=True))
