"""Multi30k with captions that are not translated: few pairs, and monolingual text of both languages."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from bytenet.datasets.corpora.entry import CorpusEntry, RemoteFile
from bytenet.datasets.corpora.multi30k import HOMEPAGE, LICENCE, multi30k
from bytenet.datasets.corpora.multi30k import files as files_of_pairs
from bytenet.datasets.corpora.preparation.lookup import fetch
from bytenet.datasets.parallel import Corpus
from bytenet.datasets.text.characters import comparable
from bytenet.datasets.text.text_files import read_lines
from bytenet.errors import InputError

if TYPE_CHECKING:
    from bytenet.config import DataConfig

_URL = "https://raw.githubusercontent.com/multi30k/dataset/master/data/task2/raw/"
# Line i of each file describes image i, and so does pair i of Multi30k's training set. The five German captions of an
# image were written by people who saw the image but no English caption.
_FILES = {
    (language, number): RemoteFile(f"multi30k-task2/{name}", _URL + name, f"sha256:{digest}", size)
    for language, number, size, digest in (
        ("de", 1, 456594, "0002241b52aba5160c08d644ea0d64a9bf46a2dfffcf619c9e3cdaa55b357004"),
        ("de", 2, 496731, "ac7c29258b90aec0b64d677c5bfc831fc402e6296d0aa9cc7a3433ddbff85c37"),
        ("de", 3, 536471, "ec5e6508813814aa31311b34e26e24f903dd7701f8d0668313259b7f975d7aa0"),
        ("de", 4, 598066, "bcee8ac6eb47d8a7dc8cff47d9a0fbd80b4363cfda22021bacd297f9604221a4"),
        ("de", 5, 658679, "dccb0ca6ff25e0b1f0d385f59fb809184e0db89622d88371725e3ec46d43bfc0"),
        ("en", 1, 867789, "a0e057f07a9733199c0d755d77f6d583dc6f40a3180734b1130a216e2fdf3a3b"),
        ("en", 2, 666845, "d79dd70a9eafb2d1fe40151621278c4ae69b3c148c5052a53d7c7a41bf3ba023"),
        ("en", 3, 555423, "86e16fdcc699bcb6bca0f87c3cf1051f7de5ee3674dd588cedc5200194282749"),
        ("en", 4, 465845, "3771b84e010ad6197806d2a1188cb07c12149e3e0d178dd5966dee5763733686"),
        ("en", 5, 375613, "73988689307fe836994eae59735dc840c15da9775455fa76e6ed22606a042a91"),
    )
    for name in (f"train.{number}.{language}.gz",)
}
_THIRDS = ("pairs", "de", "en")


def _read(config: "DataConfig") -> Corpus:
    source, target = config.source_language, config.target_language
    whole = multi30k(source, target)
    images = dict(zip(_THIRDS, _split_images(len(whole.train)), strict=True))
    splits = [pairs for pairs in (whole.train, whole.validation, whole.test) if pairs is not None]

    def captions(side: str, language: str) -> list[str] | None:
        if getattr(config, f"monolingual_{side}") is not None:  # `read_corpus` reads the user's own text
            return None
        in_pairs = (text for pairs in splits for text in getattr(pairs, side))
        return _captions(language, images[language], len(whole.train), in_pairs)

    return Corpus(
        "multi30k-monolingual",
        train=whole.train.take(images["pairs"].tolist()),
        validation=whole.validation,
        test=whole.test,
        source_language=source,
        target_language=target,
        monolingual_source=captions("source", source),
        monolingual_target=captions("target", target),
    )


def _split_images(num_images: int) -> list[np.ndarray]:
    """Three random parts of equal size, always the same, each in the order of the files."""
    return [np.sort(part) for part in np.array_split(np.random.RandomState(0).permutation(num_images), len(_THIRDS))]


def _captions(language: str, images: np.ndarray, num_images: int, excluded: Iterable[str]) -> list[str]:
    """The captions of `images` without the texts of `excluded`. Each text comes once; blanks at its ends do not count.

    Raises:
        InputError: a file is missing and cannot be downloaded, or does not have one line for each of `num_images`
            images.
    """
    excluded_keys = set(comparable(excluded))
    captions: dict[str, str] = {}
    for number in range(1, 6):
        path = fetch(_FILES[language, number])
        lines = read_lines(path)
        if len(lines) != num_images:
            raise InputError(
                f"{path} has {len(lines)} lines, but Multi30k's training set has {num_images} pairs; expected the same "
                "number, as line i of both describes image i. Fetch both again."
            )
        of_images = [lines[image] for image in images]
        for key, line in zip(comparable(of_images), of_images, strict=True):
            captions.setdefault(key, line)
    return [text for key, text in captions.items() if key not in excluded_keys]


ENTRY = CorpusEntry(
    name="multi30k-monolingual",
    description="Multi30k: pairs of a third of the images, untranslated captions of the others, by language",
    licence=LICENCE,
    homepage=HOMEPAGE,
    languages=("de", "en"),
    pairs={"train": 9667, "validation": 1014, "test": 1000},
    files=lambda: (*files_of_pairs(), *_FILES.values()),
    read=_read,
)
