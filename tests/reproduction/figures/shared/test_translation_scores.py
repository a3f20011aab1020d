"""Scores of translations as columns of a table."""

from bytenet.reproduction.figures.shared.translation_scores import bootstrap_of_one


def test_only_a_single_training_has_an_interval_over_sentences():
    row = {"bleu": 20.0, "bleu_low": 19.0, "bleu_high": 21.5}
    assert bootstrap_of_one([row], "bleu") == (19.0, 21.5)
    assert bootstrap_of_one([row, row], "bleu") is None
    assert bootstrap_of_one([], "bleu") is None
    assert bootstrap_of_one([row | {"bleu_low": "", "bleu_high": ""}], "bleu") is None
