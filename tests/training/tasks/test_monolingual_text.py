"""Which monolingual text a run uses, in which batches, and how long the searched translations may be."""

import dataclasses
import itertools

import numpy as np
import pytest

from bytenet.config import Config, DataConfig, SemiSupervisedConfig, TrainingConfig
from bytenet.config.families.bytenet import ByteNetConfig
from bytenet.datasets import Corpus, Pairs, Vocabulary, pair_lengths, plan_from_config, training_dataset
from bytenet.errors import InputError
from bytenet.training.tasks.direction import directions_taught
from bytenet.training.tasks.monolingual_text import monolingual_texts, semi_supervised_dataset

PAIRS = Pairs(["a", "ab", "abc", "abcd", "abcde"] * 2, ["A", "ABAB", "AB", "ABCAB", "A"] * 2)
VOCABULARY = Vocabulary.from_texts(PAIRS.source, PAIRS.target, unknown="drop")
SOURCES = ["ab" * (number % 4) + "c" for number in range(21)]
STARTS = {"start_forward": "forth", "start_backward": "back"}
TARGETS = ["A" * (1 + number % 6) for number in range(13)]


def corpus(source=SOURCES, target=TARGETS) -> Corpus:
    return Corpus("files", PAIRS, None, None, "de", "en", monolingual_source=source, monolingual_target=target)


def config(data=(), training=(), model=(), **semi) -> Config:
    data_settings = {"batch_size": 4, "unknown": "drop", "min_length": 0, "num_buckets": 2, "bucket_min_size": 1}
    return Config(
        model=ByteNetConfig(**dict(model)),
        data=DataConfig(**data_settings | dict(data)),
        training=TrainingConfig(**dict(training)),
        semi_supervised=SemiSupervisedConfig(**{"enabled": True, "num_buckets": 2, "bucket_min_size": 2} | semi),
    )


def prepared(of_corpus, settings, vocabulary=VOCABULARY, replicas=1):
    of_corpus = of_corpus or corpus()
    sides = {"source": of_corpus.train.source, "target": of_corpus.train.target}
    lengths = {side: vocabulary.encoded_lengths(sentences) for side, sentences in sides.items()}
    return monolingual_texts(of_corpus, settings, vocabulary, lengths, replicas)


def texts(of_corpus=None, vocabulary=VOCABULARY, replicas=1, **settings):
    found = prepared(of_corpus, config(**settings), vocabulary, replicas)
    return {text.side: text for text in found}


@pytest.mark.parametrize(
    ("of_corpus", "weights", "sides"),
    [
        (corpus(), {}, {"source", "target"}),
        (corpus(), {"source_weight": 0.0}, {"target"}),
        (corpus(), {"target_weight": 0.0}, {"source"}),
        (corpus(target=None), {}, {"source"}),
        (corpus(source=[]), {}, {"target"}),
        (corpus(None, None), {}, set()),
        (corpus(), {"source_weight": 0.0, "target_weight": 0.0}, set()),
    ],
)
def test_text_is_used_if_it_exists_and_has_a_weight(of_corpus, weights, sides):
    assert texts(of_corpus, **weights).keys() == sides


@pytest.mark.parametrize(
    ("settings", "sides"),
    [
        ({}, {"source": ["forward", "backward"], "target": ["forward", "backward"]}),
        ({"trained": "forward", **STARTS}, {"source": ["forward"], "target": ["forward"]}),
        ({"objective": "back_translation"}, {"source": ["backward"], "target": ["forward"]}),
        ({"objective": "back_translation", "trained": "forward", **STARTS}, {"target": ["forward"]}),
        ({"objective": "back_translation", "trained": "backward", **STARTS}, {"source": ["backward"]}),
    ],
)
def test_text_that_teaches_no_translator_is_not_used(settings, sides):
    found = texts(**settings)
    assert {side: directions_taught(side, config(**settings).semi_supervised) for side in found} == sides


@pytest.mark.parametrize(
    ("settings", "rows"),
    [({}, {3, 2}), ({"batch_chars": 18}, {4, 3}), ({"batch_size": 5}, {5})],
)
def test_text_batches_are_as_large_as_pair_batches_unless_configured(settings, rows):
    found = texts(corpus(["abc", "abcd"] * 8, None), data={"batch_chars": 12}, num_buckets=2, **settings)
    assert {rows for rows, _ in found["source"].plan.shapes} == rows


