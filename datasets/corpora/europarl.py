"""Europarl v7: proceedings of the European Parliament."""

from typing import TYPE_CHECKING

from bytenet.datasets.corpora.entry import CorpusEntry, RemoteFile
from bytenet.datasets.corpora.newstest import newstest
from bytenet.datasets.corpora.preparation.archives import read_members
from bytenet.datasets.corpora.preparation.holding_out import hold_out_tail
from bytenet.datasets.corpora.preparation.lookup import DATA_VARIABLE, fetch, local_pairs
from bytenet.datasets.parallel import Corpus, Pairs
from bytenet.datasets.text.text_files import split_lines
from bytenet.errors import InputError, MissingFileError

if TYPE_CHECKING:
    from bytenet.config import DataConfig

# The publisher gives no checksum. The archive's own checksum and the number of pairs are checked instead.
_ARCHIVE = RemoteFile("europarl/de-en.tgz", "https://www.statmt.org/europarl/v7/de-en.tgz")
_PAIRS = 1_920_209
_HELD_OUT = 1000


def _read(config: "DataConfig") -> Corpus:
    languages = config.source_language, config.target_language
    validation: Pairs | None
    test: Pairs | None
    train = local_pairs("europarl", "train", *languages)
    if train is None:
        train, validation, test = hold_out_tail(_from_archive(*languages), _HELD_OUT)
    else:
        validation = local_pairs("europarl", "val", *languages)
        test = local_pairs("europarl", "test", *languages)
    if config.validation_years is not None:
        validation = newstest(config.validation_years, *languages)
    if config.test_years is not None:
        test = newstest(config.test_years, *languages)
    return Corpus("europarl", train, validation, test, *languages)


def sample(source_language: str, target_language: str) -> Pairs:
    """Read the training pairs of Europarl under `BYTENET_DATA`, without a download. There may be only a few.

    Raises:
        MissingFileError: there are none.
    """
    pairs = local_pairs("europarl", "train", source_language, target_language)
    if pairs is None:
        raise MissingFileError(
            f"There is no europarl/train.{source_language}[.gz] under {DATA_VARIABLE}. Put some pairs of Europarl "
            "there, or use the corpus europarl, which is downloaded."
        )
    return pairs


def _from_archive(source_language: str, target_language: str) -> Pairs:
    path = fetch(_ARCHIVE)
    names = [f"europarl-v7.de-en.{language}" for language in (source_language, target_language)]
    # Many lines end in a blank, on one side or the other.
    source, target = (
        [line.rstrip() for line in split_lines(content, f"{path}:{name}")]
        for name, content in zip(names, read_members(path, names), strict=True)
    )
    if not len(source) == len(target) == _PAIRS:
        raise InputError(
            f"{path} has {len(source)} and {len(target)} lines; expected {_PAIRS} each, as in Europarl v7. Delete it "
            "and run the command again, or use your own files with data.corpus=files."
        )
    return Pairs(source, target)


ENTRY = CorpusEntry(
    name="europarl",
    description="Europarl v7; held out are its last 2,000 pairs, or NewsTests (data.test_years, ...)",
    licence='"We are not aware of any copyright restrictions of the material" (its publisher)',
    homepage="https://www.statmt.org/europarl/",
    languages=("de", "en"),
    pairs={"train and held out": _PAIRS},
    files=lambda: (_ARCHIVE,),
    read=_read,
    settings=("validation_years", "test_years"),
)
