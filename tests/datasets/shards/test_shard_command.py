"""`bytenet data shard`: report, JSON, options, and its place beside `bytenet data PRESET_OR_FILE`."""

import json

import pytest
from click.testing import CliRunner

from bytenet.cli.common.shards_option import MOST_SHARDS
from bytenet.cli.data import data
from bytenet.datasets.shards.folder import ShardFolder
from bytenet.datasets.shards.sharding.sharding_report import ShardingReport
from bytenet.errors import InputError

LINES = "ja\tyes\nja\tyes\ngleich\tgleich\nja\x1b[31m\tyes\nein Wort\tone word and more of it here\n"


@pytest.fixture
def run(tmp_path):
    """A function that shards `LINES` and returns what the command printed."""

    def command(*options, code=0):
        arguments = ["shard", "-", str(tmp_path / "out"), "--processes=0", "--shards=1", "--duplicates-mb=1", *options]
        result = CliRunner().invoke(data, arguments, input=LINES)
        assert result.exit_code == code, result.output
        return result

    return command


def test_the_report_says_what_was_left_out_and_why(run, tmp_path):
    result = run("--max-ratio=2", "--source-language=nl", "--target-language=de")
    for line in (
        "read      5 pairs",
        "kept      1 pairs, in 1 shards of 1 to 1",
        "left out  4 pairs, each counted for the first reason that holds",
        "           1  odd characters",
        "standard input:4: ja\ufffd[31m | yes",
        "           1  both sides are equal",
        "           1  one side more than 2 times as long as the other",
        "           1  the pair came before",
    ):
        assert line in result.stdout
    assert "pairs per second. Saved in" in result.stderr
    assert ShardFolder.open(tmp_path / "out").languages == ("nl", "de")


def test_options_keep_pairs(run, tmp_path):
    keeping = ("--keep-odd-characters", "--keep-identical", "--keep-duplicates", "--max-ratio=inf", "--json")
    report = json.loads(run(*keeping).stdout)
    assert (report["read"], report["kept"]) == (5, 5)
    assert len(ShardFolder.open(tmp_path / "out")) == 5


def test_seed_and_lengths_reach_the_sharding(run, tmp_path, monkeypatch):
    calls = []

    def shard_corpus(inputs, folder, languages, settings, shards, seed, *_):
        calls.append((seed, settings.min_length, settings.max_length))
        raise InputError("not sharded")

    monkeypatch.setattr("bytenet.datasets.shards.sharding.shard_corpus.shard_corpus", shard_corpus)
    run(code=1)
    run("--seed=7", "--min-length=3", "--max-length=90", code=1)
    assert calls == [(1, 1, 500), (7, 3, 90)]


@pytest.mark.parametrize("option", ["--max-ratio=nan", "--min-letters=nan"])
def test_a_limit_is_a_number(run, option):
    assert f"Invalid value for '{option.partition('=')[0]}': 'nan' is not a number" in run(option, code=2).stderr


@pytest.mark.parametrize("option", ["--source-language=", "--target-language=", f"--duplicates-mb={10**9}"])
def test_an_option_that_is_refused_leaves_no_folder(run, option, tmp_path):
    assert isinstance(run(option, code=1).exception, InputError)
    assert not list(tmp_path.iterdir())


def test_a_forgotten_folder_is_explained(tmp_path):
    paths = [tmp_path / f"train.{language}" for language in ("de", "en")]
    for path in paths:
        path.write_text("text\n")
    result = CliRunner().invoke(data, ["shard", *map(str, paths)])
    assert str(result.exception) == (
        f"{paths[1]} is a file, but the last argument must be the new folder for the shards. Add the folder at the end."
    )


def test_arguments_without_a_verb_are_those_of_the_report():
    for arguments in (["--list"], ["report", "--list"]):
        result = CliRunner().invoke(data, arguments, catch_exceptions=False)
        assert result.exit_code == 0
        assert "multi30k" in result.stdout
    result = CliRunner().invoke(data, ["--help"])
    assert "\n  shard " in result.stdout
    assert "\n  report " in result.stdout


@pytest.mark.parametrize(
    ("by_shard", "advice"),
    [
        ([400_000] * 50, None),
        ([2_000_000] * 10, "--shards 67 is better"),
        ([10_000] * 64, "--shards 2 is better"),
        ([900], None),
        ([1_100_000] * 500, "--shards 512 is better"),  # the command allows no more
        ([2_000_000] * 512, None),
    ],
)
def test_advice_on_the_number_of_shards(by_shard, advice):
    said = ShardingReport(sum(by_shard), sum(by_shard), by_shard, [], 0).advice(MOST_SHARDS)
    assert (advice is None) == (said is None)
    assert advice is None or advice in said
