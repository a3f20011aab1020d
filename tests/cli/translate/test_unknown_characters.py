"""`bytenet translate`: characters that the model does not know, and the dictionary for them."""

import shutil

import numpy as np
import pytest
import yaml

from bytenet.cli.translate import translate
from bytenet.cli.translate.dictionary import read_dictionary
from bytenet.errors import InputError
from bytenet.lite.characters import UNKNOWN_ID
from bytenet.run_folder import RunFolder
from bytenet.saved.keras_model import save_model

from .sample_text import TEXT

pytestmark = pytest.mark.usefixtures("shared_translators")


def test_unknown_characters_are_replaced_by_those_they_attend_to(attentive_run_folder, invoke, tmp_path):
    run = RunFolder(shutil.copytree(attentive_run_folder.path, tmp_path / "run"))
    model = run.load_model()
    [bias] = [weight for weight in model.weights if weight.shape == (run.vocabulary.size,)]
    bias.assign(np.eye(run.vocabulary.size)[UNKNOWN_ID] * 100)  # the model writes nothing but unknown symbols
    save_model(model, run.model_path)
    (tmp_path / "dictionary").write_text("☃\tsnowman\n", encoding="utf-8")
    options = ("--replace-unknown", "--dictionary", tmp_path / "dictionary", "--min-length", 4, "--max-length", 4)
    result = invoke(translate, run.path, *options, stdin="☃☃☃\n".encode())
    assert result.stdout_bytes.decode() == "snowman" * 4 + "\n"
    assert "does not know" not in result.stderr


def test_option_turns_off_the_replacement_of_the_run(attentive_run_folder, invoke, tmp_path):
    run = RunFolder(shutil.copytree(attentive_run_folder.path, tmp_path / "run"))
    settings = yaml.safe_load(run.config_path.read_text(encoding="utf-8"))
    settings["decoding"]["replace_unknown"] = True
    run.config_path.write_text(yaml.safe_dump(settings), encoding="utf-8")
    replacing, copying = (
        invoke(translate, run.path, *options, stdin="☃\n".encode()) for options in ((), ("--no-replace-unknown",))
    )
    assert "does not know" not in replacing.stderr
    assert "does not know" in copying.stderr


def test_model_without_attention_cannot_replace_unknown_characters(run_folder, invoke):
    with pytest.raises(InputError, match="bytenet has no attention"):
        invoke(translate, run_folder.path, "--replace-unknown", stdin=TEXT)


def test_characters_of_a_dictionary_are_composed(tmp_path):
    (tmp_path / "dictionary").write_text("u\u0308\tue\n", encoding="utf-8")
    assert read_dictionary(tmp_path / "dictionary") == {"\u00fc": "ue"}


def test_dictionary_needs_the_replacement(attentive_run_folder, invoke, tmp_path):
    (tmp_path / "dictionary").write_text("a\tb\n", encoding="utf-8")
    result = invoke(translate, attentive_run_folder.path, "--dictionary", tmp_path / "dictionary", stdin=TEXT)
    assert (result.exit_code, result.stdout_bytes) == (2, b"")
    assert "--dictionary needs --replace-unknown" in result.stderr


@pytest.mark.parametrize("line", ["word", "word\tWort", "\tb"])
def test_dictionary_of_another_form_is_refused(attentive_run_folder, invoke, tmp_path, line):
    (tmp_path / "dictionary").write_text(f"a\tb\n{line}\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"dictionary:2: expected one character, a tab"):
        invoke(translate, attentive_run_folder.path, "--dictionary", tmp_path / "dictionary", stdin=TEXT)