def test_sentences_outside_the_limits_are_left_out_and_counted():
    of_corpus = corpus(["", "a", "ab", "abc", "abcd"], None)
    selected = texts(of_corpus, data={"min_length": 2, "max_length": 3})["source"].selected
    assert (selected.texts, selected.outside_limits, selected.unknown_characters) == (["ab", "abc"], 3, 0)


@pytest.mark.parametrize(("unknown", "kept"), [("symbol", ["abc", "cab"]), ("drop", ["abc", "abx", "cab", "xyz"])])
def test_unknown_characters_exclude_a_sentence_unless_they_are_dropped(unknown, kept):
    vocabulary = Vocabulary.from_texts(PAIRS.source, PAIRS.target, unknown=unknown)
    of_corpus = corpus(["abc", "abx", "cab", "xyz"])
    # The last sentence is empty without its unknown characters. An empty sentence is text, too.
    selected = texts(of_corpus, vocabulary, data={"unknown": unknown})["source"].selected
    assert (selected.texts, selected.unknown_characters) == (kept, 4 - len(kept))


@pytest.mark.parametrize(
    ("starts", "origin"), [({}, "training pairs"), (STARTS, r"model of semi_supervised\.start_forward")]
)
def test_error_names_the_settings_if_no_sentence_can_be_used(starts, origin):
    message = rf"None of the 2 sentences of monolingual target .* need 3 to 9 .* of the {origin}\. .*data\.max_length"
    with pytest.raises(InputError, match=message):
        texts(corpus(target=["A", "AA"]), data={"min_length": 3, "max_length": 9}, **starts)


def test_sample_keeps_its_order_and_depends_on_the_seed():
    numbered = [f"{'a' * (number // 10)}b{'c' * (number % 10)}" for number in range(100)]

    def sample(**data):
        return texts(corpus(numbered, None), data=data)["source"].selected.texts

    ten = sample(num_monolingual=10, monolingual_seed=3)
    assert len(ten) == 10
    assert [numbered.index(text) for text in ten] == sorted(numbered.index(text) for text in ten)
    assert ten == sample(num_monolingual=10, monolingual_seed=3)
    assert ten != sample(num_monolingual=10, monolingual_seed=4)
    assert set(ten) < set(sample(num_monolingual=20, monolingual_seed=3))
    assert sample(num_monolingual=1000) == numbered


def test_search_length_comes_from_pairs_with_no_longer_source():
    found = texts(corpus(["ab", "abcd"] * 4, ["A", "ABCABA"] * 4), source_weight=0.5)
    # Padded lengths count the end symbol. Up to "ab", the longest target is "ABAB". Up to "abcd", it is "ABCAB".
    assert found["source"].search_lengths == {3: 5, 5: 6}
    # Up to "A" or "AB", the longest source is "abcde". It is the same for longer targets.
    assert found["target"].search_lengths == {2: 6, 7: 6}


def test_text_shorter_than_all_pairs_is_searched_like_the_shortest_pair():
    short = Corpus("files", Pairs(["abcd", "abc"], ["ABC", "AB"]), None, None, "de", "en", monolingual_source=["a", ""])
    assert texts(short)["source"].search_lengths == {2: 3}


def test_search_length_does_not_exceed_the_length_rule_of_the_model():
    shortened = {"unfold_scale": 0.5, "unfold_offset": 1}
    found = texts(corpus(["ab", "abcd"] * 4, None), model=shortened)
    assert found["source"].search_lengths == {3: 3, 5: 4}


@pytest.mark.parametrize("model", [{"length_rule": "pair"}, {"settings": "thesis"}])
def test_search_length_of_the_pair_rule_is_the_padded_text_length(model):
    found = texts(corpus(["ab", "abcd"] * 4, None), model=model)
    assert found["source"].search_lengths == {3: 3, 5: 5}


