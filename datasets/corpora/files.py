"""A corpus of one's own: parallel text files."""

from typing import Any

from bytenet.datasets.corpora.entry import CorpusEntry
from bytenet.datasets.parallel import Corpus, Pairs
from bytenet.datasets.text_files import read_parallel
from bytenet.errors import InputError


def _read(config: Any) -> Corpus:
    train = _split(config, "train")
    if train is None:
        raise InputError('data.corpus is "files"; set data.train_source and data.train_target to two parallel files.')
    return Corpus(
        "files",
        train=train,
        validation=_split(config, "validation"),
        test=_split(config, "test"),
        source_language=config.source_language,
        target_language=config.target_language,
    )


def _split(config: Any, split: str) -> Pairs | None:
    source, target = getattr(config, f"{split}_source"), getattr(config, f"{split}_target")
    if source is None and target is None:
        return None
    if source is None or target is None:
        given, missing = ("target", "source") if source is None else ("source", "target")
        raise InputError(f"data.{split}_{given} is set but data.{split}_{missing} is not; expected both files.")
    return read_parallel(source, target)


ENTRY = CorpusEntry(
    name="files",
    description="parallel text files of yours, one sentence a line, plain or .gz (data.train_source, ...)",
    licence="yours",
    homepage="",
    languages=(),
    pairs={},
    files=tuple,
    read=_read,
)
