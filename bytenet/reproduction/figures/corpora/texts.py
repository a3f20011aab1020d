"""The corpora of the thesis, and their replacements at smaller scales."""

from bytenet.datasets.corpora.newstest import newstest
from bytenet.datasets.parallel import Pairs
from bytenet.reproduction.data import thesis_numbers
from bytenet.reproduction.engine.experiment import Needs, Scale
from bytenet.reproduction.figures.shared.corpus_files import number_words

NEWSTEST = Needs(corpus="NewsTest 2014, 2015", time={"smoke": "10 s", "cpu": "10 s", "thesis": "10 s"})
EUROPARL = Needs(corpus="Europarl v7", time={"smoke": "10 s", "cpu": "10 s", "thesis": "1 min after the download"})
EUROPARL_PAIRS = 1_920_209
PRINTED_PAIRS: int = thesis_numbers("corpora")["europarl_pairs"]


def news(scale: Scale, year: int) -> Pairs:
    """A NewsTest, German to English; number words at the scale "smoke"."""
    return stand_in() if scale == "smoke" else newstest([year])


def europarl(scale: Scale) -> Pairs:
    """The available part of Europarl; at the scale "smoke", number words and two odd pairs."""
    if scale == "smoke":
        pairs = stand_in()
        return Pairs([*pairs.source, "", "eins"], [*pairs.target, "one", "one " * 12])
    from bytenet.config import load_config
    from bytenet.datasets import read_corpus

    return read_corpus(load_config("europarl").data).train


def stand_in() -> Pairs:
    return number_words(64, 8)[0]
