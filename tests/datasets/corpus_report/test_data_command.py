"""`bytenet data`: tables, JSON, the list of corpora, and messages."""

import json
import subprocess
import sys
from dataclasses import replace
from io import StringIO

import pytest
from click.testing import CliRunner
from rich.console import Console

from bytenet.cli.data import data
from bytenet.datasets.corpus_report import CorpusReport
from bytenet.datasets.corpus_report.terminal_tables import print_report, visible
from bytenet.errors import ConfigError, InputError
from bytenet.presets.by_size import load_sized_config


def test_the_table_shows_everything(config_file):
    result = CliRunner().invoke(data, [config_file], catch_exceptions=False)
    assert result.exit_code == 0
    for part in (
        "files: de to en",
        "train       5 pairs (2 of 7 are left out by the limits)",
        "validation  none",
        "test        2 pairs",
        "batches an epoch",
        "U+00A0",
        "NO-BREAK SPACE",
        "rare, odd",
        "a side is empty: 1",
        "pair 3: gleich | gleich",
        "not in the vocabulary, but in test: ß (1) <U+2028> (1)",
    ):
        assert part in result.stdout
    assert "█" in result.stdout
    assert "\u2028" not in result.stdout


def test_json_is_the_whole_report_with_the_batches_of_the_preset_for_its_size(config_file):
    result = CliRunner().invoke(data, [config_file, "--json"], catch_exceptions=False)
    config, *_ = load_sized_config(config_file)
    assert json.loads(result.stdout) == json.loads(json.dumps(CorpusReport.from_config(config.data).to_dict()))


def test_settings_can_be_changed(config_file):
    result = CliRunner().invoke(data, [config_file, "--json", "--set", "data.max_length=500"], catch_exceptions=False)
    assert json.loads(result.stdout)["pairs"]["train"] == 6


@pytest.mark.parametrize("arguments", [["--list"], ["--list", "--json"]])
def test_list_shows_corpora_with_url_licence_and_checksum(arguments):
    result = CliRunner().invoke(data, arguments, catch_exceptions=False)
    for part in (
        "multi30k",
        "https://www.statmt.org/europarl/v7/de-en.tgz",
        "CC BY 2.0",
        "726e39b2fa9eb9ffb6dc",
    ):
        assert part in result.stdout
    if "--json" in arguments:
        assert json.loads(result.stdout)[0]["name"] == "digits"


def test_list_says_which_languages_a_corpus_has():
    lines = CliRunner().invoke(data, ["--list"], catch_exceptions=False).stdout.split("\n")
    languages = [line.removeprefix("  languages: ") for line in lines if line.startswith("  languages: ")]
    assert languages == [
        "English words to numerals", "any that num2words can spell", *["de, en"] * 4,
        "English with cs or de in every year, with others in some years; any in files of your own", "de, en", "any",
        "any",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "named"), [([], "Missing PRESET_OR_FILE"), (["digits", "--list"], "--list shows")]
)
def test_wrong_arguments_exit_with_code_2(arguments, named):
    result = CliRunner().invoke(data, arguments)
    assert result.exit_code == 2
    assert named in result.stderr


def test_errors_in_corpus_and_settings_are_raised(config_file):
    with pytest.raises(InputError, match="None of the 7 training pairs"):
        CliRunner().invoke(
            data,
            [config_file, "--set", "data.max_length=500", "--set", "data.min_length=499"],
            catch_exceptions=False,
        )
    with pytest.raises(ConfigError, match="batch_size"):
        CliRunner().invoke(data, [config_file, "--set", "data.batch_sise=3"], catch_exceptions=False)


