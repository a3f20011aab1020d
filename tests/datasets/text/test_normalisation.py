"""Text is normalised once, to the NFC of TensorFlow Text, so that all forms of a letter get the same ids."""

import unicodedata

import numpy as np
import pytest
import tensorflow as tf
import tensorflow_text
from hypothesis import given, settings
from hypothesis import strategies as st

from bytenet.config import DataConfig
from bytenet.datasets import (
    Corpus,
    Pairs,
    Vocabulary,
    evaluation_dataset,
    monolingual_dataset,
    pair_lengths,
    plan_batches,
    select_monolingual,
    select_training_pairs,
    training_dataset,
)
from bytenet.datasets.text.characters import character_counts, comparable
from bytenet.datasets.text.encoding import encode_texts
from bytenet.datasets.text.graph_encoding import encode_graph
from bytenet.datasets.text.normalisation import NormalisedTexts, normalise

from .strategies import ODD, any_text

# Marks to reorder and compose, characters with decompositions, Hangul to compose, and marks and letters that are new
# in Unicode 15 and 16.
MANY_FORMS = "auo\u0308\u0323\u0301\u0345\u00fc\u1e9b\u2126\uac00\u1100\u1161\u0344\u0958\u2adc"
NEW_CHARACTERS = "\U00010efd\U0001e08f\U0001e4ec\u0897\U000105d2\u0307\U00016d67\U00016d63\U00011382\U000113c9"
likely_text = st.text(st.sampled_from(MANY_FORMS + NEW_CHARACTERS + ODD), max_size=12)
texts = st.lists(any_text | likely_text, max_size=5)

COMPOSED = ["über", "für", "\u1e69o", "müde Gemüter", "über", "schön"]
DECOMPOSED = [unicodedata.normalize("NFD", text) for text in COMPOSED]


def in_graph(lines: list[str]) -> list[str]:
    """The result of TensorFlow Text's operation for each text."""
    return [string.decode() for string in tensorflow_text.normalize_utf8(tf.constant(lines, tf.string), "NFC").numpy()]


@settings(max_examples=300)
@given(texts)
def test_each_text_is_normalised_as_by_the_graph_operation(lines):
    assert normalise(lines) == in_graph(lines)


@pytest.mark.parametrize("frame", ["{}", "a{}\u0301", "\u0345{}"])
def test_each_character_is_normalised_as_by_the_graph_operation(frame):
    # The frames test a character alone, as a mark before an accent that composes with the letter, and as a mark that
    # belongs before another. Ideographs of higher planes never change and are left out, unless they stand for others.
    points = [*range(0xD800), *range(0xE000, 0x20000), *range(0x2F800, 0x2FA20), *range(0xE0000, 0xE0200)]
    lines = [frame.format(chr(point)) for point in points]
    assert normalise(lines) == in_graph(lines)


@settings(max_examples=300)
@given(st.lists(st.text(st.characters(exclude_categories=["Cn"]), max_size=20) | likely_text, max_size=5))
def test_characters_known_to_python_are_composed_as_python_composes_them(lines):
    known = [line for line in lines if "Cn" not in map(unicodedata.category, line)]
    assert normalise(known) == [unicodedata.normalize("NFC", line) for line in known]


@given(texts)
def test_second_normalisation_changes_nothing(lines):
    normalised = normalise(lines)
    assert normalise(list(normalised)) == normalised
    assert normalise(normalised) is normalised


def test_texts_of_the_caller_are_not_changed():
    lines = ["u\u0308", "a"]
    assert normalise(lines) == normalise(iter(lines)) == ["ü", "a"]
    assert lines == ["u\u0308", "a"]
    assert normalise([]) == []


def test_nul_and_lone_surrogates_are_kept():
    lines = ["\0u\u0308\0", "\0", "u\u0308\ud800", "\udfff\U000105d2\u0307"]
    assert normalise(lines) == ["\0ü\0", "\0", "ü\ud800", "\udfff\U000105c9"]


