"""`bytenet attention`: a picture and a JSON file for each sentence."""

import json

import numpy as np
import pytest
from click import UsageError

from bytenet.cli.attention import attention
from bytenet.decoding import Translator
from bytenet.errors import InputError


def test_sentences_with_given_translations(attentive_run_folder, invoke, tmp_path):
    (tmp_path / "source").write_text("ein Hund\nHäuser\n", encoding="utf-8")
    (tmp_path / "target").write_text("a dog\nhouses\n", encoding="utf-8")
    result = invoke(
        attention, attentive_run_folder.path, tmp_path / "source", "--target", tmp_path / "target", "--output", tmp_path
    )
    assert result.stdout == f"{tmp_path / '1.png'}\n{tmp_path / '2.png'}\n"
    assert (tmp_path / "2.png").read_bytes().startswith(b"\x89PNG")
    content = json.loads((tmp_path / "2.json").read_text(encoding="utf-8"))
    assert "".join(content["source"]) == "Häuser⏎"
    assert "".join(content["target"]) == "houses⏎"
    layers = np.array(content["layers"])
    assert layers.shape == (2, 2, 7, 7)  # layers, heads, target, source
    np.testing.assert_allclose(layers.sum(axis=-1), 1, atol=1e-3)
    np.testing.assert_allclose(content["alignment"], layers[-1].mean(axis=0), atol=1e-3)


def test_own_translations_in_the_run_folder(attentive_run_folder, invoke):
    result = invoke(attention, attentive_run_folder.path, "--text", "ein Haus", "--text", " ")
    folder = attentive_run_folder.path / "attention"
    assert result.stdout == f"{folder / '1.png'}\n"
    assert json.loads((folder / "1.json").read_text(encoding="utf-8"))["source"][-1] == "⏎"


def test_model_without_attention_is_refused(run_folder, invoke):
    with pytest.raises(InputError, match="has no attention to draw"):
        invoke(attention, run_folder.path, "--text", "ein Haus")


def test_a_model_file_needs_a_folder_for_the_pictures(attentive_run_folder, invoke, tmp_path):
    path = tmp_path / "de-en.bytenet"
    Translator.from_run(attentive_run_folder).export(path, engines="full")
    result = invoke(attention, path, "--text", "ein Haus")
    assert result.exit_code == UsageError.exit_code
    assert "--output" in result.stderr
    assert invoke(attention, path, "--text", "ein Haus", "--output", tmp_path / "out").exit_code == 0
    assert (tmp_path / "out" / "1.png").exists()


@pytest.mark.parametrize("arguments", [[], ["file", "--text", "a"], ["--text", "a", "--target", "file"]])
def test_wrong_combinations_are_refused(run_folder, invoke, arguments):
    result = invoke(attention, run_folder.path, *arguments)
    assert result.exit_code == UsageError.exit_code
