"""BLEU, chrF and the length ratio as sacreBLEU computes them, with signature and bootstrap interval."""

import logging
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from bytenet.evaluation.metrics.bootstrap import DEFAULT_SEED
from bytenet.evaluation.metrics.corpus_measure import CorpusMeasure
from bytenet.evaluation.metrics.scores import Score
from bytenet.lite.languages import base_language

if TYPE_CHECKING:
    from sacrebleu.metrics import BLEU
    from sacrebleu.metrics.base import Metric

_log = logging.getLogger(__name__)


def bleu(
    hypotheses: Sequence[str],
    references: Sequence[str],
    bootstrap: int = 1000,
    seed: int = DEFAULT_SEED,
    language: str = "",
) -> Score:
    """Corpus BLEU of detokenised text, one reference a sentence, by sacreBLEU's defaults.

    Args:
        hypotheses: the translations.
        references: their references, in the same order.
        bootstrap: number of resampled corpora for the interval; 0 for no interval.
        seed: of the resampling.
        language: code of the language of the texts. sacreBLEU splits Chinese, Japanese and Korean into words with other
            tokenisers than the rest. If MeCab is not installed, Japanese and Korean are split into characters, and a
            warning says so.

    Returns:
        A `Score` from 0 to 100 with sacreBLEU's signature.

    Raises:
        InputError: the numbers of hypotheses and references differ, or there are none.

    Reference:
        Papineni et al. 2002; Post 2018, "A Call for Clarity in Reporting BLEU Scores".
    """
    return bleu_measures(language)[0].measure(hypotheses, references, bootstrap, seed)


def chrf(
    hypotheses: Sequence[str], references: Sequence[str], bootstrap: int = 1000, seed: int = DEFAULT_SEED
) -> Score:
    """Corpus chrF2 (character n-grams up to 6), one reference a sentence, by sacreBLEU's defaults.

    Arguments, result and errors as for `bleu`.

    Reference:
        Popović 2015, "chrF: character n-gram F-score for automatic MT evaluation".
    """
    return chrf_measure().measure(hypotheses, references, bootstrap, seed)


def length_ratio(
    hypotheses: Sequence[str],
    references: Sequence[str],
    bootstrap: int = 1000,
    seed: int = DEFAULT_SEED,
    language: str = "",
) -> Score:
    """Words of the translations divided by words of the references, as BLEU counts them.

    Below 1, BLEU is reduced by its brevity penalty. Arguments and errors as for `bleu`.

    Returns:
        A `Score` with sacreBLEU's signature; 1 if both are equally long.
    """
    return bleu_measures(language)[1].measure(hypotheses, references, bootstrap, seed)


def bleu_measures(language: str = "") -> tuple[CorpusMeasure, CorpusMeasure]:
    """`bleu` and `length_ratio` as measures. Both use the same counts."""
    metric = _bleu_metric(base_language(language))
    return _of_sacrebleu("BLEU", metric), _of_sacrebleu("length-ratio", metric, attribute="ratio", digits=3)


def _bleu_metric(language: str) -> "BLEU":
    from sacrebleu.metrics import BLEU

    # force: no warning about tokenised text. sacreBLEU suspects it if lines end in " .".
    try:
        return BLEU(force=True, trg_lang=language)
    except RuntimeError:  # MeCab is missing
        _warn_of_characters(language)
        return BLEU(force=True, tokenize="char")


@cache
def _warn_of_characters(language: str) -> None:
    """Log once for each language that BLEU counts characters."""
    _log.warning(
        "BLEU counts characters instead of words, because sacreBLEU's tokeniser for %s is not installed. To count "
        "words: pip install 'sacrebleu[%s]'",
        language, language,
    )  # fmt: skip


def chrf_measure() -> CorpusMeasure:
    """`chrf` as a measure."""
    from sacrebleu.metrics import CHRF

    return _of_sacrebleu("chrF2", CHRF())


def _of_sacrebleu(name: str, metric: "Metric", attribute: str = "score", digits: int = 2) -> CorpusMeasure:
    """A measure of sacreBLEU: an attribute of its scores.

    Its public function returns the width of the interval but not its ends, so its counts are used here.
    """

    def settings(bootstrap: int, seed: int) -> str:
        if bootstrap:
            metric.n_bootstrap, metric.seed = bootstrap, str(seed)
        return metric.get_signature().format()

    return CorpusMeasure(
        name=name,
        count=lambda hypotheses, references: np.array(
            metric._extract_corpus_statistics(hypotheses, [references]), np.float64
        ),
        value=lambda counts: getattr(metric._compute_score_from_stats(counts.tolist()), attribute),
        settings=settings,
        digits=digits,
    )
