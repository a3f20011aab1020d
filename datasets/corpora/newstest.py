"""WMT NewsTest 2008 to 2016: the test sets of the yearly news translation task.

Where an archive is, its checksum and its members are sacreBLEU's knowledge, so that scores on these sets are
scores on the sets that everybody means by their names.
"""

import posixpath
import re
from collections.abc import Iterable
from typing import Any

from bytenet.datasets.corpora.entry import CorpusEntry, RemoteFile
from bytenet.datasets.corpora.preparation.archives import read_members
from bytenet.datasets.corpora.preparation.lookup import fetch, local_pairs
from bytenet.datasets.parallel import Corpus, Pairs
from bytenet.datasets.text.text_files import split_lines
from bytenet.errors import InputError

YEARS = range(2008, 2017)
# 2014 and 2015 are the thesis's test sets: not for training unless the user says so.
DEFAULT_YEARS = {"train": (2008, 2009, 2010, 2011, 2012), "validation": (2013,), "test": (2015,)}

_SEGMENT = re.compile("<seg.*?>(.*)</seg>")
_BLANKS = re.compile(r"\s+")


def newstest(years: Iterable[int], source_language: str = "de", target_language: str = "en") -> Pairs:
    """The pairs of the NewsTests of `years`, one after the other.

    Looked for as `BYTENET_DATA/newstest/newstest<year>.<language>[.gz]`, else in WMT's archive of that year.
    The 2014 set is the full one of 3,003 sentences.

    Raises:
        InputError: there is no such year or language pair, or no way to get the files.
    """
    source: list[str] = []
    target: list[str] = []
    for year in years:
        if year not in YEARS:
            raise InputError(f"There is no NewsTest {year} here; there are {YEARS[0]} to {YEARS[-1]}.")
        pairs = local_pairs("newstest", f"newstest{year}", source_language, target_language)
        if pairs is None:
            pairs = _from_archive(year, source_language, target_language)
        source += pairs.source
        target += pairs.target
    return Pairs(source, target)


def archive(year: int) -> RemoteFile:
    """WMT's archive that holds a year's NewsTest."""
    dataset = _dataset(year)
    name = f"newstest/newstest{year}-{posixpath.basename(dataset.data[0])}"
    return RemoteFile(name, dataset.data[0], f"md5:{dataset.md5[0]}")


def _dataset(year: int):
    """sacreBLEU's description of a year's test set."""
    from sacrebleu.dataset import DATASETS

    return DATASETS["wmt14/full" if year == 2014 else f"wmt{year % 100:02d}"]


def _from_archive(year: int, source_language: str, target_language: str) -> Pairs:
    members = _dataset(year).langpairs.get(f"{source_language}-{target_language}")
    if members is None:
        known = ", ".join(sorted(_dataset(year).langpairs))
        raise InputError(
            f"NewsTest {year} has no pair {source_language}-{target_language}; it has {known}. Change "
            "data.source_language and data.target_language, or the years."
        )
    path = fetch(archive(year))
    source, target = read_members(path, members)
    return Pairs(_segments(source, f"{path}:{members[0]}"), _segments(target, f"{path}:{members[1]}"))


def _segments(content: bytes, where: str) -> list[str]:
    """The sentences of one of WMT's files, which are no well-formed SGML: read as sacreBLEU reads them."""
    lines = (line for line in split_lines(content, where) if line.startswith("<seg "))
    return [_BLANKS.sub(" ", _SEGMENT.sub(r"\1", line)).strip() for line in lines]


def _read(config: Any) -> Corpus:
    languages = config.source_language, config.target_language
    splits = {
        split: newstest(getattr(config, f"{split}_years") or years, *languages)
        for split, years in DEFAULT_YEARS.items()
    }
    return Corpus("newstest", **splits, source_language=languages[0], target_language=languages[1])


ENTRY = CorpusEntry(
    name="newstest",
    description="WMT NewsTest 2008 to 2016 (data.train_years, ...); as it stands 2008-2012, 2013 and 2015",
    licence="made available by WMT for research",
    homepage="https://www.statmt.org/wmt16/translation-task.html",
    languages=(),
    pairs={"train": 13071, "validation": 3000, "test": 2169},
    files=lambda: tuple(archive(year) for year in YEARS),
    read=_read,
    settings=("train_years", "validation_years", "test_years"),
)
