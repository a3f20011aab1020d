"""Search for translations, draw them, and score given ones. This package uses only what `TranslationModel` promises.

Importing this package does not import TensorFlow, so that `options` and `forms` can be used without it.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from bytenet.lite.translation import Translation

if TYPE_CHECKING:
    from bytenet.decoding.scoring import PairScores, log_probabilities
    from bytenet.decoding.searches.beam import beam_search
    from bytenet.decoding.searches.compiled_search import CompiledSearch
    from bytenet.decoding.searches.forbidden_symbols import forbidden_symbols
    from bytenet.decoding.searches.greedy import greedy_search
    from bytenet.decoding.searches.sampling import Sampling, sample
    from bytenet.decoding.searches.search import SearchResult
    from bytenet.decoding.translator import Translator

_MODULES = {
    "CompiledSearch": "searches.compiled_search",
    "PairScores": "scoring",
    "Sampling": "searches.sampling",
    "SearchResult": "searches.search",
    "Translator": "translator",
    "beam_search": "searches.beam",
    "forbidden_symbols": "searches.forbidden_symbols",
    "greedy_search": "searches.greedy",
    "log_probabilities": "scoring",
    "sample": "searches.sampling",
}

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


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
