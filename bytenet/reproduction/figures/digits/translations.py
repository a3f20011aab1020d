"""Translations of the test set of Synthetic Digits."""

from bytenet.datasets import Pairs
from bytenet.run_folder import RunFolder


def test_pairs(count: int) -> Pairs:
    """The first pairs of the test set."""
    from bytenet.datasets.corpora.digits import digits

    return digits(seed=11, size=count)


def translate(folder: RunFolder, sources: list[str]) -> list[str]:
    """The best translations, with a beam of 10 as in the thesis."""
    from bytenet.decoding import Translator

    # No maximum length is needed: with the thesis's settings, an output is never longer than its padded source.
    translator = Translator.from_run(folder, beam_size=10, length_penalty=0.0)
    return [translations[0].text for translations in translator.translate(sources, split_sentences=False)]
