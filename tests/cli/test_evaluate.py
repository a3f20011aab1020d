"""`bytenet evaluate`: scores on stdout and in the run folder."""

import json
import shutil

import pytest

from bytenet.cli.evaluate import evaluate
from bytenet.cli.score import score
from bytenet.datasets import Vocabulary
from bytenet.datasets.corpora import numbers
from bytenet.decoding import Translator
from bytenet.errors import ConfigError, InputError
from bytenet.evaluation import bleu, chrf
from bytenet.run_folder import RunFolder

SCORES = ["BLEU", "chrF2", "length-ratio", "thesis-BLEU", "exact-match", "misclassification", "bits-per-character"]


@pytest.fixture
def run(run_folder, tmp_path):
    """A writable copy of the run."""
    return RunFolder.open(shutil.copytree(run_folder.path, tmp_path / "run"))


def test_scores_are_printed_and_saved_with_the_translations(evaluated_run):
    run, printed = evaluated_run
    lines = printed.splitlines()
    assert [line.split(" ")[0] for line in lines[: len(SCORES)]] == SCORES
    assert all("(4 sentences)" in line for line in lines[: len(SCORES)])

    sources = ["ein Hund", "zwei Hunde", "ein Haus", "drei Häuser"]
    references = ["a dog", "two dogs", "a house", "three houses"]
    expected = [best.text for [best] in Translator.from_run(run).translate(sources)]
    hypotheses = (run.evaluation / "test.hypotheses.txt").read_text(encoding="utf-8")
    assert hypotheses == "".join(f"{text}\n" for text in expected)
    assert lines[len(SCORES) :] == [
        f"ein Hund → {expected[0]}   (reference: a dog)",
        f"zwei Hunde → {expected[1]}   (reference: two dogs)",
        f"ein Haus → {expected[2]}   (reference: a house)",
    ]

    saved = json.loads((run.evaluation / "test.json").read_text(encoding="utf-8"))
    assert [score["name"] for score in saved["scores"]] == SCORES
    assert saved["scores"][0]["value"] == bleu(expected, references).value
    assert saved["scores"][0]["settings"] == bleu(expected, references).settings
    assert saved["scores"][1]["value"] == chrf(expected, references).value
    assert saved["settings"]["beam_size"] == 3
    assert saved["settings"]["length_penalty_rule"] == "gnmt"
    assert saved["num_sentences"] == 4
    assert saved["seconds"] > 0
    assert saved["model_sha256"] == run.model_sha256

    samples = (run.evaluation / "test.samples.md").read_text(encoding="utf-8").splitlines()
    assert samples[0] == "| source | reference | translation |"
    assert samples[2].startswith("| ein Hund | a dog | ")
    assert len(samples) == 2 + 4


def test_given_files_are_evaluated_up_to_the_sentence_limit(run, invoke, tmp_path):
    (tmp_path / "some.de").write_text("ein Hund\nzwei\nein\n", encoding="utf-8")
    (tmp_path / "some.en").write_text("a dog\ntwo\na\n", encoding="utf-8")
    arguments = ["--source", tmp_path / "some.de", "--reference", tmp_path / "some.en", "--max-sentences", 2]
    result = invoke(evaluate, run.path, *arguments, "--beam-size", 2, "--length-penalty-rule", "length", "--json")
    printed = json.loads(result.stdout)
    assert printed["num_sentences"] == 2
    assert printed["settings"]["beam_size"] == 2
    assert printed["settings"]["length_penalty_rule"] == "length"
    assert json.loads((run.evaluation / "some.de.first-2.json").read_text()) == printed


def test_lines_of_a_test_set_stay_whole(run, invoke, tmp_path):
    (tmp_path / "some.de").write_text("ein Hund. Zwei Hunde.\n", encoding="utf-8")
    (tmp_path / "some.en").write_text("a dog. Two dogs.\n", encoding="utf-8")
    invoke(evaluate, run.path, "--source", tmp_path / "some.de", "--reference", tmp_path / "some.en")
    [[whole]] = Translator.from_run(run).translate(["ein Hund. Zwei Hunde."], split_sentences=False)
    assert (run.evaluation / "some.de.hypotheses.txt").read_text(encoding="utf-8") == f"{whole.text}\n"


