"""`bytenet models`, and commands that are given the name of a pretrained model."""

import json
import shutil
import sys

import pytest

from bytenet.cli.models import models
from bytenet.cli.serve import serve
from bytenet.cli.translate import translate
from bytenet.decoding import Translator
from bytenet.errors import InputError, MissingFileError
from bytenet.trained_model import find_model, open_model

TEXT = "ein Hund\n\nzwei Häuser\n".encode()


def test_the_list_has_languages_size_scores_and_licence(shipped, invoke):
    size = shipped.stat().st_size
    assert invoke(models).stdout == (
        f"de-en: de to en, {size / 1e6:.1f} MB\n  licence: CC0\n  scores on test: BLEU 1.5 (1.0 to 2.0); 4 sentences\n"
    )
    [entry] = json.loads(invoke(models, "--json").stdout)
    assert (entry["name"], entry["bytes"], entry["facts"]["alphabet"]) == ("de-en", size, "20 characters")


@pytest.mark.parametrize("name", ["de-en", "path"])
def test_the_card_of_a_name_or_a_file_is_shown(name, shipped, invoke):
    model = shipped if name == "path" else name
    assert invoke(models, model).stdout.startswith("# A model\n\n- licence: CC0\n")
    assert json.loads(invoke(models, model, "--json").stdout)["card"].startswith("# A model\n")


def test_without_models_the_list_is_empty_and_says_so(nothing_shipped, invoke):
    result = invoke(models)
    assert (result.exit_code, result.stdout) == (0, "")
    assert "This version of bytenet has no pretrained model." in result.stderr
    assert json.loads(invoke(models, "--json").stdout) == []
    with pytest.raises(MissingFileError, match=r"pretrained model named 'de-en'\. .*: train one"):
        invoke(models, "de-en")


def test_an_unknown_name_gives_the_names_that_exist(shipped, invoke):
    with pytest.raises(
        MissingFileError,
        match=r"pretrained model named 'de-ne'\. .*Did you mean de-en\? The pretrained models are de-en\.",
    ):
        invoke(models, "de-ne")
    with pytest.raises(
        MissingFileError, match=r"xx does not exist; expected the folder of a run.*The pretrained models are de-en\."
    ):
        invoke(translate, "xx", stdin=TEXT)


def test_a_name_translates_with_litert_and_as_the_file_does(shipped, invoke):
    result = invoke(translate, "de-en", stdin=TEXT)
    assert "(LiteRT, beam size 3)" in result.stderr
    assert result.stdout == invoke(translate, shipped, stdin=TEXT).stdout
    best = [best.text for best, *_ in Translator.from_pretrained("de-en").translate(["ein Hund", "", "zwei Häuser"])]
    assert result.stdout.split("\n") == [*best, ""]


@pytest.mark.parametrize("options", [["--beam-size", "2"], ["--engine", "full"], ["--window", "7"]])
def test_tensorflow_translates_where_litert_cannot(options, shipped, invoke):
    said = invoke(translate, "de-en", *options, stdin=b"ein\n").stderr
    assert "(TensorFlow, beam size" in said
    assert said.startswith(f"Loading TensorFlow, because {options[0]} is given.") is (options[0] != "--engine")


def test_litert_ranks_with_a_model_that_it_can_score_with(shipped, run_folder, invoke, tmp_path):
    backward = Translator.from_run(run_folder.path)
    for engines in ("both", "full"):
        backward.export(tmp_path / f"{engines}.bytenet", engines=engines, languages=("en", "de"))
        result = invoke(translate, "de-en", "--rerank-with", tmp_path / f"{engines}.bytenet", stdin=TEXT)
        assert f"({'LiteRT' if engines == 'both' else 'TensorFlow'}, beam size 3)" in result.stderr
        texts = result.stdout
        expected = Translator.from_pretrained("de-en", rerank_with=str(tmp_path / f"{engines}.bytenet"))
        assert texts.splitlines() == [best.text for best, *_ in expected.translate(TEXT.decode().splitlines())]
    assert invoke(translate, "de-en", "--engine", "lite", "--rerank-with", run_folder.path, stdin=TEXT).exit_code == 2


def test_tensorflow_translates_long_files_and_without_litert(shipped, invoke, tmp_path, monkeypatch):
    (tmp_path / "short").write_text("ein\n")
    (tmp_path / "long").write_text("\n" * 201)
    assert "Translated 1 line in" in invoke(translate, "de-en", tmp_path / "short").stderr
    assert "(TensorFlow," in invoke(translate, "de-en", tmp_path / "long").stderr
    monkeypatch.setattr("bytenet.model_file.find_spec", lambda name: None)
    assert "(TensorFlow," in invoke(translate, "de-en", tmp_path / "short").stderr


