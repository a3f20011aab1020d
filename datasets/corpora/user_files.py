"""The user's own parallel text files."""

from typing import TYPE_CHECKING

from bytenet.datasets.corpora.entry import CorpusEntry
from bytenet.datasets.parallel import Corpus, Pairs
from bytenet.datasets.text.text_files import read_parallel
from bytenet.errors import ConfigError

if TYPE_CHECKING:
    from bytenet.config import DataConfig


def _read(config: "DataConfig") -> Corpus:
    train = read_split(config.train_source, config.train_target)
    if train is None:
        raise ConfigError("The corpus files needs data.train_source and data.train_target, two parallel text files.")
    return Corpus(
        "files",
        train=train,
        validation=read_split(config.validation_source, config.validation_target),
        test=read_split(config.test_source, config.test_target),
        source_language=config.source_language,
        target_language=config.target_language,
    )


def read_split(source: str | None, target: str | None) -> Pairs | None:
    """Read two parallel files; None if no files are given."""
    return None if source is None or target is None else read_parallel(source, target)


ENTRY = CorpusEntry(
    name="files",
    description="your own parallel text files, one sentence per line, plain or .gz (data.train_source, ...)",
    licence="yours",
    homepage="",
    languages=(),
    pairs={},
    files=tuple,
    read=_read,
)
