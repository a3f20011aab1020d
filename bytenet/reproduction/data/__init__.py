"""What is known of the thesis: its conclusions, its differences from the code, and its numbers, as YAML and CSV."""

from importlib import resources


def read_data(name: str) -> str:
    """The text of a file of this folder."""
    return (resources.files(__name__) / name).read_text(encoding="utf-8")