def test_tensorflow_translates_a_long_file_that_is_standard_input(shipped, tmp_path, monkeypatch, capsys):
    (tmp_path / "text").write_text("\n" * 201)
    for skipped, engine in ((0, "TensorFlow"), (1, "LiteRT")):
        with open(tmp_path / "text") as stdin:
            stdin.seek(skipped)
            monkeypatch.setattr(sys, "stdin", stdin)
            translate.main(["de-en"], standalone_mode=False)
        message = capsys.readouterr().err
        assert f"Translated {201 - skipped} lines" in message
        assert f"({engine}," in message
        assert "FILE" not in message


def test_a_long_pipe_is_translated_with_litert_and_a_message_names_what_is_faster(
    shipped, run_folder, invoke, tmp_path
):
    message = "The input has more than 200 lines, and LiteRT translates them."
    result = invoke(translate, "de-en", stdin=b"\n" * 300)
    assert "(LiteRT," in result.stderr
    assert result.stderr.count(message) == 1
    assert "give a FILE, or --engine full." in result.stderr
    Translator.from_run(run_folder.path).export(tmp_path / "lite.bytenet", engines="lite", languages=("de", "en"))
    for arguments, num_lines in ((["de-en"], 200), (["de-en", "--engine", "lite"], 300), (["lite.bytenet"], 300)):
        assert message not in invoke(translate, *arguments, stdin=b"\n" * num_lines).stderr


def test_the_folder_of_a_run_comes_before_the_pretrained_model(shipped, run_folder, tmp_path):
    (tmp_path / "de-en").mkdir()
    assert find_model("de-en") == shipped  # the folder is no run
    shutil.copytree(run_folder.path, tmp_path / "de-en", dirs_exist_ok=True)
    assert open_model("de-en").path.resolve() == (tmp_path / "de-en").resolve()


def test_a_file_of_that_name_is_translated(shipped, invoke, tmp_path):
    (tmp_path / "de-en").write_text("ein\n\n")
    assert "Translated 2 lines" in invoke(translate, shipped, "de-en").stderr


def test_the_server_takes_a_name(shipped, invoke, monkeypatch):
    arguments = []
    monkeypatch.setattr("bytenet.serving.server.serve", lambda engines, *given: arguments.extend(engines))
    result = invoke(serve, "de-en", "--engine", "lite")
    assert "de-en translates de to en." in result.stderr
    assert arguments[0].max_sentence_chars == 40


def test_lines_are_split_into_sentences_and_put_together_again(shipped, invoke):
    text = "ein Hund. Zwei Häuser!\n\n  drei\n".encode()
    result = invoke(translate, "de-en", stdin=text)
    parts = invoke(translate, "de-en", "--no-split", stdin="ein Hund.\nZwei Häuser!\ndrei\n".encode()).stdout.split(
        "\n"
    )
    assert result.stdout == f"{parts[0]} {parts[1]}\n\n  {parts[2]}\n"
    assert "Translated 3 lines" in result.stderr
    assert "1 line had several sentences; --no-split" in result.stderr
    long = f"{' '.join(['ein Hund'] * 9)}\n".encode()
    assert (
        ". 1 line had a sentence of more than 40 characters; --no-split"
        in invoke(translate, "de-en", stdin=long).stderr
    )
    best = Translator.from_pretrained("de-en").translate(text.decode().splitlines())
    assert result.stdout.splitlines() == [hypotheses[0].text for hypotheses in best]


def test_lines_stay_whole_for_scores_and_for_several_hypotheses(shipped, invoke):
    text = "ein Hund. Zwei Häuser!\n".encode()
    [[whole]] = Translator.from_pretrained("de-en").translate([text.decode().removesuffix("\n")], split_sentences=False)
    assert invoke(translate, "de-en", "--no-split", stdin=text).stdout == f"{whole.text}\n"
    best = invoke(translate, "de-en", "--n-best", 2, stdin=text)
    assert best.stdout.split("\n")[0].endswith(f"\t{whole.text}")
    assert ". 1 line has several sentences and was translated whole, because of --n-best. Give one" in best.stderr
    two = invoke(translate, "de-en", "--n-best", 2, stdin=text * 2 + b"drei\n")
    assert ". 2 lines have several sentences and were translated whole, because" in two.stderr
    for options, lines in (
        (("--n-best", 2), b"drei\n"),
        (("--n-best", 2, "--no-split"), text),
        (("--no-split",), text),
    ):
        assert "several sentences" not in invoke(translate, "de-en", *options, stdin=lines).stderr
    result = invoke(translate, "de-en", "--n-best", 2, "--split", stdin=text)
    assert result.exit_code == 2
    assert "--split gives one translation" in result.stderr


def test_a_damaged_model_is_named(shipped, tmp_path, ship, invoke):
    ship(tmp_path)
    (tmp_path / "de-en.bytenet").write_bytes(shipped.read_bytes()[:-100])
    with pytest.raises(InputError, match=r"de-en\.bytenet is not a model file, or is damaged"):
        invoke(models)
