"""Multi30k: captions of photographs, English with professional German translations."""

from dataclasses import replace

from bytenet.datasets.corpora.entry import CorpusEntry, RemoteFile
from bytenet.datasets.corpora.preparation.lookup import fetch, local_pairs
from bytenet.datasets.parallel import Corpus, Pairs
from bytenet.datasets.text.text_files import read_parallel

HOMEPAGE = "https://github.com/multi30k/dataset"
LICENCE = "for non-commercial research and education (from Flickr30K); cite Elliott et al. 2016, W16-3210"

_URL = "https://raw.githubusercontent.com/multi30k/dataset/master/data/task1/raw/"
_TEST_2016, _TEST_2017 = "test_2016_flickr", "test_2017_flickr"
# The sums of the files of 2017 are those that torchtext publishes. Its sums of the other files are right.
_FILES = {
    name: RemoteFile(f"multi30k/{name}", _URL + name, checksum, size)
    for name, size, checksum in (
        ("train.de.gz", 637044, "sha256:726e39b2fa9eb9ffb6dc763fb35a179f80fae06ffc5d28b6ace5faa883de28a6"),
        ("train.en.gz", 568929, "sha256:d79cfa999dd4c51d2cb42499b6796d5a882c3a8a961923c25a898c90f8bbd56f"),
        ("val.de.gz", 24681, "sha256:f0cba2f995189cf5770f29a8a9a537a3ad3f51657ad873405082ff6863a5e75a"),
        ("val.en.gz", 21650, "sha256:14f7d25ddd868909a9213e361768460edcacdd6ab9d1e77b92560dc10c10dc28"),
        ("test_2016_flickr.de.gz", 22890, "sha256:9204244e408ccb38d2a55cfcd344df15005fc42a07a6e55ca6c52b6ababb8cc8"),
        ("test_2016_flickr.en.gz", 21077, "sha256:611d361c6334bc7246101d48097c13cf5c4413c5befc793cc629934359d532d9"),
        ("test_2017_flickr.de.gz", None, "md5:6a8d5c87f6ae19e3d35681aa6fd16571"),
        ("test_2017_flickr.en.gz", None, "md5:005396bac545d880abe6f00bbb7dbbb4"),
    )
}


def multi30k(source_language: str, target_language: str, test: str = _TEST_2016) -> Corpus:
    """Read Multi30k in one of its directions, "de" to "en" or "en" to "de", with one of its test sets.

    Raises:
        InputError: its files are missing and cannot be downloaded.
    """

    def read(name: str) -> Pairs:
        languages = source_language, target_language
        local = local_pairs("multi30k", name, *languages)
        return local or read_parallel(*(fetch(_FILES[f"{name}.{language}.gz"]) for language in languages))

    return Corpus("multi30k", read("train"), read("val"), read(test), source_language, target_language)


def files(test: str = _TEST_2016) -> tuple[RemoteFile, ...]:
    """The files that a download fetches, with one of the test sets."""
    return tuple(file for name, file in _FILES.items() if name.startswith(("train.", "val.", f"{test}.")))


ENTRY = CorpusEntry(
    name="multi30k",
    description="29,000 photograph captions, professionally translated; test_2016_flickr is the test set",
    licence=LICENCE,
    homepage=HOMEPAGE,
    languages=("de", "en"),
    pairs={"train": 29000, "validation": 1014, "test": 1000},
    files=files,
    read=lambda config: multi30k(config.source_language, config.target_language),
)

ENTRY_2017 = replace(
    ENTRY,
    name="multi30k-2017",
    description="Multi30k with the test set of 2017, test_2017_flickr, for `bytenet evaluate --corpus`",
    files=lambda: files(_TEST_2017),
    read=lambda config: replace(
        multi30k(config.source_language, config.target_language, _TEST_2017), name="multi30k-2017"
    ),
)
