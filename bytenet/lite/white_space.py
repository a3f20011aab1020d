"""Blank lines, and white space that a model does not know, without NumPy."""

import unicodedata
from collections.abc import Container, Iterable


def is_blank(text: str) -> bool:
    """Whether a text shows nothing: it is empty or has only blanks and characters without width."""
    return all(character.isspace() or unicodedata.category(character) == "Cf" for character in text)


def readable(text: str, known: Container[str]) -> str:
    """What a trained model reads of a text: nothing if it is blank, and a blank for each `unknown_white_space`.

    An unknown symbol in its place would join two words. Vocabularies do not do this: the ids of training texts stay.

    Args:
        text: any line.
        known: the characters that the model knows, in NFC.
    """
    if is_blank(text):
        return ""
    return text.translate(dict.fromkeys(map(ord, unknown_white_space(text, known)), " "))


def unknown_white_space(characters: Iterable[str], known: Container[str]) -> set[str]:
    """The white space among some characters that a model does not know. Empty if it does not know the blank either.

    Args:
        characters: any characters.
        known: the characters that the model knows, in NFC.
    """
    if " " not in known:
        return set()
    spaces = {character for character in characters if character.isspace()}
    return {character for character in spaces if unicodedata.normalize("NFC", character) not in known}
