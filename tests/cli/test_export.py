"""`bytenet export`, and `bytenet translate` with what it wrote."""

import json
import re
import shutil
from dataclasses import replace

import pytest
import tensorflow as tf

from bytenet.cli.export import export
from bytenet.cli.translate import translate
from bytenet.decoding.export.card import _without_paths, model_card
from bytenet.errors import InputError, MissingFileError
from bytenet.model_file import ModelFile
from bytenet.run_folder import RunFolder

TEXT = "ein Hund\n\nzwei Häuser\n".encode()


@pytest.fixture(scope="module")
def model_path(run_folder, tmp_path_factory):
    from click.testing import CliRunner

    path = tmp_path_factory.mktemp("export") / "de-en.bytenet"
    result = CliRunner().invoke(export, [str(run_folder.path), str(path), "--min-length", "4"])
    assert result.exit_code == 0, result.output
    assert f"Wrote {path}: 0." in result.stderr
    assert "Converting " in result.stderr
    assert result.stdout == ""
    return path


@pytest.mark.parametrize("engine", ["full", "lite"])
def test_file_translates_with_either_engine_as_the_run_does(engine, model_path, run_folder, invoke):
    expected = invoke(translate, run_folder.path, "--min-length", 4, "--n-best", 2, "--no-xla", stdin=TEXT)
    xla = ["--no-xla"] if engine == "full" else []
    result = invoke(translate, model_path, "--engine", engine, "--n-best", 2, *xla, stdin=TEXT)
    assert [line.split("\t")[::2] for line in result.stdout.split("\n")] == [
        line.split("\t")[::2] for line in expected.stdout.split("\n")
    ]
    assert "Translated 3 lines" in result.stderr
    assert f"({'TensorFlow' if engine == 'full' else 'LiteRT'}, beam size 3)" in result.stderr


@pytest.mark.parametrize("engine", ["full", "lite"])
def test_a_message_names_the_characters_that_the_model_cannot_translate(model_path, invoke, engine):
    message = "Characters that the model does not know, in 1 line: '☃' (U+2603).\n"
    assert invoke(translate, model_path, "--engine", engine, stdin="ein ☃\nein\n".encode()).stderr.endswith(message)
    assert "does not know" not in invoke(translate, model_path, "--engine", engine, stdin=TEXT).stderr


def test_card_tells_where_the_model_comes_from(model_path, run_folder, invoke, tmp_path):
    card = ModelFile(model_path).card
    assert card.startswith("# bytenet: de to en\n")
    assert "- corpus: text files of the user" in card
    assert "- licence: not stated" in card
    assert str(run_folder.path.parent) not in card
    (tmp_path / "card.md").write_text("# Mine: ü\n", encoding="utf-8")
    invoke(export, model_path, tmp_path / "own.bytenet", "--engine", "full", "--card", tmp_path / "card.md")
    assert ModelFile(tmp_path / "own.bytenet").card == "# Mine: ü\n"
    with pytest.raises(MissingFileError, match="Give --card the path"):
        invoke(export, model_path, tmp_path / "no.bytenet", "--card", tmp_path / "none.md")
    (tmp_path / "card.md").write_bytes(b"\xff")
    with pytest.raises(InputError, match="not UTF-8 at byte 0"):
        invoke(export, model_path, tmp_path / "no.bytenet", "--card", tmp_path / "card.md")
    with pytest.raises(InputError, match=r"/dev/zero is larger than .* bytes, so it is not the text of a card"):
        invoke(export, model_path, tmp_path / "no.bytenet", "--card", "/dev/zero")


def test_card_of_a_generated_corpus_has_its_licence(run_folder, invoke, tmp_path):
    run = RunFolder.open(shutil.copytree(run_folder.path, tmp_path / "run"))
    run.config_path.write_text(replace_corpus(run, "numbers").to_yaml(), encoding="utf-8")
    invoke(export, run.path, tmp_path / "numbers.bytenet", "--engine", "full")
    assert ModelFile(tmp_path / "numbers.bytenet").facts["licence"] == "generated"


def test_a_path_that_cannot_be_written_is_refused_before_the_work(run_folder, invoke, tmp_path, monkeypatch):
    monkeypatch.setattr("bytenet.decoding.export.export_model_file", None)  # not called
    with pytest.raises(MissingFileError, match=r"there is no folder .*nowhere\. Make it\."):
        invoke(export, run_folder.path, tmp_path / "nowhere" / "model.bytenet")
    (tmp_path / "folder.bytenet").mkdir()
    with pytest.raises(InputError, match="is a folder; expected the path of a file"):
        invoke(export, run_folder.path, tmp_path / "folder.bytenet")


