"""The author's translations are scored again. Without them, the tests use made-up translations."""

import gzip
import json

import pytest

from bytenet.errors import MissingFileError
from bytenet.reproduction import Work
from bytenet.reproduction.figures.news import translations


@pytest.mark.parametrize("experiment", translations.EXPERIMENTS, ids=lambda experiment: experiment.name)
def test_smoke_scale_needs_no_files(experiment, tmp_path, monkeypatch):
    monkeypatch.delenv("BYTENET_DATA", raising=False)
    table = experiment.measure(Work("smoke", [1], tmp_path))
    assert [row["chosen"] for row in table] == ["all", *[table[-1]["chosen"]] * 3]
    assert table[0]["bytenet_bleu_equal"] == table[0]["sentences"] == 48
    assert not any(verdict.contradicts for verdict in experiment.verdicts(table, "smoke"))


def _write(folder, model, rows):
    folder.mkdir(exist_ok=True)
    with gzip.open(folder / f"newstest2015-{model}.jsonl.gz", "wt", encoding="utf-8") as file:
        file.writelines(
            json.dumps(dict(zip(("source", "target", "translation", "bleu"), row, strict=True))) + "\n" for row in rows
        )


def test_printed_sentences_and_wrong_scores_are_found(tmp_path, monkeypatch):
    right = "But it is certainly no radical initiative at all."
    rows = [
        ("Aber es ist mit Sicherheit keine", right, right, 39.13),  # the true score is 100
        ("Das Militär spielt eine Rolle", right, "the army, played, for a very long time", 0.0),
    ]
    _write(tmp_path / "thesis-results", "bytenet", rows)
    monkeypatch.setenv("BYTENET_DATA", str(tmp_path))
    experiment = translations.EXPERIMENTS[0]
    table = experiment.measure(Work("cpu", [1], tmp_path))
    assert [row["line"] for row in table if row["chosen"] == "printed"] == [1, 2]
    assert table[0]["bytenet_bleu_equal"] == 1
    verdicts = {verdict.quantity: verdict for verdict in experiment.verdicts(table, "cpu")}
    assert verdicts["BLEU of line 1"].outcome == "other score"
    assert verdicts["sentences whose BLEU is the author's, to .01"].measured == 1


def test_missing_files_give_an_error_that_names_them(tmp_path, monkeypatch):
    monkeypatch.delenv("BYTENET_DATA", raising=False)
    with pytest.raises(MissingFileError, match=r"FOLDER/thesis-results/newstest2015-bytenet.jsonl.gz.*BYTENET_DATA"):
        translations.author_outputs("bytenet")
    monkeypatch.setenv("BYTENET_DATA", str(tmp_path))
    with pytest.raises(MissingFileError, match=str(tmp_path)):
        translations.author_outputs("simplified")


def test_rescoring_gives_the_scores_of_the_author(real_data, tmp_path):
    real_data("thesis-results")
    experiment = translations.EXPERIMENTS[2]
    table = experiment.measure(Work("cpu", [1], tmp_path))
    assert table[0]["bytenet_bleu_equal"] == table[0]["simplified_bleu_equal"] == 2169
    assert [row["chosen"] for row in table] == ["all", *["printed"] * 3, *["bad"] * 3]
    (difference,) = [one for one in experiment.verdicts(table, "cpu") if "minus ByteNet's" in one.quantity]
    assert (difference.printed, difference.outcome) == ("below 0: 0.55 against 7.44", "shown")
