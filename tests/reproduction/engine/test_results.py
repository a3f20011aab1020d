"""Result files return what was written to them."""

import json
import math
import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bytenet.errors import InputError, MissingFileError
from bytenet.reproduction.engine.experiment import Basis, Experiment, Needs
from bytenet.reproduction.engine.redrawing import judge
from bytenet.reproduction.engine.results import ResultFiles, read_record, read_table, write_record, write_table
from bytenet.reproduction.engine.verdict import Verdict


def looks_like_a_number(text):
    try:
        float(text)
    except ValueError:
        return False
    return True


FACTS = {
    "versions": {"python": "3.11"}, "git_commit": None, "seeds": 5,
    "machine": {"platform": "Linux", "processor": "x", "cores": 2, "memory": "8 GB"},
}  # fmt: skip


TEXTS = st.text(st.characters(exclude_categories=["Cs"])).filter(lambda text: not looks_like_a_number(text))
NUMBERS = st.integers(-(10**9), 10**9) | st.floats().map(lambda value: float(f"{value:.6g}"))


@given(rows=st.lists(st.fixed_dictionaries({"a, b": TEXTS, "ü": NUMBERS, "n\n": TEXTS | NUMBERS}), min_size=1))
def test_written_table_is_read_back_unchanged(rows, tmp_path_factory):
    path = tmp_path_factory.mktemp("results") / "table.csv"
    write_table(path, rows)
    found = read_table(path)
    # Compared as texts, because nan is not equal to itself and 3 must not become 3.0.
    assert [repr(sorted(row.items())) for row in found] == [repr(sorted(row.items())) for row in rows]


@pytest.mark.parametrize(
    "text",
    [
        "007", "00", "-01", "1.", ".5", "1e5", "+1", "1,5", "a, b", 'say "no"', "two\nlines", "a\rb", "", " 12", "١٢",
        "1_0", 5000 * "9", f"{5000 * '9'}.5",
    ],
)  # fmt: skip
def test_texts_that_are_not_plain_numbers_stay_texts(text, tmp_path):
    write_table(tmp_path / "table.csv", [{"text": text, "other": 1}])
    assert read_table(tmp_path / "table.csv") == [{"text": text, "other": 1}]


def test_texts_of_plain_numbers_become_numbers(tmp_path):
    write_table(tmp_path / "table.csv", [{"a": "104", "b": "1.50", "c": "nan"}])
    (row,) = read_table(tmp_path / "table.csv")
    assert (row["a"], row["b"]) == (104, 1.5)
    assert math.isnan(row["c"])


def test_floats_are_written_with_six_digits(tmp_path):
    write_table(tmp_path / "table.csv", [{"short": 1 / 3, "long": 123456789.0, "whole": 123456789}])
    assert read_table(tmp_path / "table.csv") == [{"short": 0.333333, "long": 123457000.0, "whole": 123456789}]


def test_a_table_without_quotes_is_read(tmp_path):
    (tmp_path / "table.csv").write_text("run,seed,epoch,loss\ndefault,1,0.5,3\n", encoding="utf-8")
    assert read_table(tmp_path / "table.csv") == [{"run": "default", "seed": 1, "epoch": 0.5, "loss": 3}]


@pytest.mark.parametrize("rows", [[], [{"a": 1}, {"a": 1, "b": 2}], [{"a": 1, "b": 2}, {"a": 1}]])
def test_empty_tables_and_rows_with_unequal_columns_are_refused(rows, tmp_path):
    with pytest.raises(InputError, match=r"table\.csv"):
        write_table(tmp_path / "table.csv", rows)
    assert not (tmp_path / "table.csv").exists()


def test_missing_table_error_says_what_to_do(tmp_path):
    with pytest.raises(MissingFileError, match="run the experiment at this scale first, without --plot-only"):
        read_table(tmp_path / "table.csv")


def test_result_file_names(tmp_path):
    files = ResultFiles(tmp_path, "fig-3.3.1", "cpu")
    names = [path.name for path in (files.data, files.picture, files.record)]
    assert names == ["fig-3.3.1-cpu.csv", "fig-3.3.1-cpu.png", "fig-3.3.1-cpu.json"]


