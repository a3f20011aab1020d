"""BLEU as the thesis measured it: Moses tokens, cased, one reference, no smoothing."""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from bytenet.evaluation.metrics.bootstrap import DEFAULT_SEED
from bytenet.evaluation.metrics.corpus_measure import CorpusMeasure
from bytenet.evaluation.metrics.scores import Score
from bytenet.lite.languages import base_language

if TYPE_CHECKING:
    from sacremoses import MosesTokenizer

_MAX_ORDER = 4


def thesis_bleu(
    hypotheses: Sequence[str],
    references: Sequence[str],
    language: str = "en",
    split_last_period: bool = False,
    bootstrap: int = 1000,
    seed: int = DEFAULT_SEED,
) -> Score:
    """Corpus BLEU by the thesis's rules: the result of `tokenizer.perl -no-escape` and `multi-bleu.perl`.

    It is 0 if any order of n-grams has no match. Use it only for comparisons with the thesis. For all else use `bleu`,
    which has the standard tokenisation.

    Args:
        hypotheses: the translations, not tokenised.
        references: their references, in the same order.
        language: of the translations; the tokeniser knows its abbreviations. Its region is ignored.
        split_last_period: separate a period from the last token even if Moses takes it for part of an abbreviation, as
            the thesis did during training.
        bootstrap: number of resampled corpora for the interval; 0 for no interval.
        seed: of the resampling.

    Returns:
        A `Score` from 0 to 100.

    Raises:
        InputError: the numbers of hypotheses and references differ, or there are none.

    Reference:
        Madsen 2017, section 3.3.2; `multi_bleu.py` and `bleu_score.py` in its code.
    """
    return thesis_bleu_measure(language, split_last_period).measure(hypotheses, references, bootstrap, seed)


def thesis_bleu_measure(language: str = "en", split_last_period: bool = False) -> CorpusMeasure:
    """`thesis_bleu` as a measure."""
    language = base_language(language)

    def count(hypotheses: Sequence[str], references: Sequence[str]) -> np.ndarray:
        tokens = [
            [_moses_tokens(text, language, split_last_period) for text in texts] for texts in (hypotheses, references)
        ]
        return np.array([_sentence_counts(*sides) for sides in zip(*tokens, strict=True)], np.float64)

    last = "split" if split_last_period else "moses"
    settings = f"case:mixed|tok:moses-{language}-no-escape|last-period:{last}|smooth:none"
    return CorpusMeasure("thesis-BLEU", count, _bleu_of_counts, lambda bootstrap, seed: settings)


@cache
def _tokenizer(language: str) -> "MosesTokenizer":
    from sacremoses import MosesTokenizer

    return MosesTokenizer(lang=language)


def _moses_tokens(text: str, language: str, split_last_period: bool) -> list[str]:
    """Tokens of `tokenizer.perl -no-escape`; for `split_last_period` see `thesis_bleu`."""
    tokens = _tokenizer(language).tokenize(text, escape=False)
    if split_last_period and tokens and len(tokens[-1]) > 1 and tokens[-1].endswith("."):
        tokens[-1:] = [tokens[-1][:-1], "."]
    return tokens


def _ngrams(tokens: list[str], order: int) -> Iterable[tuple[str, ...]]:
    return zip(*(tokens[start:] for start in range(order)), strict=False)


def _sentence_counts(hypothesis: list[str], reference: list[str]) -> list[int]:
    """The lengths of both sides, then for each order the numbers of matched and of all n-grams of the hypothesis."""
    counts = [len(hypothesis), len(reference)]
    for order in range(1, _MAX_ORDER + 1):
        ngrams = Counter(_ngrams(hypothesis, order))
        matched = ngrams & Counter(_ngrams(reference, order))
        counts += [matched.total(), ngrams.total()]
    return counts


def _bleu_of_counts(counts: np.ndarray) -> float:
    """BLEU, 0 to 100, from `_sentence_counts` summed over sentences, `(10,)`."""
    hypothesis_length, reference_length, *ngrams = counts.tolist()
    matched, total = ngrams[0::2], ngrams[1::2]
    if not all(matched):
        return 0.0
    log_precision = sum(math.log(m / t) for m, t in zip(matched, total, strict=True)) / _MAX_ORDER
    log_brevity = min(0.0, 1 - reference_length / hypothesis_length)
    return 100 * math.exp(log_brevity + log_precision)
