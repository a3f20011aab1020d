"""Fixture for a settings file."""

from pathlib import Path

import pytest


@pytest.fixture
def yaml_file(tmp_path, monkeypatch):
    """A function that writes my.yaml into the working folder and returns its name."""
    monkeypatch.chdir(tmp_path)

    def write(text: str) -> str:
        Path("my.yaml").write_text(text, encoding="utf-8")
        return "my.yaml"

    return write
