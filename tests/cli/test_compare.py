"""`bytenet compare`: scores and tables for one or two translation files, and for several trainings."""

import csv
import gzip
import json
import shutil
from pathlib import Path

import pytest

from bytenet.cli.compare import compare
from bytenet.errors import InputError, MissingFileError

_TEXTS = {
    "source": ["Die Katze schläft auf der Matte.", "Zwei Hunde spielen im Schnee."],
    "reference": ["The cat sleeps on the mat.", "Two dogs play in the snow."],
    "a": ["The cat sleeps on the mat.", "Some birds."],
    "b": ["The cat sleeps.", "Two dogs play in the snow."],
}


@pytest.fixture
def runs(files, monkeypatch):
    """Run folders with evaluations: of a, three trainings and a second test set; of b, two trainings."""
    monkeypatch.chdir(files)
    for run in ("a-1", "a-2", "a-3", "b-1", "b-2"):
        evaluation = files / "runs" / run / "evaluation"
        evaluation.mkdir(parents=True)
        (evaluation.parent / "config.yaml").write_text("data: {target_language: en}\n")
        shutil.copy("reference", evaluation / "test.references.txt")
        lines = [f"{line} {run}" for line in _TEXTS[run[0]]]
        (evaluation / "test.hypotheses.txt").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    (files / "runs" / "a-1" / "evaluation" / "news.hypotheses.txt").write_text("The cat.\nTwo dogs.\n")
    return files / "runs"


@pytest.fixture
def files(tmp_path):
    for name, lines in _TEXTS.items():
        (tmp_path / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return tmp_path


def test_two_systems_give_scores_tables_and_csv(invoke, files):
    result = invoke(
        compare, files / "a", files / "b", "--source", files / "source", "--reference", files / "reference",
        "--bootstrap", 100, "--csv", files / "rows.csv",
    )  # fmt: skip
    assert result.exit_code == 0
    assert result.stdout.startswith("| system | BLEU | chrF2 | thesis-BLEU | empty |\n")
    assert "Sentences by chrF2: a higher in 1, b in 1, equal in 0." in result.stdout
    with open(files / "rows.csv", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(row["table"], row["line"]) for row in rows] == [
        ("good", "1"), ("good", "2"), ("bad", "2"), ("worst", "2"), ("worst", "1"),
    ]  # fmt: skip
    assert rows[0]["source"] == _TEXTS["source"][0]
    assert rows[0]["a thesis-BLEU"] == "100.0"
    assert result.stderr == f"Wrote {files / 'rows.csv'}.\n"


def test_a_carriage_return_stays_in_its_cell(invoke, files):
    (files / "a").write_bytes(b"The\rcat.\nTwo dogs.\n")
    invoke(compare, files / "a", "--reference", files / "reference", "--bootstrap", 0, "--csv", files / "rows.csv")
    with open(files / "rows.csv", encoding="utf-8", newline="") as file:
        assert {row["a"] for row in csv.DictReader(file)} == {"The\rcat.", "Two dogs."}


def test_one_system_gives_one_table_and_no_difference(invoke, files):
    (files / "a.gz").write_bytes(gzip.compress((files / "a").read_bytes()))
    result = invoke(compare, files / "a.gz", "--reference", files / "reference", "--table", "worst", "--count", 1)
    assert "difference" not in result.stdout
    assert result.stdout.count("\n## ") == 1
    assert "| 2 | Two dogs play in the snow. | Some birds. |" in result.stdout
    again = invoke(compare, files / "a.gz", "--reference", files / "reference", "--table", "worst", "--count", 1)
    assert again.stdout == result.stdout


def test_files_with_the_same_name_are_shown_with_their_paths(invoke, files):
    (files / "other").mkdir()
    (files / "other" / "a").write_text("The cat sleeps.\nTwo dogs play.\n")
    result = invoke(compare, files / "a", files / "other" / "a", "--reference", files / "reference", "--bootstrap", 0)
    assert f"{files}/a" in result.stdout.replace("\\", "")
    assert f"{files}/other/a" in result.stdout.replace("\\", "")


def test_systems_are_named_by_the_part_where_their_paths_differ(invoke, files, monkeypatch):
    monkeypatch.chdir(files)
    paths = [Path("runs") / run / "evaluation" / "test.txt" for run in ("both", "control")]
    for path in paths:
        path.parent.mkdir(parents=True)
        path.write_text("The cat.\nTwo dogs.\n", encoding="utf-8")
    result = invoke(compare, *paths, "--reference", "reference", "--bootstrap", 0)
    assert "Sentences by chrF2: both higher in 0, control in 0, equal in 2." in result.stdout


@pytest.mark.parametrize(("measure", "worst"), [("chrf", "Two dogs play in"), ("bleu", "The cats sleeps on mats.")])
def test_sentences_are_chosen_by_the_measure(invoke, files, measure, worst):
    """The first translation shares more characters with its reference. The second one shares four words in a row."""
    (files / "close").write_text("The cats sleeps on mats.\nTwo dogs play in xylophone quizzes, brr!\n")
    options = ("--reference", files / "reference", "--table", "worst", "--count", 1, "--bootstrap", 0)
    result = invoke(compare, files / "close", *options, "--by", measure)
    [row] = [line for line in result.stdout.split("\n") if line.startswith(("| 1 |", "| 2 |"))]
    assert worst in row


@pytest.mark.parametrize("name", ["reference", "table"])
def test_file_named_like_a_column_does_not_replace_that_column(invoke, files, name):
    (files / "other").mkdir()
    (files / "other" / name).write_text("The cat.\nTwo dogs.\n")
    options = ("--reference", files / "reference", "--bootstrap", 0, "--csv", files / "rows.csv")
    invoke(compare, files / "other" / name, *options)
    with open(files / "rows.csv", encoding="utf-8", newline="") as file:
        row = next(csv.DictReader(file))
    assert (row["table"], row["reference"]) == ("good", _TEXTS["reference"][int(row["line"]) - 1])


def test_composed_and_decomposed_characters_count_as_equal(invoke, files):
    for name, text in (
        ("composed", "Die H\u00e4user sind schon recht alt."),
        ("decomposed", "Die Ha\u0308user sind schon recht alt."),
    ):
        (files / name).write_text(f"{text}\n", encoding="utf-8")
    result = invoke(compare, files / "composed", "--reference", files / "decomposed", "--bootstrap", 0)
    assert "| composed | 100.00 | 100.00 | 100.00 | 0 |" in result.stdout


def test_unequal_line_counts_are_refused_with_both_file_names(invoke, files):
    (files / "a").write_text("The cat sleeps.\n")
    with pytest.raises(InputError, match=r"a has 1 lines but .*reference has 2"):
        invoke(compare, files / "a", "--reference", files / "reference")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--reference", "reference"], "Missing argument"),
        (["a"], "--reference is missing."),
        (["a", "a", "a", "--reference", "reference"], "Found 3 sets of translations; expected one or two."),
        (["a", "a", "--reference", "reference"], "a is given twice."),
        (["a", *["--reference", "b"] * 2], "--reference is given twice; one is possible. For several references, use"),
        (["a", "--reference", "b", *["--source", "c"] * 3], "--source is given 3 times; one is possible.\n"),
    ],
)
def test_wrong_arguments_are_refused(invoke, files, monkeypatch, arguments, message):
    monkeypatch.chdir(files)
    result = invoke(compare, *arguments)
    assert result.exit_code == 2
    assert message in result.stderr