def test_a_model_file_needs_its_extension(run_folder, invoke, tmp_path):
    with pytest.raises(InputError, match=r"does not end in \.bytenet, so no command would take it for a model"):
        invoke(export, run_folder.path, tmp_path / "de-en.model", "--format", "bytenet")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        ("mine.yaml --run secret --set data.train_source=secret.de", "mine.yaml --run ... --set data.train_source=..."),
        ("mine.yaml --run=secret --set=training.seed=2", "mine.yaml --run=... --set=training.seed=2"),
        ("mine.yaml --set=data.train_source=secret.de", "mine.yaml --set=data.train_source=..."),
        ("mine.yaml --set training.start=de-en", "mine.yaml --set training.start=de-en"),
        ("mine.yaml --set training.start=secret", "mine.yaml --set training.start=..."),
    ],
)
def test_card_does_not_name_folders_or_own_files(words, shown):
    assert _without_paths(f"/bin/bytenet train {words}") == f"bytenet train {shown}"


@pytest.mark.parametrize("command", ["", "bytenet train 'x"])
def test_command_that_cannot_be_split_is_refused(command):
    with pytest.raises(InputError, match=r"environment\.json of the run is damaged"):
        _without_paths(command)


def test_card_has_scores_licence_and_command_of_the_run(evaluated_run, invoke, tmp_path, monkeypatch):
    folder, _ = evaluated_run
    run = RunFolder.open(shutil.copytree(folder.path, tmp_path / "run"))
    run.config_path.write_text(replace_corpus(run, "tatoeba").to_yaml(), encoding="utf-8")
    environment = {
        "commands": [
            "/bin/bytenet train tatoeba.yaml --set training.epochs=2 --run /home/me/run",
            "/bin/bytenet train tatoeba.yaml --run /home/me/run --resume",
            "/bin/bytenet train tatoeba.yaml --run /home/me/run --resume",
        ],
        "trainable_parameters": 12345, "git_commit": "abc", "vocabulary": run.vocabulary.fingerprint(),
    }  # fmt: skip
    run.environment_path.write_text(json.dumps(environment), encoding="utf-8")
    (tmp_path / "card.md").write_text("# Mine\n\n{facts}\n\nBad at numbers.\n", encoding="utf-8")
    options = ("--engine", "full", "--precision", "float16", "--card", tmp_path / "card.md")
    invoke(export, run.path, tmp_path / "de-en.bytenet", *options)
    model = ModelFile(tmp_path / "de-en.bytenet")
    assert model.card.startswith("# Mine\n\n- languages: de to en\n- corpus: tatoeba, ")
    assert model.card.endswith("\n\nBad at numbers.\n")
    facts = model.facts
    assert facts["licence"] == "CC BY 2.0, attribution: www.manythings.org/anki and tatoeba.org"
    assert re.fullmatch(
        r"BLEU [\d.]+ \([\d.]+ to [\d.]+\), chrF2 [\d.]+ \(.*\); 4 sentences, beam of 3", facts["scores on test"]
    )
    assert facts["precision"] == "float16; the scores are those of the weights before they were rounded"
    assert facts["training"] == (
        "`bytenet train tatoeba.yaml --set training.epochs=2 --run ...`, then "
        "`bytenet train tatoeba.yaml --run ... --resume`"
    )
    assert (facts["trainable parameters"], facts["commit of the training"]) == ("12,345", "abc")
    assert model.config.data.max_length == 77
    again = model_card(model, "int8")
    assert again == model.card.replace("float16;", "int8;")
    assert model_card(model) == model.card
    monkeypatch.setattr(ModelFile, "card", "- size: big\n\n- languages: de to en\n- scores: 1\n\nThe end.\n")
    assert model_card(model, "int8").startswith("- size: big\n\n- languages: de to en\n- scores: 1\n- precision: int8;")
    monkeypatch.undo()
    evaluation_path = run.evaluation / "test.json"
    evaluation = json.loads(evaluation_path.read_text(encoding="utf-8"))
    evaluation["settings"]["rerank_with"] = "/home/me/en-de"
    evaluation_path.write_text(json.dumps(evaluation), encoding="utf-8")
    assert "; 4 sentences, beam of 3 reranked with en-de\n" in model_card(run)
    for settings, shown in (
        ({"samples": 1}, "one random sample"),
        ({"samples": 8, "mbr": True}, "the best of 8 random samples by minimum Bayes risk"),
    ):
        evaluation_path.write_text(json.dumps(evaluation | {"settings": settings}), encoding="utf-8")
        assert f"; 4 sentences, {shown}\n" in model_card(run)
    evaluation_path.write_text(json.dumps(evaluation | {"model_sha256": "of an earlier model"}), encoding="utf-8")
    assert "scores on" not in model_card(run)


