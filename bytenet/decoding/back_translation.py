"""Synthetic pairs: text of the target language and its translations into the source language."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from bytenet.datasets import Pairs
from bytenet.datasets.shards.sharding.filters import MAX_RATIO, too_uneven
from bytenet.datasets.text.characters import is_blank
from bytenet.decoding.translator import Translator


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


def back_translate(
    translator: Translator,
    texts: Sequence[str],
    max_ratio: float = MAX_RATIO,
    progress: Callable[[int], None] | None = None,
) -> BackTranslation:
    """Translate text of the target language, for the training of a model that writes it (Sennrich et al., 2016).

    Args:
        translator: from the target language to the source language.
        texts: of the target language, not blank.
        max_ratio: most characters of the longer side for each one of the shorter side. Pairs whose longer side has less
            than 20 characters may have any ratio.
        progress: called with the number of finished texts.

    Raises:
        InputError: see `Translator.translate`.
    """
    sources, targets, num_unended, num_uneven = [], [], 0, 0
    translations = translator.translate(texts, split_sentences=False)
    for number, (text, hypotheses) in enumerate(zip(texts, translations, strict=True), start=1):
        best = hypotheses[0]
        shorter, longer = sorted((len(best.text), len(text)))
        if not best.ended or is_blank(best.text):
            num_unended += 1
        elif too_uneven(shorter, longer, max_ratio):
            num_uneven += 1
        else:
            sources.append(best.text)
            targets.append(text)
        if progress is not None:
            progress(number)
    return BackTranslation(Pairs(sources, targets), num_unended, num_uneven)
