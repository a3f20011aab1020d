"""The corpus report and `bytenet data`."""

import json
import subprocess
import sys
from dataclasses import replace
from io import StringIO
from itertools import pairwise

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from bytenet.cli.data import data
from bytenet.config import DataConfig
from bytenet.datasets.batches.bucketing import pair_lengths, plan_from_config
from bytenet.datasets.corpora import load_corpus
from bytenet.datasets.corpus_report.corpus_report import (
    CorpusReport,
    count_characters,
    find_suspicious,
    is_odd,
    length_bars,
)
from bytenet.datasets.corpus_report.terminal_tables import print_report, visible
from bytenet.datasets.parallel import Pairs
from bytenet.datasets.selection import select_monolingual
from bytenet.datasets.text.vocabulary import Vocabulary
from bytenet.errors import ConfigError, InputError

GERMAN = ["Ein Haus steht da.", "", "gleich", "@@", "Ja\u00a0und[red]", "Zu lang" * 20, "u\u0308ber\u0007"]
ENGLISH = [
    "A house is there.",
    "nothing",
    "gleich",
    "This is a long sentence.",
    "Yes, and",
    "Too long" * 20,
    "over",
]


@pytest.fixture
def config(data_folder):
    """A configuration of files with something of everything that is suspicious."""
    paths = {
        "train_source": data_folder("train.de", GERMAN),
        "train_target": data_folder("train.en", ENGLISH),
        "test_source": data_folder("test.de", ["Ein Haß", "Ein Haus"]),
        "test_target": data_folder("test.en", ["A ha\u2028te", "A house"]),
    }
    return DataConfig(corpus="files", max_length=50, batch_size=2, **{key: str(path) for key, path in paths.items()})


@pytest.fixture
def monolingual_config(config, data_folder):
    """With German text: three sentences to use, one of them of the test set; one too long, one with odd characters."""
    more = data_folder("more.de", ["Ein Haus", "Haus", "a" * 51, "\u732b", "da u\u0308ber"])
    return replace(config, monolingual_source=str(more))


@pytest.fixture
def config_file(config, tmp_path):
    path = tmp_path / "run.yaml"
    lines = [
        f"  {key}: {value}" for key, value in vars(config).items() if key.endswith(("_source", "_target")) and value
    ]
    path.write_text("\n".join(["data:", "  corpus: files", "  max_length: 50", "  batch_size: 2", *lines]) + "\n")
    return str(path)


def test_the_report_agrees_with_what_training_would_do(config):
    report = CorpusReport.from_config(config)
    corpus = load_corpus(config)
    vocabulary = Vocabulary.from_texts(corpus.train.source, corpus.train.target)
    plan = plan_from_config(pair_lengths(corpus.train, vocabulary), config)
    assert report.pairs == {"read": 7, "train": 5, "validation": None, "test": 2}
    assert report.plan.buckets == plan.buckets
    assert report.plan.num_batches == plan.num_batches
    assert report.vocabulary_size == vocabulary.size
    assert {item.character for item in report.alphabet} == set(vocabulary.characters)


def test_lengths_are_those_of_the_training_pairs_in_nfc(config):
    report = CorpusReport.from_config(config)
    source, target = report.source_lengths, report.target_lengths
    assert (source.shortest, source.median, source.mean, source.longest) == (
        2,
        6,
        (18 + 6 + 2 + 11 + 5) / 5,
        18,
    )
    assert (target.shortest, target.longest) == (4, 24)
    assert sum(count for _, _, count in report.length_histogram) == 5
    assert report.length_histogram[0][0] == 6
    assert report.length_histogram[-1][1] >= 25


@given(st.lists(st.integers(1, 500), min_size=1).map(np.array))
def test_bars_hold_every_length_once(lengths):
    bars = length_bars(lengths)
    assert len(bars) <= 20
    assert [count for _, _, count in bars] == [((lengths >= low) & (lengths <= high)).sum() for low, high, _ in bars]
    assert sum(count for _, _, count in bars) == len(lengths)
    assert all(one[1] + 1 == other[0] for one, other in pairwise(bars))


def test_characters_are_counted_named_and_marked():
    counted = {item.character: item for item in count_characters(Pairs(["a" * 12 + "ü\t"], ["u\u0308\u200b "]))}
    assert list(counted) == ["a", "ü", "\t", " ", "\u200b"]
    assert (counted["a"].count, counted["a"].rare, counted["a"].odd) == (12, False, False)
    assert (counted["ü"].count, counted["ü"].rare, counted["ü"].odd) == (2, True, False)
    assert (counted["ü"].code_point, counted["ü"].name) == ("U+00FC", "LATIN SMALL LETTER U WITH DIAERESIS")
    assert (counted["\t"].code_point, counted["\t"].name) == ("U+0009", "(no name, category Cc)")
    assert (counted["\u200b"].name, counted["\u200b"].odd) == ("ZERO WIDTH SPACE", True)


@pytest.mark.parametrize(
    "character", ["\0", "\t", "\x85", "\xa0", "\xad", "\u0308", "\u2028", "\ufeff", "\ufffd", "\u0378"]
)
def test_odd_characters(character):
    assert is_odd(character)


@pytest.mark.parametrize("character", [" ", "a", "ß", "„", "–", "€", "漢", "😀", "7"])
def test_characters_that_are_not_odd(character):
    assert not is_odd(character)


