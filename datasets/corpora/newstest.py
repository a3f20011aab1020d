"""WMT NewsTest 2008 to 2016: the test sets of the yearly news translation task.

The addresses, checksums and members of the archives come from sacreBLEU. So scores on these sets can be compared with
published scores.
"""

import logging
import posixpath
import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from bytenet.datasets.corpora.entry import CorpusEntry, RemoteFile
from bytenet.datasets.corpora.preparation.archives import read_members
from bytenet.datasets.corpora.preparation.lookup import fetch, local_pairs
from bytenet.datasets.parallel import Corpus, Pairs
from bytenet.datasets.text.text_files import split_lines
from bytenet.errors import InputError

if TYPE_CHECKING:
    from sacrebleu.dataset.base import Dataset

    from bytenet.config import DataConfig

logger = logging.getLogger(__name__)

YEARS = range(2008, 2017)
# The thesis learns 2014 by heart and tests on 2015. Neither is training data here unless the user says so.
DEFAULT_YEARS = {"train": (2008, 2009, 2010, 2011, 2012), "validation": (2013,), "test": (2015,)}

_SEGMENT = re.compile("<seg.*?>(.*)</seg>")
_BLANKS = re.compile(r"\s+")


def newstest(years: Iterable[int], source_language: str = "de", target_language: str = "en") -> Pairs:
    """Read the pairs of the NewsTests of `years`, one year after the other.

    The files are `BYTENET_DATA/newstest/newstest<year>.<language>[.gz]`. If they do not exist, WMT's archive of the
    year is downloaded. The 2014 set is the full one with 3,003 sentences.

    Raises:
        InputError: there is no such year or language pair, or its files are missing and cannot be downloaded.
    """
    source: list[str] = []
    target: list[str] = []
    for year in years:
        if year not in YEARS:
            raise InputError(f"There is no NewsTest {year}; expected a year from {YEARS[0]} to {YEARS[-1]}.")
        pairs = local_pairs("newstest", f"newstest{year}", source_language, target_language)
        if pairs is None:
            pairs = _from_archive(year, source_language, target_language)
        source += pairs.source
        target += pairs.target
    return Pairs(source, target)


def archive(year: int) -> RemoteFile:
    """WMT's archive with the NewsTest of a year."""
    dataset = _dataset(year)
    if not dataset.data or not dataset.md5:
        raise InputError(f"sacreBLEU does not know the archive of NewsTest {year}.")
    name = f"newstest/newstest{year}-{posixpath.basename(dataset.data[0])}"
    return RemoteFile(name, dataset.data[0], f"md5:{dataset.md5[0]}")


def _dataset(year: int) -> "Dataset":
    """sacreBLEU's description of a year's test set."""
    from sacrebleu.dataset import DATASETS

    return DATASETS["wmt14/full" if year == 2014 else f"wmt{year % 100:02d}"]


def _from_archive(year: int, source_language: str, target_language: str) -> Pairs:
    members = _dataset(year).langpairs.get(f"{source_language}-{target_language}")
    if members is None:
        available = ", ".join(sorted(_dataset(year).langpairs))
        raise InputError(
            f"NewsTest {year} does not have the language pair {source_language}-{target_language}; it has {available}. "
            "Change data.source_language and data.target_language, or the years."
        )
    path = fetch(archive(year))
    source, target = (
        _segments(content, f"{path}:{name}") for name, content in zip(members, read_members(path, members), strict=True)
    )
    if len(source) != len(target):
        raise InputError(
            f"{path}: {members[0]} has {len(source):,} sentences but {members[1]} has {len(target):,}; expected the "
            "same number. Delete the archive and run the command again."
        )
    return Pairs(source, target)


def _segments(content: bytes, where: str) -> list[str]:
    """The sentences of one of WMT's files. They are not well-formed SGML, so they are read as sacreBLEU reads them."""
    lines = (line for line in split_lines(content, where) if line.startswith("<seg "))
    return [_BLANKS.sub(" ", _SEGMENT.sub(r"\1", line)).strip() for line in lines]


def _read(config: "DataConfig") -> Corpus:
    languages = config.source_language, config.target_language
    years_of = {split: getattr(config, f"{split}_years") or years for split, years in DEFAULT_YEARS.items()}
    for split in ("validation", "test"):
        if shared := sorted({*years_of["train"]} & {*years_of[split]}):
            logger.warning(
                "NewsTest %s: training pairs are also %s pairs, so the scores on these are too good. Change "
                "data.train_years or data.%s_years.", ", ".join(map(str, shared)), split, split,
            )  # fmt: skip
    train, validation, test = (newstest(years, *languages) for years in years_of.values())
    return Corpus("newstest", train, validation, test, *languages)


ENTRY = CorpusEntry(
    name="newstest",
    description="WMT NewsTest 2008 to 2016; by default 2008-2012, 2013 and 2015 (data.train_years, ...)",
    licence="made available by WMT for research",
    homepage="https://www.statmt.org/wmt16/translation-task.html",
    languages=(),
    pairs={"train": 13071, "validation": 3000, "test": 2169},
    files=lambda: tuple(archive(year) for year in YEARS),
    read=_read,
    languages_note="English with cs or de in every year, with others in some years; any in files of your own",
    settings=("train_years", "validation_years", "test_years"),
)