def replace_corpus(run, name):
    """The configuration of a run, with a corpus of the registry instead of files."""
    files = {f"{split}_{side}": None for split in ("train", "test") for side in ("source", "target")}
    return replace(run.config, data=replace(run.config.data, corpus=name, max_length=77, **files))


def test_message_says_that_a_file_was_replaced(run_folder, invoke, tmp_path):
    (tmp_path / "a.bytenet").write_text("earlier")
    assert "Replaced" in invoke(export, run_folder.path, tmp_path / "a.bytenet", "--engine", "full").stderr


@pytest.mark.thorough
def test_saved_model_is_the_format_of_a_folder(run_folder, invoke, tmp_path):
    invoke(export, run_folder.path, tmp_path / "saved", "--beam-size", 1)
    signature = tf.saved_model.load(tmp_path / "saved").signatures["serving_default"]
    lines = TEXT.decode().split("\n")[:-1]
    result = [text.decode() for text in signature(text=tf.constant(lines))["translation"].numpy()]
    expected = invoke(translate, run_folder.path, "--beam-size", 1, "--no-xla", stdin=TEXT).stdout
    assert "".join(f"{line}\n" for line in result) == expected


@pytest.mark.parametrize(
    ("out", "options", "message"),
    [
        ("saved", ["--precision", "float16"], "precision is float16, but a SavedModel"),
        ("saved", ["--engine", "lite"], "(--engine) is for .bytenet files"),
        ("a.tflite", ["--xla"], "(--xla) is for SavedModels"),
        ("a.bytenet", ["--xla"], "(--xla) is for SavedModels"),
        ("a.bytenet", ["--format", "onnx"], "'onnx' is not one of"),
    ],
)
def test_wrong_use_exits_with_code_2(out, options, message, run_folder, invoke, tmp_path):
    result = invoke(export, run_folder.path, tmp_path / out, *options)
    assert result.exit_code == 2
    assert message in result.stderr
    assert list(tmp_path.iterdir()) == []


def test_lite_engine_takes_one_file_and_no_other_options(model_path, run_folder, invoke):
    for arguments, message in (
        ([model_path, "--beam-size", 2], "leave out --engine lite"),
        ([model_path, "--window", 5], "leave out --engine lite"),
        ([run_folder.path], "--engine lite takes one .bytenet file"),
    ):
        wrong = invoke(translate, *arguments, "--engine", "lite", stdin=TEXT)
        assert wrong.exit_code == 2
        assert message in wrong.stderr
    refused = invoke(translate, model_path, "--engine", "lite", "--samples", 1, stdin=TEXT)
    assert "leave out --engine lite" in refused.stderr
    assert "(TensorFlow, number of samples 1)" in invoke(translate, model_path, "--samples", 1, stdin=TEXT).stderr


def test_more_translations_than_the_beam_of_an_export_need_another_beam(model_path, run_folder, invoke, tmp_path):
    alone = tmp_path / "lite.bytenet"
    invoke(export, run_folder.path, alone, "--engine", "lite")
    for path, advice in (
        (model_path, "Give --beam-size 4, without --engine lite."),
        (alone, "Export the model again with --beam-size 4."),
    ):
        refused = invoke(translate, path, "--engine", "lite", "--n-best", 4, stdin=TEXT)
        assert refused.exit_code == 2
        assert f"--n-best 4 is more than 3, the beam size of the export. {advice}" in refused.stderr


def test_unusable_paths_are_named(run_folder, invoke, tmp_path):
    with pytest.raises(InputError, match=r"ends in '\.zip'"):
        invoke(export, run_folder.path, tmp_path / "a.zip")
    with pytest.raises(MissingFileError, match="expected the folder of a run"):
        invoke(export, tmp_path / "none", tmp_path / "a.bytenet")
    (tmp_path / "text.bytenet").write_text("text")
    with pytest.raises(InputError, match="is not a model file, or is damaged"):
        invoke(translate, tmp_path / "text.bytenet", stdin=TEXT)
