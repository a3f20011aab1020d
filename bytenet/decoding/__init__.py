"""Search for translations, draw them, and score given ones. This package uses only what `TranslationModel` promises."""

from bytenet.decoding.scoring import PairScores, log_probabilities
from bytenet.decoding.searches.beam import beam_search
from bytenet.decoding.searches.compiled_search import CompiledSearch
from bytenet.decoding.searches.forbidden_symbols import forbidden_symbols
from bytenet.decoding.searches.greedy import greedy_search
from bytenet.decoding.searches.sampling import Sampling, sample
from bytenet.decoding.searches.search import SearchResult
from bytenet.decoding.translator import Translator
from bytenet.lite.translation import Translation

__all__ = [
    "CompiledSearch",
    "PairScores",
    "Sampling",
    "SearchResult",
    "Translation",
    "Translator",
    "beam_search",
    "forbidden_symbols",
    "greedy_search",
    "log_probabilities",
    "sample",
]
