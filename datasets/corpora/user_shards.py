"""The user's own corpus in shards. A training reads one shard after the other."""

from typing import TYPE_CHECKING

from bytenet.datasets.corpora.entry import CorpusEntry
from bytenet.datasets.corpora.user_files import read_split
from bytenet.datasets.parallel import Corpus, Pairs
from bytenet.datasets.shards.folder import ShardFolder
from bytenet.errors import ConfigError

if TYPE_CHECKING:
    from bytenet.config import DataConfig


def _read(config: "DataConfig") -> Corpus:
    assert config.train_shards is not None
    languages = config.source_language, config.target_language
    folder = ShardFolder.open(config.train_shards)
    if folder.languages != languages:
        raise ConfigError(
            f"The shards in {folder.path} are marked {' to '.join(folder.languages)}, but data.source_language and "
            f"data.target_language are {' and '.join(languages)}. If the mark is right, set these two to it "
            "(data.reversed=true trains the other direction). If it is wrong, shard again with --source-language and "
            "--target-language."
        )
    return Corpus(
        "shards",
        train=Pairs([], []),
        validation=read_split(config.validation_source, config.validation_target),
        test=read_split(config.test_source, config.test_target),
        source_language=config.source_language,
        target_language=config.target_language,
    )


ENTRY = CorpusEntry(
    name="shards",
    description="your own text, more than fits into memory: a folder of `bytenet data shard` (data.train_shards)",
    licence="yours",
    homepage="",
    languages=(),
    pairs={},
    files=tuple,
    read=_read,
)
