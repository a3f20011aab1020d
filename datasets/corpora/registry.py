"""The corpora that `data.corpus` can name."""

from bytenet.datasets.corpora.digits import ENTRY as DIGITS
from bytenet.datasets.corpora.entry import CorpusEntry
from bytenet.datasets.corpora.europarl import ENTRY as EUROPARL
from bytenet.datasets.corpora.multi30k import ENTRY as MULTI30K
from bytenet.datasets.corpora.multi30k import ENTRY_2017 as MULTI30K_2017
from bytenet.datasets.corpora.multi30k_monolingual import ENTRY as MULTI30K_MONOLINGUAL
from bytenet.datasets.corpora.newstest import ENTRY as NEWSTEST
from bytenet.datasets.corpora.numbers import ENTRY as NUMBERS
from bytenet.datasets.corpora.tatoeba import ENTRY as TATOEBA
from bytenet.datasets.corpora.user_files import ENTRY as USER_FILES
from bytenet.datasets.corpora.user_shards import ENTRY as USER_SHARDS
from bytenet.errors import ConfigError, nearest

_ENTRIES = {
    entry.name: entry
    for entry in (
        DIGITS,
        NUMBERS,
        MULTI30K,
        MULTI30K_2017,
        MULTI30K_MONOLINGUAL,
        TATOEBA,
        NEWSTEST,
        EUROPARL,
        USER_FILES,
        USER_SHARDS,
    )
}


def available() -> list[CorpusEntry]:
    """All corpora of the registry."""
    return list(_ENTRIES.values())


def find_entry(name: str) -> CorpusEntry:
    """The corpus with a name.

    Raises:
        ConfigError: there is none; the message gives the nearest name.
    """
    if name in _ENTRIES:
        return _ENTRIES[name]
    hint = nearest(name, _ENTRIES)
    raise ConfigError(f"data.corpus = {name!r} is not a corpus.{hint} The corpora are: {', '.join(_ENTRIES)}.")