def test_verdicts_and_facts_are_read_back(tmp_path):
    files = ResultFiles(tmp_path, "fig-3.3.1", "cpu")
    assert read_record(files) is None
    verdicts = [
        Verdict(quantity="error ≤ 1", printed=0.3, measured=0.31, interval=(0.29, 0.33), seeds=5, outcome="agrees"),
        Verdict(quantity="BLEU", printed="", measured=1.5, over_sentences=(1.0, 2.0)),
        Verdict(
            quantity="effect",
            printed="there",
            measured="nowhere",
            outcome="not shown",
            contradicts=True,
            source="a.tex:1",
        ),
    ]
    write_record(files, verdicts, FACTS | {"scale": "cpu"})
    assert read_record(files) == (verdicts, FACTS | {"scale": "cpu"})


VERDICT = {"quantity": "error", "printed": 0.3, "measured": 0.31}


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("<<<<<<< here\n{}", "Invalid JSON"),
        ("[]", "should be an object"),
        (json.dumps({"verdicts": []}), "Field required"),
        *(
            (json.dumps({"verdicts": []} | FACTS | {name: value}), place)
            for name, value, place in [
                ("machine", {"platform": "Linux", "processor": "x"}, "machine.cores"),
                ("seeds", "5", "seeds"),
                ("settings", {}, "settings.common"),
                ("settings", {"common": {}, "runs": {"one": 3}}, "settings.runs.one"),
                ("joined_with", [{"git_commit": "abc"}], "joined_with.0.machine"),
                ("origins", [{"git_commit": "abc", "machine": FACTS["machine"]}], "origins.0.trainings"),
                ("verdicts", [{"quantity": "error"}], "verdicts.0.printed"),
                ("verdicts", [VERDICT | {"interval": [1.0]}], "verdicts.0.interval"),
                ("verdicts", [VERDICT | {"colour": "red"}], "verdicts.0.colour"),
                ("verdicts", [VERDICT | {"contradicts": True}], "names no line"),
            ]
        ),
    ],
)
def test_damaged_record_is_named(tmp_path, content, problem):
    files = ResultFiles(tmp_path, "one", "cpu")
    files.record.write_text(content, encoding="utf-8")
    message = rf"one-cpu\.json is damaged \(.*{re.escape(problem)}.*Bring it back, or measure it again\."
    with pytest.raises(InputError, match=message):
        read_record(files)


@pytest.mark.parametrize("settings", [["model.dim 64 (200)"], None])
def test_verdicts_get_the_settings_of_the_data_if_they_judge_by_them(tmp_path, settings):
    seen = []

    def verdicts(table, scale, **others):
        seen.append(others)
        return []

    experiment = Experiment(
        name="one", title="", thesis="", needs=Needs(), basis=Basis("counted"), measure=lambda work: [],
        verdicts=verdicts, judges_settings=True,
    )  # fmt: skip
    files = ResultFiles(tmp_path, "one", "cpu")
    if settings:
        write_record(files, [], FACTS | {"differs_from_the_thesis": settings})
    judge(experiment, [], files)
    judge(replace(experiment, judges_settings=False), [], files)
    assert seen == [{"settings": settings}, {}]


@pytest.mark.parametrize("content", ["", "a,b\n", "a,b\n1,2\n3\n", "a,b\n1,2,3\n", 'a,b\n1,"2\n', b"a,b\n1,\xff\n"])
def test_damaged_data_is_named(tmp_path, content):
    path = tmp_path / "table.csv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(InputError, match=r"table\.csv is damaged: .* Bring it back, or measure it again\."):
        read_table(path)


def test_column_that_the_file_lacks_is_named(tmp_path):
    write_table(tmp_path / "table.csv", [{"a": 1}])
    (row,) = read_table(tmp_path / "table.csv")
    with pytest.raises(InputError, match=r"table\.csv has no column 'loss'\. Measure it again"):
        row["loss"]
    assert row.get("loss", 3) == 3