def test_several_models_are_evaluated_together_and_saved_in_a_folder_of_their_own(
    run, attentive_run_folder, invoke, tmp_path
):
    models = [run.path, attentive_run_folder.path]
    result = invoke(evaluate, *models, "--output-dir", tmp_path / "both")
    assert [line.split(" ")[0] for line in result.stdout.splitlines()] == SCORES
    saved = json.loads((tmp_path / "both" / "test.json").read_text(encoding="utf-8"))
    assert saved["settings"]["models"] == [str(path) for path in models]
    scores = {entry["name"]: entry for entry in saved["scores"]}
    assert all(scores[name]["interval"] for name in ("BLEU", "chrF2", "bits-per-character"))

    together = Translator.from_run(*models).translate(["ein Hund", "zwei Hunde", "ein Haus", "drei Häuser"])
    hypotheses = (tmp_path / "both" / "test.hypotheses.txt").read_text(encoding="utf-8")
    assert hypotheses == "".join(f"{best.text}\n" for [best] in together)
    sides = [run.config.data.test_source, run.config.data.test_target]
    assert f"{scores['bits-per-character']['value']:.4f}" in invoke(score, *models, *sides).stderr


def test_the_scores_of_several_models_do_not_replace_those_of_a_run(run, attentive_run_folder, invoke):
    models = [run.path, attentive_run_folder.path, "--max-sentences", 1, "--beam-size", 1]
    result = invoke(evaluate, *models, "--show", 1)
    assert result.exit_code == 0
    assert "Wrote" not in result.stderr
    assert not run.evaluation.exists()
    for options, message in (
        (["--output-dir", run.evaluation], "alone. Give --output-dir another folder."),
        (["--name", "both"], "Give --output-dir, too."),
    ):
        result = invoke(evaluate, *models, *options)
        assert result.exit_code == 2
        assert message in " ".join(result.stderr.split())


@pytest.mark.parametrize("model", ["a pretrained model", "another run"])
def test_the_scores_of_another_model_do_not_become_those_of_a_run(run, attentive_run_folder, invoke, model):
    path = "de-en" if model == "a pretrained model" else attentive_run_folder.path
    result = invoke(evaluate, path, "--corpus", "tatoeba", "--output-dir", run.evaluation)
    assert result.exit_code == 2
    assert f"is for the scores of the run {run.path} alone" in " ".join(result.stderr.split())
    assert not run.evaluation.exists()


def test_models_that_do_not_belong_together_are_refused_before_the_corpus_is_read(run, invoke, tmp_path):
    other = RunFolder(shutil.copytree(run.path, tmp_path / "other"))
    other.vocabulary_path.write_text(Vocabulary("abc").to_json(), encoding="utf-8")
    with pytest.raises(InputError, match="different vocabularies"):
        invoke(evaluate, run.path, other.path, "--source", "none", "--reference", "none")


@pytest.fixture
def few_numbers(monkeypatch):
    """The corpus of number words is small. Spelling all of it takes seconds."""
    for split in numbers.DEFAULT_SIZES:
        monkeypatch.setitem(numbers.DEFAULT_SIZES, split, 20)


def test_a_pretrained_model_is_evaluated_on_files_and_on_a_corpus(shipped, few_numbers, invoke, tmp_path):
    (tmp_path / "some.de").write_text("ein Hund\nein Haus\n", encoding="utf-8")
    (tmp_path / "some.en").write_text("a dog\na house\n", encoding="utf-8")
    files = ["--source", tmp_path / "some.de", "--reference", tmp_path / "some.en"]
    result = invoke(evaluate, "de-en", *files, "--beam-size", 1, "--json")
    assert json.loads(result.stdout)["num_sentences"] == 2
    assert "Wrote" not in result.stderr

    folder = tmp_path / "scores"
    options = ["--corpus", "numbers", "--max-sentences", 3, "--beam-size", 1, "--output-dir", folder]
    result = invoke(evaluate, shipped, *options)
    assert "(3 sentences)" in result.stdout
    assert f"Wrote {folder / 'numbers.test.first-3.json'}, " in result.stderr
    saved = json.loads((folder / "numbers.test.first-3.json").read_text())
    assert saved["num_sentences"] == 3


def test_a_model_file_needs_a_corpus_or_files(shipped, invoke):
    with pytest.raises(InputError, match=r"^de-en does not say which corpus to read. Name one with --corpus"):
        invoke(evaluate, "de-en")


@pytest.mark.parametrize(
    ("corpus", "error", "message"),
    [
        ("files", ConfigError, "does not say which files"),
        ("digits", InputError, "has pairs from words to digits, but .* translates de to en"),
    ],
)
def test_a_corpus_that_does_not_fit_the_model_is_refused(shipped, invoke, corpus, error, message):
    with pytest.raises(error, match=message):
        invoke(evaluate, "de-en", "--corpus", corpus)


def test_the_corpus_of_the_run_is_read_with_its_settings(run, invoke):
    invoke(evaluate, run.path, "--corpus", "files", "--max-sentences", 1, "--beam-size", 1)
    assert json.loads((run.evaluation / "files.test.first-1.json").read_text())["num_sentences"] == 1


def test_a_run_is_evaluated_on_another_corpus(run, few_numbers, invoke):
    invoke(evaluate, run.path, "--corpus", "numbers", "--split", "validation", "--max-sentences", 2, "--beam-size", 1)
    saved = json.loads((run.evaluation / "numbers.validation.first-2.json").read_text())
    assert saved["num_sentences"] == 2


