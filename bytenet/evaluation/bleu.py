"""BLEU, chrF and the ratio of lengths as sacreBLEU computes them, with signature and bootstrap interval."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from bytenet.evaluation.bootstrap import bootstrap_interval, check_parallel
from bytenet.evaluation.scores import Score

if TYPE_CHECKING:
    from sacrebleu.metrics.base import Metric


def bleu(hypotheses: Sequence[str], references: Sequence[str], bootstrap: int = 1000, seed: int = 12345) -> Score:
    """Corpus BLEU of detokenised text, one reference a sentence, by sacreBLEU's defaults.

    Args:
        hypotheses: the translations.
        references: as many, in the same order.
        bootstrap: resampled corpora for the interval; 0 for no interval.
        seed: of the resampling.

    Returns:
        A `Score` from 0 to 100 with sacreBLEU's signature.

    Raises:
        InputError: numbers of hypotheses and references differ, or there are none.

    Reference:
        Papineni et al. 2002; Post 2018, "A Call for Clarity in Reporting BLEU Scores".
    """
    from sacrebleu.metrics import BLEU

    # force: no warning about tokenised text, which sacreBLEU suspects wherever lines end in " .".
    return _score("BLEU", BLEU(force=True), hypotheses, references, bootstrap, seed)


def chrf(hypotheses: Sequence[str], references: Sequence[str], bootstrap: int = 1000, seed: int = 12345) -> Score:
    """Corpus chrF2 (character n-grams up to 6), one reference a sentence, by sacreBLEU's defaults.

    Arguments, result and errors as for `bleu`.

    Reference:
        Popović 2015, "chrF: character n-gram F-score for automatic MT evaluation".
    """
    from sacrebleu.metrics import CHRF

    return _score("chrF2", CHRF(), hypotheses, references, bootstrap, seed)


def length_ratio(
    hypotheses: Sequence[str], references: Sequence[str], bootstrap: int = 1000, seed: int = 12345
) -> Score:
    """Words of the translations for each word of the references, as BLEU counts them: below 1 it scores the shortness.

    Arguments and errors as for `bleu`.

    Returns:
        A `Score` with sacreBLEU's signature; 1 where both are equally long.
    """
    from sacrebleu.metrics import BLEU

    return _score("length-ratio", BLEU(force=True), hypotheses, references, bootstrap, seed, told="ratio", digits=3)


def _score(
    name: str,
    metric: "Metric",
    hypotheses: Sequence[str],
    references: Sequence[str],
    bootstrap: int,
    seed: int,
    told: str = "score",
    digits: int = 2,
) -> Score:
    """What sacreBLEU tells of a corpus under the name `told`."""
    check_parallel(hypotheses, references)
    # sacreBLEU's public call gives the width of the interval but not its ends, so its sums are taken here.
    statistics = np.array(metric._extract_corpus_statistics(hypotheses, [references]), np.float64)

    def score(counts: np.ndarray) -> float:
        return getattr(metric._compute_score_from_stats(counts.tolist()), told)

    if bootstrap:
        metric.n_bootstrap, metric.seed = bootstrap, str(seed)
    return Score(
        name=name,
        value=score(statistics.sum(axis=0)),
        num_sentences=len(hypotheses),
        settings=metric.get_signature().format(),
        interval=bootstrap_interval(statistics, score, bootstrap, seed),
        digits=digits,
    )