def test_missing_files_are_refused(invoke, files):
    with pytest.raises(MissingFileError):
        invoke(compare, files / "nowhere", "--reference", files / "reference")


def test_a_csv_file_that_cannot_be_written_is_refused_before_the_comparison(invoke, files, monkeypatch):
    monkeypatch.setattr("bytenet.evaluation.comparison.compare_translations", lambda *_: pytest.fail("It compared."))
    for path, message in (("/proc/rows.csv", "^--csv: the folder /proc"), ("/nowhere/rows.csv", "Make it")):
        with pytest.raises(InputError, match=message):
            invoke(compare, files / "a", "--reference", files / "reference", "--csv", path)


@pytest.mark.parametrize("bootstrap", [-1, 1, 99])
def test_too_few_resampled_corpora_for_an_interval_are_refused(invoke, files, bootstrap):
    result = invoke(compare, files / "a", "--reference", files / "reference", "--bootstrap", bootstrap)
    assert result.exit_code == 2
    assert f"Invalid value for '--bootstrap': {bootstrap} is not " in result.stderr


def test_several_trainings_give_means_and_their_difference(invoke, runs):
    a, b = sorted(runs.glob("a-*")), sorted(runs.glob("b-*"))
    page = invoke(compare, *a, "--with", *b, "--reference", "reference", "--bootstrap", 100).stdout
    assert "| A | a-3 | " in page
    assert "| B | b-2 | " in page
    assert "\n\nThis comparison is unreliable: with 3 trainings of A and 2 trainings of B" in page
    # The trainings of B may also come last, and stand one by one.
    again = ("--reference", "reference", "--bootstrap", 100, *a, f"--with={b[0]}", b[1])
    assert invoke(compare, *again).stdout == page


