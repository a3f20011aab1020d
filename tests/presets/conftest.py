"""A corpus of own files in the working folder."""

from pathlib import Path

import pytest


@pytest.fixture
def nine_thousand_pairs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("de").write_text("ein Hund\n" * 9000)
    Path("en").write_text("a dog\n" * 9000)
