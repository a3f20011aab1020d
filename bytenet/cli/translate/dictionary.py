"""The dictionary for the replacement of unknown characters."""

from collections.abc import Mapping
from pathlib import Path


def read_dictionary(path: Path | None) -> Mapping[str, str] | None:
    """Read a dictionary for the replacement of unknown characters: a line for each entry, "character TAB translation".

    Characters are normalised (NFC), as those of the sentences are.

    Raises:
        InputError: a line has another form.
    """
    if path is None:
        return None
    from bytenet.datasets import read_lines
    from bytenet.datasets.text.normalisation import normalise
    from bytenet.errors import InputError

    entries: dict[str, str] = {}
    for number, line in enumerate(normalise(read_lines(path)), start=1):
        character, tab, translation = line.partition("\t")
        if not tab or len(character) != 1:
            raise InputError(f"{path}:{number}: expected one character, a tab and its translation; found {line!r}.")
        entries[character] = translation
    return entries