def test_text_in_nfc_does_not_start_tensorflow(monkeypatch):
    monkeypatch.delattr("bytenet.datasets.text.normalisation.normalise_graph")
    lines = ["abc", "Gemüse – „für“ 5 €", "z.\u00a0B.\tSta\u00addt\u200b\x85", "日本語", ""]
    assert normalise(lines) == lines
    with pytest.raises(NameError):
        normalise(["u\u0308"])


def batches(dataset: tf.data.Dataset) -> list[np.ndarray]:
    """All arrays in the first batches of a dataset."""
    return [array.numpy() for batch in dataset.take(4) for array in tf.nest.flatten(batch)]


# The ids, lengths, characters or sentences that each public function returns for texts.
PLAN = plan_batches(np.array([len(text) + 1 for text in COMPOSED]), batch_size=2)
VOCABULARY = Vocabulary.from_texts(COMPOSED)
SMALL = Vocabulary("rfe ", "drop")
ENTRIES = {
    "Vocabulary.from_texts": lambda lines: Vocabulary.from_texts(lines).characters,
    "Vocabulary.from_pairs": lambda lines: Vocabulary.from_pairs(Pairs(lines, lines), DataConfig()).characters,
    "Vocabulary.encode": lambda lines: [VOCABULARY.encode(line) for line in lines],
    "Vocabulary.encode_batch": VOCABULARY.encode_batch,
    "encode_graph": lambda lines: encode_graph(VOCABULARY, lines).numpy(),
    "Vocabulary.encoded_lengths": VOCABULARY.encoded_lengths,
    "Vocabulary.encoded_lengths, drop": SMALL.encoded_lengths,
    "Vocabulary.knows": Vocabulary("übermdG tfs").knows,
    "encode_texts": lambda lines: encode_texts(lines, VOCABULARY).ids,
    "pair_lengths": lambda lines: pair_lengths(Pairs(lines, lines[::-1]), VOCABULARY),
    "training_dataset": lambda lines: batches(training_dataset(Pairs(lines, lines), VOCABULARY, PLAN, 1)),
    "evaluation_dataset": lambda lines: batches(evaluation_dataset(Pairs(lines, lines), VOCABULARY, 2)),
    "monolingual_dataset": lambda lines: batches(monolingual_dataset(lines, VOCABULARY, PLAN, 1)),
    "select_training_pairs": lambda lines: select_training_pairs(Pairs(lines, lines), DataConfig(max_length=4)).source,
    "select_monolingual": lambda lines: select_monolingual(lines, DataConfig(max_length=4), VOCABULARY).texts,
    "Corpus": lambda lines: Corpus("own", Pairs([], []), None, None, "de", "en", lines).monolingual_source,
    "character_counts": character_counts,
    "comparable": comparable,
}


@pytest.mark.parametrize("entry", ENTRIES)
def test_decomposed_letters_give_the_same_result_as_composed_letters(entry):
    assert all(len(decomposed) > len(composed) for decomposed, composed in zip(DECOMPOSED, COMPOSED, strict=True))
    composed, decomposed = map(ENTRIES[entry], (COMPOSED, DECOMPOSED))
    assert len(composed)
    for expected, result in zip(composed, decomposed, strict=True):
        np.testing.assert_array_equal(result, expected)


def test_a_corpus_is_normalised_once(monkeypatch):
    calls = []

    def count(strings):
        calls.append(strings)
        return strings

    monkeypatch.setattr("bytenet.datasets.text.normalisation.normalise_graph", count)
    pairs = Pairs(DECOMPOSED, DECOMPOSED)
    assert len(calls) == 2
    pairs = select_training_pairs(pairs, DataConfig()).take(range(4)).reversed()
    vocabulary = Vocabulary.from_pairs(pairs, DataConfig())
    plan = plan_batches(pair_lengths(pairs, vocabulary), batch_size=2)
    batches(training_dataset(pairs, vocabulary, plan, 1))
    assert isinstance(pairs.source, NormalisedTexts)
    assert len(calls) == 2
