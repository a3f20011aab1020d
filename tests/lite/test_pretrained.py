"""Pretrained models are found by name, also without the rest of the package."""

import pytest

from bytenet.errors import MissingFileError
from bytenet.lite import Translator
from bytenet.lite.__main__ import main
from bytenet.lite.pretrained import is_pretrained, pretrained_names, pretrained_path

pytestmark = pytest.mark.usefixtures("shipped")


def test_names_are_those_of_the_files(model_path):
    assert pretrained_names() == ["de-en"]
    assert pretrained_path("de-en") == model_path
    for wrong in ("en", "../de-en", "de-en.bytenet", ""):
        with pytest.raises(MissingFileError, match="The pretrained models are de-en"):
            pretrained_path(wrong)


def test_a_translator_has_the_model_of_the_name(lite, lines):
    assert [*Translator.from_pretrained("de-en").translate(lines)] == [*lite.translate(lines)]


def test_files_and_runs_of_that_name_come_first(tmp_path):
    assert is_pretrained("de-en")
    folder = tmp_path / "de-en"
    folder.mkdir()
    assert is_pretrained("de-en")
    (folder / "config.yaml").touch()
    assert not is_pretrained("de-en")
    (folder / "config.yaml").unlink()
    folder.rmdir()
    folder.touch()
    assert not is_pretrained("de-en")
    assert not is_pretrained("./de-en")


def test_the_command_takes_a_name(tmp_path, lite, capfdbinary):
    (tmp_path / "in").write_bytes(b"ein\n")
    assert main(["de-en", "in"]) == 0
    assert capfdbinary.readouterr().out.decode() == f"{next(lite.translate(['ein']))[0].text}\n"
    assert main(["de-xx", "in"]) == 1
    assert b"The pretrained models are de-en" in capfdbinary.readouterr().err
