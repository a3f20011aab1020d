"""`bytenet translate`: the options of its search, and several runs that translate together."""

import shutil

import pytest

from bytenet.cli.translate import translate
from bytenet.datasets import Vocabulary
from bytenet.errors import ConfigError, InputError, MissingFileError

from .sample_text import TEXT

pytestmark = pytest.mark.usefixtures("shared_translators")


def test_n_best_prints_line_number_score_and_translation(run_folder, invoke):
    result = invoke(translate, run_folder.path, "--n-best", 3, stdin=b"ein Hund\n\nzwei\n")
    rows = [line.split("\t") for line in result.stdout_bytes.decode().removesuffix("\n").split("\n")]
    assert [row[0] for row in rows] == ["1", "1", "1", "2", "3", "3", "3"]
    assert rows[3] == ["2", "0.0000", ""]
    best = invoke(translate, run_folder.path, stdin=b"ein Hund\n\nzwei\n").stdout_bytes.decode().split("\n")
    assert [rows[0][2], rows[3][2], rows[4][2]] == best[:3]


def test_options_reach_the_search(run_folder, invoke):
    result = invoke(translate, run_folder.path, "--max-length", 3, "--beam-size", 1, "--batch-size", 2, stdin=TEXT)
    assert max(len(line) for line in result.stdout_bytes.decode().split("\n")) <= 3
    assert "beam size 1" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "option"),
    [
        (["--n-best", "4"], "--beam-size"),
        (["--beam-size", "2", "--n-best", "3"], "--beam-size"),
        (["--samples", "2", "--n-best", "3"], "--samples"),
    ],
)
def test_n_best_above_the_number_of_hypotheses_exits_with_code_2(run_folder, invoke, arguments, option):
    result = invoke(translate, run_folder.path, *arguments)
    assert result.exit_code == 2
    assert f"needs {option} {arguments[-1]} or more" in result.stderr


def test_samples_depend_on_the_seed(run_folder, invoke):
    options = ("--samples", 2, "--temperature", 1.5, "--max-length", 9)
    results = [invoke(translate, run_folder.path, *options, *seed, stdin=TEXT) for seed in ((), ("--seed", 2), ())]
    first, other, again = (result.stdout_bytes for result in results)
    assert first == again != other
    assert "number of samples 2" in results[0].stderr
    best = invoke(translate, run_folder.path, *options, "--n-best", 2, stdin=TEXT).stdout_bytes.decode().splitlines()
    assert [line.partition("\t")[0] for line in best] == ["1", "1", "2", "3", "3", "4", "5", "5"]


def test_minimum_bayes_risk_ranks_samples(run_folder, invoke):
    options = ("--samples", 8, "--temperature", 1.5, "--max-length", 9, "--n-best", 8)
    results = [invoke(translate, run_folder.path, *options, *mbr, stdin=b"ein\n") for mbr in ((), ("--mbr",))]
    plain, by_risk = ([line.split("\t") for line in result.stdout.splitlines()] for result in results)
    assert sorted(text for _, _, text in plain) == sorted(text for _, _, text in by_risk)
    assert all(float(score) < 0 for _, score, _ in plain)
    assert all(0 <= float(score) <= 100 for _, score, _ in by_risk)


def test_options_of_samples_need_samples(run_folder, invoke):
    with pytest.raises(ConfigError, match="top_k is 5, but no samples are drawn"):
        invoke(translate, run_folder.path, "--top-k", 5, stdin=TEXT)
    with pytest.raises(ConfigError, match="Leave out beam_size"):
        invoke(translate, run_folder.path, "--samples", 1, "--beam-size", 5, stdin=TEXT)
    wrong = invoke(translate, run_folder.path, "--samples", 1, "--temperature", 0, stdin=TEXT)
    assert wrong.exit_code == 2
    assert "Invalid value for '--temperature': 0.0 is not in the range x>0" in wrong.stderr


@pytest.mark.parametrize(
    "option", ["--temperature", "--top-p", "--length-penalty", "--coverage-penalty", "--rerank-weight"]
)
def test_nan_is_no_number(run_folder, invoke, option):
    result = invoke(translate, run_folder.path, option, "nan", stdin=TEXT)
    assert result.exit_code == 2
    assert f"Invalid value for '{option}'" in result.stderr
    assert "is not a number" in result.stderr


def test_an_infinite_weight_is_a_wrong_setting(model_path, invoke):
    with pytest.raises(ConfigError, match=r"rerank_weight is inf; expected a finite number of at least 0\."):
        invoke(translate, model_path, "--rerank-weight", "inf", stdin=TEXT)


def test_a_model_to_rerank_with_that_is_missing_is_named_as_such(run_folder, invoke):
    with pytest.raises(MissingFileError, match=r"^rerank_with: nowhere does not exist.* give --rerank-weight 0\."):
        invoke(translate, run_folder.path, "--rerank-with", "nowhere", stdin=TEXT)
    options = ("--rerank-with", "nowhere", "--rerank-weight", 0)
    assert invoke(translate, run_folder.path, *options, stdin=TEXT).exit_code == 0


def test_several_runs_translate_together(run_folder, attentive_run_folder, invoke, tmp_path):
    (tmp_path / "in").write_bytes(TEXT)
    alone = invoke(translate, run_folder.path, tmp_path / "in").stdout_bytes
    twice = invoke(translate, run_folder.path, run_folder.path, tmp_path / "in").stdout_bytes
    assert twice == alone
    together = invoke(translate, run_folder.path, attentive_run_folder.path, stdin=TEXT).stdout_bytes
    assert together != alone
    assert [bool(line) for line in together.decode().split("\n")] == [True, False, True, False, True, False]


def test_runs_with_different_vocabularies_cannot_translate_together(run_folder, invoke, tmp_path):
    other = shutil.copytree(run_folder.path, tmp_path / "other")
    (other / "vocabulary.json").write_text(Vocabulary("abc").to_json(), encoding="utf-8")
    with pytest.raises(InputError, match="different vocabularies"):
        invoke(translate, run_folder.path, other, stdin=TEXT)


def test_least_length_is_kept(run_folder, invoke):
    options = ("--min-length", 9, "--max-length", 9)
    result = invoke(translate, run_folder.path, *options, stdin=TEXT)
    lengths = [len(line) for line in result.stdout_bytes.decode().split("\n") if line]
    assert lengths
    assert set(lengths) <= {8, 9}  # eight characters and the end symbol, or cut off