def test_suspicious_pairs_are_found_by_their_line():
    found = {item.reason: item for item in find_suspicious(Pairs(GERMAN, ENGLISH))}
    assert [item.count for item in found.values()] == [1, 1, 1]
    empty, equal, ratio = found.values()
    assert empty.examples == ((2, "", "nothing"),)
    assert equal.examples == ((3, "gleich", "gleich"),)
    assert ratio.examples == ((4, "@@", "This is a long sentence."),)


@pytest.mark.parametrize(
    ("source", "target", "reason"),
    [
        (" \u00a0", "x", "a side is empty"),
        ("x", "\t", "a side is empty"),
        ("", "", "a side is empty"),
        ("a" * 20, "b" * 6, "one side 3 times as long as the other, or more"),
        ("a" * 20, "b" * 7, None),
        ("a" * 19, "b", None),
        ("a", "b", None),
    ],
)
def test_the_limits_of_suspicion(source, target, reason):
    found = [item.reason for item in find_suspicious(Pairs([source], [target])) if item.count]
    assert found == ([reason] if reason else [])


def test_only_some_examples_are_kept():
    empty = find_suspicious(Pairs([""] * 100, ["x"] * 100))[0]
    assert empty.count == 100
    assert [line for line, _, _ in empty.examples] == [1, 2, 3, 4, 5]


def test_characters_that_training_never_sees(config):
    report = CorpusReport.from_config(config)
    assert report.unseen == {"test": {"\u2028": 1, "ß": 1}}


def test_characters_below_the_minimum_count_are_refused_by_training_not_by_the_report(data_folder):
    paths = {"train_source": data_folder("a", ["aab"]), "train_target": data_folder("b", ["aaa"])}
    paths["monolingual_source"] = data_folder("c", ["aaa", "aba"])
    settings = {key: str(path) for key, path in paths.items()}
    report = CorpusReport.from_config(DataConfig(corpus="files", unknown="error", min_character_count=2, **settings))
    assert report.vocabulary_size == 4
    assert {item.character for item in report.alphabet} == {"a", "b"}
    assert (report.monolingual["source"].used, report.monolingual["source"].unknown_characters) == (1, 1)


def test_sides_are_compared_as_they_look():
    sources, targets = ["Ha\u0308user", "ein", "\u200b\ufeff ", "a" * 40], ["H\u00e4user", "one", "two", "a\u0308" * 40]
    empty, equal, unequal = find_suspicious(Pairs(sources, targets))
    assert [line for line, _, _ in empty.examples] == [3]
    assert [line for line, _, _ in equal.examples] == [1]
    assert unequal.count == 0


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


def test_json_is_the_whole_report(config, config_file):
    result = CliRunner().invoke(data, [config_file, "--json"], catch_exceptions=False)
    assert json.loads(result.stdout) == json.loads(json.dumps(CorpusReport.from_config(config).to_dict()))


def test_settings_can_be_changed(config_file):
    result = CliRunner().invoke(data, [config_file, "--json", "--set", "data.max_length=500"], catch_exceptions=False)
    assert json.loads(result.stdout)["pairs"]["train"] == 6


@pytest.mark.parametrize("arguments", [["--list"], ["--list", "--json"]])
def test_the_list_of_corpora(arguments):
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


@pytest.mark.parametrize(
    ("arguments", "named"), [([], "Missing PRESET_OR_FILE"), (["digits", "--list"], "--list shows")]
)
def test_wrong_use(arguments, named):
    result = CliRunner().invoke(data, arguments)
    assert result.exit_code == 2
    assert named in result.stderr


def test_mistakes_in_the_corpus_and_the_settings_are_raised_for_the_command(config_file):
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
def test_what_does_not_show_is_made_visible(text, shown):
    assert visible(text) == shown


def test_every_public_name_is_there():
    import bytenet.datasets

    for name in bytenet.datasets.__all__:
        assert getattr(bytenet.datasets, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'other'"):
        bytenet.datasets.other  # noqa: B018


def test_text_without_translations_is_counted_as_training_uses_it(monolingual_config):
    report = CorpusReport.from_config(monolingual_config)
    (text,) = report.monolingual.values()
    corpus = load_corpus(monolingual_config)
    used = select_monolingual(
        corpus.monolingual_source, monolingual_config, Vocabulary.from_pairs(corpus.train, monolingual_config)
    )
    assert used.texts == ["Ein Haus", "Haus", "da über"]
    assert (text.read, text.used, text.outside_limits, text.unknown_characters) == (5, 3, 1, 1)
    assert (text.lengths.shortest, text.lengths.longest) == (4, 8)
    assert text.held_out == {"test": 1}
    assert list(report.monolingual) == ["source"]
    assert report.to_dict()["monolingual"]["source"]["used"] == 3


def test_text_that_is_in_a_held_out_set_is_warned_of(monolingual_config):
    console = Console(record=True, width=200, file=StringIO())
    print_report(CorpusReport.from_config(monolingual_config), console)
    said = console.export_text()
    assert "Monolingual source text\n3 of 5 sentences are used; left out: 1 for their length, 1 for characters" in said
    assert "characters: 4 to 8, median 7" in said
    assert "warning: 1 sentences of test are among them" in said
    assert "Monolingual target text" not in said