def test_several_trainings_as_json(invoke, runs):
    paths = [runs / "a-1", runs / "a-2", "--with", runs / "b-1", runs / "b-2"]
    result = invoke(compare, *paths, "--reference", "reference", "--bootstrap", 100, "--json")
    content = json.loads(result.stdout)
    assert [(system["name"], system["trainings"]) for system in content["systems"]] == [
        ("A", ["a-1", "a-2"]), ("B", ["b-1", "b-2"]),
    ]  # fmt: skip
    assert [score["name"] for score in content["systems"][0]["scores"]] == ["BLEU", "chrF2", "thesis-BLEU"]
    assert len(content["differences"][0]["interval"]) == 2
    assert content["warning"].startswith("This comparison is unreliable")


def test_one_training_each_has_the_same_page_with_and_without_with(invoke, runs):
    options = ("--reference", "reference", "--bootstrap", 100)
    page = invoke(compare, runs / "a-1", runs / "b-1", *options).stdout
    assert "Sentences by chrF2: a-1 higher in 1, b-1 in 1, equal in 0." in page
    assert invoke(compare, runs / "a-1", *options, "--with", runs / "b-1").stdout == page
    content = json.loads(invoke(compare, runs / "a-1", runs / "b-1", *options, "--json").stdout)
    assert [(system["name"], system["num_empty"]) for system in content["systems"]] == [("a-1", 0), ("b-1", 0)]
    assert [score["name"] for score in content["differences"]][:2] == ["BLEU difference", "chrF2 difference"]
    assert all(0 < score["p_value"] < 1 for score in content["differences"])


def test_name_chooses_the_evaluation_of_a_run_folder(invoke, runs):
    options = (runs / "a-1", "--reference", "reference", "--bootstrap", 0)
    assert "The cat." in invoke(compare, *options, "--name", "news", "--min-chars", 0).stdout
    advice = r"Make it with `bytenet evaluate .*a-1` and the options that made it for another run, .*, or"
    with pytest.raises(MissingFileError, match=rf"evaluation named dev; it has news, test\. {advice}"):
        invoke(compare, *options, "--name", "dev")
    with pytest.raises(MissingFileError, match=r"named validation; .* Make it with .* --split validation`, or"):
        invoke(compare, *options, "--name", "validation")
    advice = r"`bytenet evaluate .*runs`\. If the corpus has no test pairs, add --split validation there, and --name"
    with pytest.raises(MissingFileError, match=rf"named test; it has none\. Make it with {advice}"):
        invoke(compare, runs, "--reference", "reference")


def test_run_folders_have_the_references_and_the_language(invoke, runs):
    config, references = runs / "a-1" / "config.yaml", runs / "b-1" / "evaluation" / "test.references.txt"
    config.write_text("data: {target_language: de}\n")
    systems = (runs / "a-1", runs / "b-1", "--bootstrap", 0, "--json")
    content = json.loads(invoke(compare, *systems).stdout)
    assert "tok:moses-de" in content["systems"][0]["scores"][2]["settings"]
    assert json.loads(invoke(compare, *systems, "--reference", "reference").stdout) == content
    assert json.loads(invoke(compare, *systems[:1], "b", *systems[2:]).stdout)["systems"][0] == content["systems"][0]
    english = json.loads(invoke(compare, *systems, "--language", "en").stdout)
    assert "tok:moses-en" in english["systems"][0]["scores"][2]["settings"]

    references.write_text("Another sentence.\nTwo dogs play in the snow.\n")
    with pytest.raises(InputError, match=r"a-1.*test\.references\.txt and .*b-1.* differ"):
        invoke(compare, *systems)
    references.unlink()
    with pytest.raises(MissingFileError, match=r"b-1.* is missing: an older version .* or give --reference"):
        invoke(compare, *systems)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["a-1", "a-2", "b-1"], "Found 3 sets of translations; expected one or two. Put --with before the trainings"),
        (["a-1", "a-2", "--with"], "Option '--with' requires an argument"),
        (["a-1", "--with", "b-1", "b-2", "--count", "3"], "--count is for the sentences of one training each"),
        (["a-1", "--with", "b-1", "b-2", "--csv", "rows.csv"], "--csv is for the sentences of one training each"),
        (["a-1", "a-2", "--with", "a-1"], "a-1 is given twice"),
        (["--with", "b-1", "b-2"], "Missing argument 'A...'"),
    ],
)
def test_wrong_trainings_are_refused_with_advice(invoke, runs, monkeypatch, arguments, message):
    monkeypatch.chdir(runs)
    result = invoke(compare, *arguments, "--reference", "../reference")
    assert result.exit_code == 2
    assert message in result.stderr
