"""What models are, in words: their cards, and the list of the pretrained models."""

import os
import re

from bytenet.lite.archive import CARD, SETTINGS, Archive
from bytenet.lite.languages import languages_of
from bytenet.lite.pretrained import model_path, pretrained_path

_FACT = re.compile(r"^- ([^:\n]+): (.+)$", re.MULTILINE)


def read_card(model: str | os.PathLike[str]) -> str:
    """The card of a `.bytenet` file, or of a pretrained model by its name: a text for people, Markdown.

    Raises:
        MissingFileError: it is neither a file nor a name.
        InputError: the file is damaged or something else.
    """
    return card_of(Archive(model_path(model)))


def card_of(archive: Archive) -> str:
    """The card of an open file."""
    return archive.read_small(CARD).decode("utf-8", "replace")


def facts_of(card: str) -> dict[str, str]:
    """The lines "- name: value" of a card."""
    return dict(_FACT.findall(card))


def summary(name: str) -> str:
    """A pretrained model in some lines: its name, languages and size; and from its card, licence and scores.

    Raises:
        MissingFileError: there is no model of that name.
        InputError: its file is damaged.
    """
    archive = Archive(pretrained_path(name))
    source, target = languages_of(archive.read_json(SETTINGS), archive.path)
    size = archive.path.stat().st_size
    facts = facts_of(card_of(archive))
    shown = [f"  {key}: {value}" for key, value in facts.items() if key == "licence" or key.startswith("scores")]
    return "\n".join([f"{name}: {source} to {target}, {size / 1e6:.1f} MB", *shown])
