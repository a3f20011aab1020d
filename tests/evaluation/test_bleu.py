"""BLEU and chrF equal sacreBLEU in value, interval and signature."""

import sys

import pytest
from sacrebleu.metrics import BLEU, CHRF

from bytenet.errors import InputError
from bytenet.evaluation import bleu, chrf, length_ratio
from bytenet.evaluation.metrics.bleu import _warn_of_characters

HYPOTHESES = [
    "The cat sat on the mat .",
    "A man in a red shirt is riding a bicycle.",
    "Two dogs play in snow.",
    "nothing of this is right at all",
    "",
    "Three children are playing with a ball on the beach.",
]
REFERENCES = [
    "The cat sat on the mat.",
    "A man in a red shirt rides a bicycle.",
    "Two dogs are playing in the snow.",
    "A woman stands at a bus stop.",
    "Somebody sings.",
    "Three children are playing with a ball on the beach.",
]


@pytest.mark.parametrize(("measure", "sacrebleu_metric"), [(bleu, BLEU), (chrf, CHRF)])
def test_value_interval_and_signature_equal_sacrebleu(measure, sacrebleu_metric, monkeypatch):
    monkeypatch.delenv("SACREBLEU_SEED", raising=False)
    metric = sacrebleu_metric()
    expected = metric.corpus_score(HYPOTHESES, [REFERENCES], n_bootstrap=200)

    score = measure(HYPOTHESES, REFERENCES, bootstrap=200)

    assert score.value == pytest.approx(expected.score, abs=1e-9)
    low, high = score.interval
    assert (high - low) / 2 == pytest.approx(expected._ci, abs=1e-3)
    assert low < score.value < high
    assert score.settings == metric.get_signature().format()
    assert "bs:200" in score.settings
    assert score.num_sentences == 6


def test_words_are_split_by_the_rules_of_the_language():
    hypotheses, references = ["他昨天去了北京大学。"], ["他昨天去了北京。"]
    expected = BLEU(tokenize="zh").corpus_score(hypotheses, [references])
    score = bleu(hypotheses, references, bootstrap=0, language="zh-CN")
    assert score.value == pytest.approx(expected.score)
    assert score.value > 60 > 1 > bleu(hypotheses, references, bootstrap=0).value
    assert "tok:zh" in score.settings
    assert length_ratio(hypotheses, references, bootstrap=0, language="zh").value == pytest.approx(10 / 8)


def test_japanese_without_mecab_is_split_into_characters_with_one_warning(monkeypatch, caplog):
    monkeypatch.setitem(sys.modules, "MeCab", None)
    monkeypatch.delitem(sys.modules, "sacrebleu.tokenizers.tokenizer_ja_mecab", raising=False)
    _warn_of_characters.cache_clear()
    scores = [bleu(["猫が好きです。"], ["犬が好きです。"], bootstrap=0, language="ja") for _ in range(2)]
    assert scores[0].value > 50
    assert "tok:char" in scores[0].settings
    [message] = caplog.messages
    assert "sacrebleu[ja]" in message


def test_without_bootstrap_interval_and_its_signature_entry_are_missing():
    score = bleu(HYPOTHESES, REFERENCES, bootstrap=0)
    assert score.interval is None
    assert "bs:" not in score.settings
    assert score.value == bleu(HYPOTHESES, REFERENCES, bootstrap=10).value


def test_another_seed_gives_another_interval_and_the_same_value():
    first, second = (bleu(HYPOTHESES, REFERENCES, bootstrap=50, seed=seed) for seed in (1, 2))
    assert first.value == second.value
    assert first.interval != second.interval
    assert bleu(HYPOTHESES, REFERENCES, bootstrap=50, seed=1) == first


def test_length_ratio_counts_words_as_bleu_does():
    score = length_ratio(["a b c.", "a"], ["a b c d.", "a b"], bootstrap=20)
    assert score.value == pytest.approx(5 / 7)  # full stops count as words
    assert score.interval[0] < score.value <= score.interval[1]
    assert length_ratio(["", ""], ["a b", "c"], bootstrap=0).value == 0


def test_empty_translations_score_zero():
    assert bleu(["", ""], ["a b c d", "e f g h"], bootstrap=10).value == 0
    assert chrf(["", ""], ["a b c d", "e f g h"], bootstrap=10).value == 0


@pytest.mark.parametrize("measure", [bleu, chrf])
def test_unequal_or_no_sentences_are_refused(measure):
    with pytest.raises(InputError, match="2 hypotheses but 1 references"):
        measure(["a", "b"], ["a"])
    with pytest.raises(InputError, match="no sentences"):
        measure([], [])
