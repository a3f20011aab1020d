"""The figures beside presets are complete, and are shown only where there are some."""

import re
from dataclasses import replace

import pytest

from bytenet.config import load_config, preset_names
from bytenet.config.preset_files import measured_files
from bytenet.presets.expectations import _BETTER, expectation, measured


@pytest.mark.parametrize("name", sorted(measured_files()))
def test_figures_belong_to_a_preset_and_are_in_order(name):
    assert name in preset_names()
    assert measured(name).scored.startswith("greedy translations of ")
    assert re.search("validation (set|sentences)", measured(name).scored)
    reached = measured(name).reached
    minutes = [row.minutes for row in reached]
    assert minutes == sorted(set(minutes))
    assert all(0 <= row.bleu <= 100 and 0 <= row.chrf <= 100 for row in reached)


def test_what_to_expect_has_times_scores_and_machine():
    text = expectation("multi30k-attention")
    for part in ("7.8 BLEU after 10 minutes", "29.3 BLEU after 96 minutes (the end)", "2 cores", "commit a57221a"):
        assert part in text


def test_what_else_the_scores_depend_on_is_said():
    assert "until step 1,434 of 15,352, the learning rate had the schedule of one epoch" in expectation("tatoeba-de-en")


def test_better_presets_are_named_with_their_scores_at_the_end():
    convs2s = (
        "pairs-30k-convs2s --set data.corpus=multi30k reached 28.1 BLEU after 80 minutes on a core of an AMD EPYC, "
        "beside other work (greedy translations of Multi30k's validation set, after training on its 29,000 pairs)."
    )
    assert expectation("multi30k-convs2s") == f"Better settings for the same corpus: {convs2s}"
    for overrides in ([], ["training.seed=2"]):
        text = expectation("multi30k", overrides)
        assert text.startswith("What to expect: 5.6 BLEU after 20 minutes, ")
        assert text.endswith(
            ". Better settings for the same corpus: multi30k-bahdanau reached 32.4 BLEU after 87 minutes on a core "
            f"of an AMD EPYC, beside other work (greedy translations of the first 500 validation sentences); {convs2s}"
        )
    assert "Better settings" not in expectation("multi30k-attention")
    for changed in ("model.source_attention=full", "training.start=de-en"):
        assert expectation("multi30k", [changed]) is None


@pytest.mark.parametrize("name", _BETTER)
def test_better_presets_are_for_the_same_corpus_and_were_better_if_both_were_measured(name):
    for choice in _BETTER[name]:
        better, *options = choice.split()
        data = load_config(better, options[1:]).data
        assert (data.corpus, *data.languages) == (load_config(name).data.corpus, *load_config(name).data.languages)
        assert measured(name) is None or measured(better).reached[-1].bleu > measured(name).reached[-1].bleu


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
