"""Runs that also learn from synthetic pairs."""

from dataclasses import replace

import pytest

from bytenet.datasets import load_corpus
from bytenet.errors import ConfigError, InputError
from bytenet.run_folder import RunFolder
from bytenet.training import train


@pytest.fixture
def synthetic(tmp_path):
    """Settings for two synthetic pairs of digits."""
    settings = []
    for side, lines in (("source", "one two\nthree\n"), ("target", "12\n3\n")):
        (tmp_path / side).write_text(lines, encoding="utf-8")
        settings.append(f"data.synthetic_{side}={tmp_path / side}")
    return settings


def test_synthetic_pairs_and_copies_are_announced(smallest_config, beginnings, tmp_path, capsys, synthetic):
    folder = train(smallest_config(*synthetic, "data.pair_copies=2"), tmp_path / "run")
    number = len(load_corpus(smallest_config().data).train)
    said = capsys.readouterr().err
    assert f"{number} training pairs words -> digits (0 left out" in said
    assert f"each of the {number} pairs comes 2 times in an epoch" in said
    assert "2 synthetic pairs are added, with the tag ⇄ in front of their sources" in said
    assert "⇄" in RunFolder.open(folder.path).vocabulary.characters


def test_copies_do_not_change_the_vocabulary(smallest_config, beginnings, tmp_path, capsys, synthetic):
    settings = "data.min_character_count=13", *synthetic
    one = train(smallest_config(*settings), tmp_path / "one")
    four = train(smallest_config(*settings, "data.pair_copies=4"), tmp_path / "four")
    assert RunFolder.open(one.path).vocabulary == RunFolder.open(four.path).vocabulary
    assert "2 synthetic pairs are added, with the unknown symbol as their tag" in capsys.readouterr().err


def test_a_start_must_know_the_tag_of_synthetic_pairs(smallest_config, supervised_run, beginnings, tmp_path, synthetic):
    start = supervised_run("start", "data.unknown=drop")
    config = smallest_config(f"training.start={start.path}", *synthetic, "data.unknown=drop")
    with pytest.raises(InputError, match="does not have '⇄', the tag of the synthetic pairs"):
        train(config, tmp_path / "run")
    known = start.vocabulary.characters[0]
    train(replace(config, data=replace(config.data, synthetic_tag=known)), tmp_path / "run")
    assert len(beginnings) == 1


def test_semi_supervised_run_refuses_synthetic_pairs_before_it_reads_them(semi_config, tmp_path):
    synthetic = "data.synthetic_source=/nowhere", "data.synthetic_target=/nowhere"
    with pytest.raises(ConfigError, match="the backward translator would learn to write what a machine"):
        train(semi_config(*synthetic), tmp_path / "run")
