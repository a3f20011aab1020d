"""What is known of the thesis: its conclusions, its differences from the code, and its numbers, as YAML and CSV."""

from functools import cache
from importlib import resources
from typing import Any

import yaml


def read_data(name: str) -> str:
    """The text of a file of this folder."""
    return (resources.files(__name__) / name).read_text(encoding="utf-8")


def thesis_numbers(section: str) -> Any:
    """Numbers that the thesis prints or shows.

    Args:
        section: of `thesis_numbers.yaml`, which explains it.

    Raises:
        KeyError: there is no such section.
    """
    return _all_thesis_numbers()[section]


@cache
def _all_thesis_numbers() -> dict[str, Any]:
    return yaml.safe_load(read_data("thesis_numbers.yaml"))
