"""Tatoeba: short everyday sentences, packaged by manythings.org for flash cards."""

import hashlib
import logging
from typing import TYPE_CHECKING

from bytenet.datasets.corpora.entry import CorpusEntry, RemoteFile
from bytenet.datasets.corpora.preparation.archives import read_members
from bytenet.datasets.corpora.preparation.holding_out import hold_out_components
from bytenet.datasets.corpora.preparation.lookup import fetch, local_pairs
from bytenet.datasets.parallel import Corpus, Pairs
from bytenet.datasets.text.text_files import split_lines
from bytenet.errors import InputError

if TYPE_CHECKING:
    from bytenet.config import DataConfig

logger = logging.getLogger(__name__)

# The publisher renews it now and then, so there is no lasting checksum. The archive's own checksum is checked.
_ARCHIVE = RemoteFile("tatoeba/deu-eng.zip", "https://www.manythings.org/anki/deu-eng.zip")
_MEMBER = "deu.txt"
_HELD_OUT = 2000
# Of the pairs that were held out from the pretrained models, as `_checksum` gives it. Their archive is of 2018-05-13.
_CHECKSUM_FOR_PRETRAINED = "340377811bb63e3202b52ad250f283097addc3562978a81290870d40c7386ad5"


def _read(config: "DataConfig") -> Corpus:
    languages = config.source_language, config.target_language
    train = local_pairs("tatoeba", "train", *languages)
    if train is None:
        corpus = Corpus("tatoeba", *_splits_of_archive(), "de", "en")
        return corpus.reversed() if languages == ("en", "de") else corpus
    validation, test = local_pairs("tatoeba", "val", *languages), local_pairs("tatoeba", "test", *languages)
    return Corpus("tatoeba", train, validation, test, *languages)


def _splits_of_archive() -> tuple[Pairs, Pairs, Pairs]:
    """Training, validation and test pairs, German to English."""
    train, validation, test = hold_out_components(_from_archive(), _HELD_OUT, salt="tatoeba:")
    if _checksum(validation, test) != _CHECKSUM_FOR_PRETRAINED:
        logger.warning(
            "The archive of tatoeba is not the one that the pretrained models learned from. Its held-out sentences are "
            "others, and some may be training pairs of these models. Then scores of these models are too high."
        )
    return train, validation, test


def _checksum(*splits: Pairs) -> str:
    """The SHA-256 of all sentences of some splits."""
    lines = [sentence for pairs in splits for side in (pairs.source, pairs.target) for sentence in side]
    return hashlib.sha256("\n".join(lines).encode("utf-8")).hexdigest()


def _from_archive() -> Pairs:
    """All pairs, German to English, in the archive's order: from short to long."""
    path = fetch(_ARCHIVE)
    (content,) = read_members(path, [_MEMBER])
    german, english = [], []
    for number, line in enumerate(split_lines(content, f"{path}:{_MEMBER}"), start=1):
        columns = line.split("\t")
        if len(columns) < 2:
            raise InputError(f"{path}:{_MEMBER}:{number}: expected English, a tab and German; found {line!r}.")
        english.append(columns[0].strip())
        german.append(columns[1].strip())
    return Pairs(german, english)


ENTRY = CorpusEntry(
    name="tatoeba",
    description="short everyday sentences; 2 x 2,000 pairs are held out and share no sentence with training",
    licence="CC BY 2.0, attribution: www.manythings.org/anki and tatoeba.org",
    homepage="https://www.manythings.org/anki/",
    languages=("de", "en"),
    pairs={"train": 161774, "validation": 2000, "test": 2000},
    files=lambda: (_ARCHIVE,),
    read=_read,
)
