"""Minimum Bayes risk, by sacreBLEU's chrF."""

import numpy as np
import pytest
from sacrebleu import sentence_chrf

from bytenet.decoding import Sampling, Translator
from bytenet.decoding.minimum_bayes_risk import minimum_bayes_risk
from bytenet.decoding.scoring import PairScorer
from bytenet.lite.reranking import Reranker
from bytenet.lite.translation import Translation

from .inputs import LINES, VOCABULARY

TEXTS = ["a dog runs", "two cats sleep", "a dog runs", "the dog ran", "", "a dog sleeps"]
TRANSLATIONS = [
    Translation(text, 0.0, log_probability, True)
    for text, log_probability in zip(TEXTS, [-3.0, -0.1, -3.0, -4.0, -5.0, -700.0], strict=True)
]


@pytest.mark.parametrize("are_samples", [True, False])
def test_the_score_is_the_mean_chrf_with_the_others_as_references(are_samples):
    weights = np.ones(len(TEXTS)) if are_samples else np.exp([one.log_probability for one in TRANSLATIONS])
    expected = {
        text: np.average([sentence_chrf(text, [reference]).score for reference in TEXTS], weights=weights)
        for text in TEXTS
    }
    ranked = minimum_bayes_risk(TRANSLATIONS, are_samples)
    assert [one.score for one in ranked] == pytest.approx(sorted((expected[text] for text in TEXTS), reverse=True))
    for one in ranked:
        assert one.score == pytest.approx(expected[one.text])
    # The samples that are alike win, and the likeliest hypothesis of the beam.
    assert ranked[0].text == ("a dog runs" if are_samples else "two cats sleep")
    assert sorted(one.log_probability for one in ranked) == sorted(one.log_probability for one in TRANSLATIONS)


def test_translations_without_an_end_come_last():
    ranked = minimum_bayes_risk([TRANSLATIONS[0]._replace(ended=False), *TRANSLATIONS[1:3]], True)
    assert [one.ended for one in ranked] == [True, True, False]


@pytest.mark.parametrize("search", [{"sampling": Sampling(samples=8)}, {"beam_size": 8}])
def test_all_hypotheses_are_ranked_whatever_the_number_that_is_returned(model, search):
    before = list(Translator(model, VOCABULARY, **search).translate(LINES, 8))
    many, one = (list(Translator(model, VOCABULARY, **search, mbr=True).translate(LINES, n)) for n in (8, 1))
    assert [[best.text for best, *_ in rows] for rows in (many, one)].count([row[0].text for row in before]) == 0
    for plain, ranked, [best] in zip(before, many, one, strict=True):
        assert ranked == minimum_bayes_risk(plain, "sampling" in search)
        assert ranked[0] == best


def test_one_hypothesis_cannot_be_ranked(model):
    for search in ({"beam_size": 1}, {"sampling": Sampling(samples=1)}):
        with pytest.raises(ValueError, match=r"--samples .* or --beam-size .* to 2 or more"):
            Translator(model, VOCABULARY, **search, mbr=True)


def test_only_one_ranking_is_allowed(model):
    reranker = Reranker(PairScorer(model, VOCABULARY), 1.0, 0.6, "gnmt", "backward")
    with pytest.raises(ValueError, match="expected one of them"):
        Translator(model, VOCABULARY, reranker=reranker, mbr=True)