def test_text_batches_have_their_own_settings():
    found = texts(batch_size=3, bucketing="none", replicas=2)
    assert [(bucket.batch_size, bucket.upper) for bucket in found["source"].plan.buckets] == [(4, 8)]
    assert [bucket.batch_size for bucket in texts()["source"].plan.buckets] == [4, 4]
    by_chars = texts(batch_chars=16)["source"].plan
    assert [bucket.batch_size for bucket in by_chars.buckets] == [16 // bucket.upper for bucket in by_chars.buckets]


def batches(of_corpus=None, count=8, step=0, loss="sentence", seed=3, **weights):
    """The first batches of a run from a given step, as NumPy arrays."""
    settings = config(training={"seed": seed}, **weights)
    plan = plan_from_config(pair_lengths(PAIRS, VOCABULARY), settings.data)
    epoch, batch = divmod(step, plan.num_batches)
    pairs = training_dataset(PAIRS, VOCABULARY, plan, seed, epoch, batch, loss)
    found = prepared(of_corpus, settings)
    dataset = semi_supervised_dataset(pairs, found, VOCABULARY, loss, step)
    assert dataset.options().autotune.enabled is False
    return list(itertools.islice(dataset.as_numpy_iterator(), count))


def decoded(ids):
    return [VOCABULARY.decode(row) for row in ids if row.any()]


@pytest.fixture(scope="module")
def unbroken():
    """The first batches of an uninterrupted run with both texts."""
    return batches(count=24)


def test_each_text_repeats_after_its_own_number_of_batches(unbroken):
    rounds = {side: text.plan.num_batches for side, text in texts().items()}
    assert len(set(rounds.values())) == 2
    for side, whole in (("source", SOURCES), ("target", TARGETS)):
        for begin in range(0, len(unbroken) - rounds[side], rounds[side]):
            one_round = unbroken[begin : begin + rounds[side]]
            assert sorted(itertools.chain(*(decoded(batch[side][0]) for batch in one_round))) == sorted(whole)


def test_order_of_a_stream_does_not_depend_on_other_streams(unbroken):
    source_alone = batches(corpus(target=None), count=12)
    assert source_alone[0].keys() == {"pairs", "source"}
    for part in ("source", "pairs"):
        np.testing.assert_equal([batch[part] for batch in source_alone], [batch[part] for batch in unbroken[:12]])
    target_alone = batches(count=12, source_weight=0.0)
    np.testing.assert_equal([batch["target"] for batch in target_alone], [batch["target"] for batch in unbroken[:12]])


def test_order_depends_on_the_seed(unbroken):
    other_seed = batches(count=12, seed=4)
    for part in ("pairs", "source", "target"):
        with pytest.raises(AssertionError):
            np.testing.assert_equal([batch[part] for batch in other_seed], [batch[part] for batch in unbroken[:12]])


def test_two_texts_of_equal_size_have_different_orders():
    same = batches(corpus(SOURCES, SOURCES), count=6)
    with pytest.raises(AssertionError):
        np.testing.assert_equal([batch["source"] for batch in same], [batch["target"] for batch in same])


@pytest.mark.parametrize("step", [1, 14])
def test_batches_from_any_step_equal_an_uninterrupted_stream(unbroken, step):
    np.testing.assert_equal(batches(count=10, step=step), unbroken[step : step + 10])


@pytest.mark.parametrize("loss", ["sentence", "character"])
def test_every_part_is_averaged_over_its_own_sentences_or_characters(unbroken, loss):
    with_fillers = 0
    for batch in unbroken if loss == "sentence" else batches(count=12, loss=loss):
        parts = [batch["source"], batch["target"]]
        pairs = batch["pairs"]
        parts += [(pairs["target_ids"], pairs["forward_weights"]), (pairs["source_ids"], pairs["backward_weights"])]
        for ids, weights in parts:
            real = ids.any(axis=1)
            with_fillers += not real.all()
            count = real.sum() if loss == "sentence" else (ids != 0).sum()
            np.testing.assert_allclose(weights, real * len(ids) / count, rtol=1e-6)
    assert with_fillers


def test_the_corpus_is_not_changed():
    of_corpus = corpus()
    before = dataclasses.replace(of_corpus, monolingual_source=[*SOURCES], monolingual_target=[*TARGETS])
    texts(of_corpus, data={"num_monolingual": 3})
    assert of_corpus == before
