"""Training, validation and test files cut from corpora, for experiments at less than the thesis's size."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from bytenet.config import load_config
from bytenet.config.settings_text import write_value
from bytenet.datasets import Pairs, read_corpus
from bytenet.files import write_text_atomic


def pairs_of_lengths(pairs: Pairs, min_length: int, max_length: int, count: int | None = None) -> Pairs:
    """The first `count` (None: all) of the pairs with `min_length` to `max_length` characters on both sides."""
    kept = [
        index
        for index, pair in enumerate(zip(pairs.source, pairs.target, strict=True))
        if all(min_length <= len(text) <= max_length for text in pair)
    ]
    return pairs.take(kept[:count])


def joined(parts: Sequence[Pairs]) -> Pairs:
    """Several corpora one after the other."""
    return Pairs([text for part in parts for text in part.source], [text for part in parts for text in part.target])


def shuffled(pairs: Pairs) -> Pairs:
    """The pairs in a random order that is the same each time."""
    return pairs.take(np.random.default_rng(1).permutation(len(pairs)).tolist())


def number_words(num_train: int = 24, num_validation: int = 8) -> tuple[Pairs, Pairs]:
    """Generated training and validation pairs, which replace a corpus in smoke tests."""
    settings = (f"data.num_train={num_train}", f"data.num_validation={num_validation}")
    corpus = read_corpus(load_config("numbers", settings).data)
    if corpus.validation is None:
        raise ValueError("The corpus `numbers` has no validation pairs.")
    return corpus.train, corpus.validation


def as_files(folder: Path, train: Pairs, validation: Pairs) -> list[str]:
    """Save pairs as files and return the settings that name the files.

    Args:
        folder: gets the files.
        train, validation: pairs of the direction that the experiment translates.

    Returns:
        `section.key=value` of `data.corpus` and the four paths.
    """
    return ["data.corpus=files", *as_split(folder, "train", train), *as_split(folder, "validation", validation)]


def as_split(folder: Path, split: str, pairs: Pairs) -> list[str]:
    """Save pairs as two files and return the settings that name them.

    Args:
        folder: gets the files.
        split: "train", "validation", "test" or "synthetic".
        pairs: of the direction that the experiment translates.

    Returns:
        `section.key=value` of the two paths.
    """
    folder.mkdir(parents=True, exist_ok=True)
    settings = []
    for side, texts in (("source", pairs.source), ("target", pairs.target)):
        path = folder / f"{split}.{side}.txt"
        write_text_atomic(path, "".join(f"{text}\n" for text in texts))
        settings.append(f"data.{split}_{side}={write_value(str(path.absolute()))}")
    return settings
