"""Synthetic pairs: text of the target language and its translations into the source language."""

import hashlib
import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bytenet.datasets import Pairs
from bytenet.datasets.text.pair_faults import MAX_RATIO, too_uneven
from bytenet.decoding.translator import Translator
from bytenet.errors import InputError
from bytenet.files import append_text, write_text_atomic
from bytenet.lite.white_space import is_blank


@dataclass(frozen=True)
class BackTranslation:
    """Synthetic pairs, and how many more there could have been.

    Attributes:
        pairs: sources that a model wrote, and targets that are real.
        num_unended: number of texts that are left out because their translation reached the length limit or is blank.
        num_uneven: number of texts that are left out because the lengths of the two sides differ too much.
    """

    pairs: Pairs
    num_unended: int
    num_uneven: int


class SavedTranslations:
    """The translations so far, in a file, so that an interrupted back-translation can go on.

    The first line of the file is a digest of all that the translations depend on. Each other line has the translation
    of a text, in the order of the texts.

    Args:
        path: of the file. Its folder must exist.
        weights: paths of the weights of the model, and of the one that reranks, if there is one.
        translator: of the model.
        texts: that are translated.

    Raises:
        InputError: the file is there, but for another model, another search or other texts; or it is damaged.

    Attributes:
        translations: texts, and whether they have an end.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        weights: Sequence[str | os.PathLike[str]],
        translator: Translator,
        texts: Sequence[str],
    ):
        self._path = Path(path)
        digest = hashlib.sha256()
        for path_of_weights in weights:
            digest.update(Path(path_of_weights).read_bytes())
        digest.update(json.dumps([*_search_of(translator), list(texts)]).encode())
        first = digest.hexdigest()
        # Text after the last line end is an incomplete line; it is dropped.
        try:
            lines = self._path.read_text("utf-8").split("\n")[:-1] if self._path.exists() else [first]
        except UnicodeDecodeError as error:
            raise InputError(f"{path} is damaged. Delete it.") from error
        if lines[:1] != [first]:
            raise InputError(
                f"{path} has the translations of an unfinished command with another model, another search or other "
                "texts. Run that command again, give another folder, or delete the file."
            )
        try:
            self.translations = [(str(text), bool(ended)) for text, ended in map(json.loads, lines[1:])]
        except (ValueError, TypeError) as error:
            raise InputError(f"{path} is damaged. Delete it.") from error
        write_text_atomic(self._path, "".join(f"{line}\n" for line in lines))

    def add(self, text: str, ended: bool) -> None:
        """Save the translation of the next text."""
        append_text(self._path, f"{json.dumps([text, ended])}\n")
        self.translations.append((text, ended))

    def remove(self) -> None:
        """Remove the file."""
        self._path.unlink(missing_ok=True)


def _search_of(translator: Translator) -> list[Any]:
    """All that the translations depend on, besides the models and the texts."""
    search = {name: value for name, value in translator.decoding.in_use.items() if name != "batch_size"}
    dictionary = translator.finisher.dictionary
    return [search, dictionary and dict(dictionary), list(translator.batch_search.forbidden_ids)]


def back_translate(
    translator: Translator,
    texts: Sequence[str],
    saved: SavedTranslations,
    max_ratio: float = MAX_RATIO,
    progress: Callable[[int], None] | None = None,
) -> BackTranslation:
    """Translate text of the target language, for the training of a model that writes it (Sennrich et al., 2016).

    Args:
        translator: from the target language to the source language.
        texts: of the target language, not blank.
        saved: translations of the first texts. The others are added to them.
        max_ratio: most characters of the longer side for one of the shorter side, see `too_uneven`.
        progress: called with the number of finished texts.

    Raises:
        InputError: see `Translator.translate`.
    """
    for best, *_ in translator.translate(texts[len(saved.translations) :], split_sentences=False):
        saved.add(best.text, best.ended)
        if progress is not None:
            progress(len(saved.translations))
    sources, targets, num_unended, num_uneven = [], [], 0, 0
    for text, (translation, ended) in zip(texts, saved.translations, strict=True):
        shorter, longer = sorted((len(translation), len(text)))
        if not ended or is_blank(translation):
            num_unended += 1
        elif too_uneven(shorter, longer, max_ratio):
            num_uneven += 1
        else:
            sources.append(translation)
            targets.append(text)
    return BackTranslation(Pairs(sources, targets), num_unended, num_uneven)
