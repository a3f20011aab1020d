"""A corpus of one's own: parallel text files."""

from typing import Any

from bytenet.datasets.corpora.entry import CorpusEntry
from bytenet.datasets.parallel import Corpus, Pairs
from bytenet.datasets.text.text_files import read_parallel


def _read(config: Any) -> Corpus:
    return Corpus(
        "files",
        train=_split(config, "train"),
        validation=_split(config, "validation"),
        test=_split(config, "test"),
        source_language=config.source_language,
        target_language=config.target_language,
    )


def _split(config: Any, split: str) -> Pairs | None:
    source, target = getattr(config, f"{split}_source"), getattr(config, f"{split}_target")
    return None if source is None else read_parallel(source, target)


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