def test_bad_input_gives_one_message_without_a_traceback(data_folder):
    source, target = data_folder("a.de", ["eins", "zwei"]), data_folder("a.en", ["one"])
    command = [sys.executable, "-m", "bytenet", "data", "numbers", "--set", "data.corpus=files"]
    command += ["--set", f"data.train_source={source}", "--set", f"data.train_target={target}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stdout == ""
    assert "a.de has 2 lines but" in done.stderr
    assert "Traceback" not in done.stderr


def test_tensorflow_is_not_imported_for_the_report():
    program = (
        "import sys; import bytenet.datasets; from bytenet.cli.data import data; "
        "data(['digits'], standalone_mode=False); assert 'tensorflow' not in sys.modules"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    ("text", "shown"),
    [("ä ß", "ä ß"), ("a\tb\u2028", "a<U+0009>b<U+2028>"), ("\xa0\x1b[31m", "<U+00A0><U+001B>[31m")],
)
def test_invisible_characters_are_made_visible(text, shown):
    assert visible(text) == shown


def test_synthetic_pairs_from_a_held_out_set_give_a_warning_and_copies_are_named(config, data_folder):
    sides = {"source": ["Hallo", "Ein Ha\u00df", "a" * 51], "target": ["A house", "x", "y"]}
    paths = {f"synthetic_{side}": str(data_folder(f"synthetic.{side}", lines)) for side, lines in sides.items()}
    report = CorpusReport.from_config(replace(config, **paths, pair_copies=3))
    console = Console(record=True, width=200, file=StringIO())
    print_report(report, console)
    said = console.export_text()
    assert "train       5 pairs, each 3 times in an epoch (2 of 7" in said
    assert "synthetic   2 pairs" in said
    assert "warning: 2 pairs of test share a sentence with the synthetic pairs" in said
    assert sum(count for _, _, count in report.length_histogram) == 5 + 2
    assert sum(bucket.pairs for bucket in report.plan.buckets) == 3 * 5 + 2
    assert report.to_dict()["pairs"]["copies"] == 3


def test_held_out_pairs_that_are_training_pairs_give_a_warning(config):
    config = replace(config, validation_source=config.train_source, validation_target=config.train_target)
    console = Console(record=True, width=200, file=StringIO())
    report = CorpusReport.from_config(config)
    print_report(report, console)
    assert report.to_dict()["train_held_out"] == {"validation": 7, "test": 0}
    assert "warning: 7 pairs of validation are also training pairs" in console.export_text()


def test_suspicious_held_out_pairs_are_counted_and_an_empty_side_gives_a_warning(config, data_folder):
    sides = {"source": ["Hallo", "gleich", ""], "target": ["", "gleich", "x"]}
    paths = {f"validation_{side}": str(data_folder(f"validation.{side}", lines)) for side, lines in sides.items()}
    report = CorpusReport.from_config(replace(config, **paths))
    console = Console(record=True, width=200, file=StringIO())
    print_report(report, console)
    said = console.export_text()
    assert "warning: 2 pairs of validation have an empty side (the first is pair 1). They change the scores:" in said
    assert "of test have" not in said
    assert "Suspicious validation pairs\na side is empty: 2\n  pair 1: Hallo | \n  pair 3:  | x\nboth sides are" in said
    assert "Suspicious test pairs\na side is empty: 0\n" in said
    assert report.to_dict()["suspicious_held_out"]["validation"][1] == {
        "reason": "both sides are equal",
        "count": 1,
        "examples": [{"line": 2, "source": "gleich", "target": "gleich"}],
    }


def test_monolingual_text_from_a_held_out_set_gives_a_warning(monolingual_config):
    console = Console(record=True, width=200, file=StringIO())
    print_report(CorpusReport.from_config(monolingual_config), console)
    said = console.export_text()
    assert (
        "Monolingual source text\n3 of 5 sentences can be used; left out: 1 for their length, 1 for characters" in said
    )
    assert "characters: 4 to 8, median 7" in said
    assert "warning: 1 sentences of test are among them" in said
    assert "Monolingual target text" not in said


def test_a_corpus_can_be_named_by_a_setting_alone():
    result = CliRunner().invoke(data, ["--set", "data.corpus=digits", "--set", "data.num_train=40", "--json"])
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["name"] == "digits"
    assert result.stderr.startswith("40 pairs: preset pairs-2k-bahdanau\nFew pairs: set training.epochs=")


def test_settings_without_effect_are_named():
    result = CliRunner().invoke(data, ["digits", "--set", "data.batch_size=8", "--set", "data.batch_chars=100"])
    assert result.stderr.startswith("warning: data.batch_size 8 has no effect, because data.batch_chars is 100.")
