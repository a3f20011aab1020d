"""The figures beside presets are complete, and are shown only where there are some."""

from dataclasses import replace

import pytest

from bytenet.config import preset_names
from bytenet.config.preset_files import measured_files
from bytenet.presets.expectations import expectation, measured


@pytest.mark.parametrize("name", sorted(measured_files()))
def test_figures_belong_to_a_preset_and_are_in_order(name):
    assert name in preset_names()
    reached = measured(name).reached
    minutes = [row.minutes for row in reached]
    assert minutes == sorted(set(minutes))
    assert all(0 <= row.bleu <= 100 and 0 <= row.chrf <= 100 for row in reached)


def test_what_to_expect_has_times_scores_and_machine():
    text = expectation("multi30k-attention")
    for part in ("7.8 BLEU after 10 minutes", "29.3 BLEU after 96 minutes (the end)", "2 cores", "commit a57221a"):
        assert part in text


def test_nothing_is_expected_of_what_was_not_measured():
    assert expectation("europarl") is None
    assert expectation("my.yaml") is None
    assert expectation("multi30k-attention", ["training.seed=2", "model.dropout=0.1"]) is None


def test_figures_from_a_start_are_for_this_start_alone(monkeypatch):
    figures = replace(measured("multi30k-attention"), start="de-en")
    monkeypatch.setattr("bytenet.presets.expectations.measured", lambda preset: figures)
    assert expectation("multi30k-attention", ["training.start=de-en"]).startswith("What to expect: 7.8 BLEU after")
    for others in ([], ["training.start=en-de"], ["training.start=de-en", "model.dropout=0.1"]):
        assert expectation("multi30k-attention", others) is None


def test_another_seed_may_be_expected_to_reach_the_same():
    assert expectation("multi30k-attention", ["training.seed=2"]) == expectation("multi30k-attention")