def test_missing_split_error_lists_the_existing_splits(run, invoke):
    with pytest.raises(InputError, match=r"no validation pairs; it has train, test\. Choose one .* --split, or"):
        invoke(evaluate, run.path, "--split", "validation")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--source", "x"], "--source and --reference belong together."),
        (["--reference", "x"], "--source and --reference belong together."),
        (["--name", "../x"], "--name '../x' is not the name of a file."),
        (["--name", "..", "--output-dir", "x"], "--name '..' is not the name of a file."),
        (["--corpus", "numbers", "--source", "x", "--reference", "x"], "--corpus and --source name two test sets."),
        (["--split", "test", "--source", "x", "--reference", "x"], "--split is for a corpus."),
        (["--show", "1", "--json"], "--json prints only scores."),
        (["--source", "x", "--source", "y"], "--source is given twice; one is possible."),
        (
            ["--source", "x", *["--reference", "y"] * 2],
            "--reference is given twice; one is possible. For several references, use `sacrebleu REF1 REF2 -i ",
        ),
    ],
)
def test_wrong_arguments_exit_with_code_2(run_folder, invoke, arguments, message):
    result = invoke(evaluate, run_folder.path, *arguments)
    assert result.exit_code == 2
    assert message in result.stderr


def test_references_are_in_nfc_and_tokenised_for_the_target_language(run_folder, tmp_path):
    from bytenet.config import load_config
    from bytenet.datasets import Pairs
    from bytenet.evaluation import evaluate_run

    run = RunFolder.create(
        tmp_path / "backward", load_config(run_folder.config_path, ["data.reversed=true"]), run_folder.vocabulary
    )
    shutil.copy(run_folder.model_path, run.model_path)
    evaluation = evaluate_run(run, Pairs(["a dog"], ["Ha\u0308user"]), "test", beam_size=1, bootstrap=0)
    assert evaluation.references == ["H\u00e4user"]
    (thesis,) = [score for score in evaluation.scores if score.name == "thesis-BLEU"]
    assert "tok:moses-de" in thesis.settings


def test_model_with_pair_length_rule_gets_the_reference_lengths(run_folder, invoke, tmp_path):
    import keras
    import numpy as np

    from bytenet.config import load_config
    from bytenet.models import build_model

    config = load_config(str(run_folder.config_path), ["model.settings=thesis"])
    run = RunFolder.create(tmp_path / "thesis", config, run_folder.vocabulary)
    keras.utils.set_random_seed(2)
    model = build_model(config.model, run.vocabulary.size)
    ids = np.ones((1, 4), np.int32)
    model({"source_ids": ids, "target_ids": ids})
    model.head.bias.assign(-50.0 * np.eye(run.vocabulary.size)[:2].sum(axis=0))  # never predicts end or padding
    model.save(run.model_path)
    (tmp_path / "source").write_text("ein\nein Hund\n")
    (tmp_path / "reference").write_text("a house\ntwo\n")
    files = ["--source", tmp_path / "source", "--reference", tmp_path / "reference", "--name", "limits"]
    result = invoke(evaluate, run.path, *files, "--beam-size", 1)
    assert len(result.stdout.splitlines()) == len(SCORES)
    saved = json.loads((run.evaluation / "limits.json").read_text())
    assert saved["settings"]["reference_lengths_known"]
    assert saved["num_unended"] == 2
    # Each is as long as the longer side of its pair, with the end symbol: first the reference, then the source.
    assert [len(line) for line in (run.evaluation / "limits.hypotheses.txt").read_text().split("\n")] == [8, 9, 0]


def test_a_folder_that_cannot_be_written_is_refused_before_the_translation(run, invoke, monkeypatch):
    monkeypatch.setattr("bytenet.evaluation.evaluate_run", lambda *_, **__: pytest.fail("It translated."))
    with pytest.raises(InputError, match=r"^--output-dir: the folder /proc/nope/x cannot be written"):
        invoke(evaluate, run.path, "--output-dir", "/proc/nope/x")


@pytest.mark.parametrize(("least", "message"), [(1, "1 translation reached"), (2, "2 translations reached")])
def test_cut_translations_are_counted(run, invoke, least, message):
    options = ("--max-length", 1, "--beam-size", 1, "--length-penalty", 0)
    result = invoke(evaluate, run.path, "--max-sentences", least, *options)
    assert f"{message} the length limit without an end.\n" in result.stderr


def test_a_name_without_a_folder_is_refused_for_a_model_file(shipped, invoke):
    result = invoke(evaluate, "de-en", "--corpus", "numbers", "--name", "mine")
    assert result.exit_code == 2
    assert "Give --output-dir, too." in result.stderr
