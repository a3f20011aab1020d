"""The tf.data pipeline: batches follow the plan, can be resumed, and have weights for any number of replicas."""

import itertools

import numpy as np
import pytest

from bytenet.datasets.batches.bucketing import plan_batches
from bytenet.datasets.batches.lengths import pair_lengths
from bytenet.datasets.batches.pipeline import evaluation_dataset, loss_weights, monolingual_dataset, training_dataset
from bytenet.datasets.parallel import Pairs
from bytenet.datasets.text.vocabulary import Vocabulary
from bytenet.errors import InputError

RANDOM = np.random.RandomState(5)


def some_text(longest: int) -> str:
    return "".join(RANDOM.choice(list("abcü \u2028"), size=RANDOM.randint(0, longest + 1)))


PAIRS = Pairs([some_text(30) for _ in range(100)], [some_text(25) for _ in range(100)])
VOCABULARY = Vocabulary.from_texts(PAIRS.source, PAIRS.target)
LENGTHS = pair_lengths(PAIRS, VOCABULARY)


def plan(**settings):
    return plan_batches(LENGTHS, **{"batch_size": 8, "min_size": 16, "min_width": 5, **settings})


def first(dataset, count):
    return list(itertools.islice(dataset.as_numpy_iterator(), count))


def assert_same(batches, others):
    for (ids, labels, weights), (other_ids, other_labels, other_weights) in zip(batches, others, strict=True):
        np.testing.assert_array_equal(ids["source_ids"], other_ids["source_ids"])
        np.testing.assert_array_equal(ids["target_ids"], other_ids["target_ids"])
        np.testing.assert_array_equal(labels, other_labels)
        np.testing.assert_array_equal(weights, other_weights)


@pytest.mark.parametrize("unknown", ["symbol", "drop"])
def test_batches_hold_the_planned_pairs(unknown):
    vocabulary = Vocabulary("abü", unknown=unknown)
    chosen = plan_batches(pair_lengths(PAIRS, vocabulary), batch_size=8, min_size=16, min_width=5)
    planned = chosen.epoch(3, 0) + chosen.epoch(3, 1)
    batches = first(training_dataset(PAIRS, vocabulary, chosen, seed=3), len(planned))
    for batch, (ids, labels, weights) in zip(planned, batches, strict=True):
        for side, texts in (("source_ids", PAIRS.source), ("target_ids", PAIRS.target)):
            expected = np.zeros((len(batch.indices), batch.length), np.int32)
            for row, index in enumerate(batch.indices):
                if index >= 0:
                    encoded = vocabulary.encode(texts[index])
                    expected[row, : len(encoded)] = encoded
            np.testing.assert_array_equal(ids[side], expected)
            assert ids[side].dtype == np.int32
        np.testing.assert_array_equal(labels, ids["target_ids"])
        assert (weights.dtype, weights.shape) == (np.float32, (len(batch.indices),))


@pytest.mark.parametrize("start_batch", [0, 1, 7, "last", "all"])
def test_dataset_resumes_at_any_batch(start_batch):
    chosen = plan()
    start_batch = {"last": chosen.num_batches - 1, "all": chosen.num_batches}.get(start_batch, start_batch)
    skipped = chosen.num_batches + start_batch
    whole = first(training_dataset(PAIRS, VOCABULARY, chosen, seed=4), skipped + 2 * chosen.num_batches)
    resumed = training_dataset(PAIRS, VOCABULARY, chosen, seed=4, start_epoch=1, start_batch=start_batch)
    assert_same(first(resumed, 2 * chosen.num_batches), whole[skipped:])


def test_two_passes_are_equal_and_another_seed_differs():
    chosen = plan()
    dataset = training_dataset(PAIRS, VOCABULARY, chosen, seed=4)
    once = first(dataset, chosen.num_batches)
    assert_same(first(dataset, chosen.num_batches), once)
    with pytest.raises(AssertionError):
        assert_same(first(training_dataset(PAIRS, VOCABULARY, chosen, seed=5), chosen.num_batches), once)


def test_mean_of_weighted_row_losses_is_the_mean_of_the_chosen_loss():
    chosen = plan(replicas=2)
    count = chosen.num_batches
    by_character = first(training_dataset(PAIRS, VOCABULARY, chosen, seed=1, loss="character"), count)
    by_sentence = first(training_dataset(PAIRS, VOCABULARY, chosen, seed=1, loss="sentence"), count)
    with_filler = 0
    for batch, character, sentence in zip(chosen.epoch(1, 0), by_character, by_sentence, strict=True):
        real = batch.indices >= 0
        with_filler += not real.all()
        # An invented loss, different for each row and not 0 for filler rows.
        row_loss = 1.0 + np.arange(len(real))
        characters = (character[1] != 0).sum()
        assert np.mean(character[2] * row_loss) == pytest.approx(row_loss[real].sum() / characters)
        assert np.mean(sentence[2] * row_loss) == pytest.approx(row_loss[real].mean())
        # Two replicas: the mean of both means is right, although their numbers of real rows differ.
        halves = np.split(sentence[2] * row_loss, 2)
        assert np.mean([half.mean() for half in halves]) == pytest.approx(row_loss[real].mean())
        assert (character[0]["target_ids"][~real] == 0).all()
        assert (character[0]["source_ids"][~real] == 0).all()
        assert (character[2][~real] == 0).all()
    assert with_filler > 0


def test_a_plan_for_other_pairs_is_refused():
    with pytest.raises(InputError, match="made for other pairs"):
        training_dataset(PAIRS.take(range(50)), VOCABULARY, plan(), seed=1)


def test_an_unknown_loss_is_refused():
    with pytest.raises(InputError, match=r"loss = 'sentences'; expected one of sentence, character"):
        loss_weights(np.ones((2, 3), np.int32), "sentences")
    with pytest.raises(InputError, match=r"'word'.*sentence, character"):
        training_dataset(PAIRS, VOCABULARY, plan(), seed=1, loss="word")


def test_error_rule_refuses_unknown_characters_before_training():
    with pytest.raises(InputError, match="not in the vocabulary"):
        training_dataset(PAIRS, Vocabulary("ab", unknown="error"), plan(), seed=1)


@pytest.mark.parametrize(("batch_size", "max_buckets"), [(8, 3), (7, 4), (1000, 8), (1, 100)])
def test_evaluation_batches_hold_every_pair_once_from_short_to_long(batch_size, max_buckets):
    dataset = evaluation_dataset(PAIRS, VOCABULARY, batch_size, max_buckets)
    batches = list(dataset.as_numpy_iterator())
    assert len(batches) == dataset.cardinality() == -(-100 // batch_size)
    shapes = [ids["source_ids"].shape for ids, _ in batches]
    assert len(set(shapes)) <= max_buckets
    assert shapes == sorted(shapes)
    assert {rows for rows, _ in shapes} == {batch_size}
    seen = np.concatenate([indices for _, indices in batches])
    assert sorted(seen[seen >= 0]) == list(range(100))
    for ids, indices in batches:
        for source, target, index in zip(ids["source_ids"], ids["target_ids"], indices, strict=True):
            if index < 0:
                assert not source.any()
                assert not target.any()
            else:
                assert VOCABULARY.decode(source) == PAIRS.source[index]
                assert VOCABULARY.decode(target) == PAIRS.target[index]
                assert (source == 1).sum() == (target == 1).sum() == 1


def test_evaluation_refuses_no_pairs_and_a_zero_batch_size():
    with pytest.raises(InputError, match="no pairs"):
        evaluation_dataset(Pairs([], []), VOCABULARY, 8)
    with pytest.raises(InputError, match="at least 1"):
        evaluation_dataset(PAIRS, VOCABULARY, 0)


TEXTS = PAIRS.target[:37]
TEXT_PLAN = plan_batches(VOCABULARY.encoded_lengths(TEXTS), batch_size=8, min_size=9, min_width=5, replicas=2)


def test_monolingual_batches_hold_the_planned_texts():
    planned = TEXT_PLAN.epoch(3, 0) + TEXT_PLAN.epoch(3, 1)
    batches = first(monolingual_dataset(TEXTS, VOCABULARY, TEXT_PLAN, seed=3), len(planned))
    assert len({batch.length for batch in planned}) > 1
    with_filler = 0
    for batch, ids in zip(planned, batches, strict=True):
        assert (ids.dtype, ids.shape) == (np.int32, (len(batch.indices), batch.length))
        for row, index in zip(ids, batch.indices, strict=True):
            with_filler += index < 0
            expected = VOCABULARY.encode(TEXTS[index]) if index >= 0 else []
            assert row.tolist() == [*expected, *[0] * (batch.length - len(expected))]
    assert with_filler > 0


def test_no_dataset_is_tuned_while_it_runs():
    """Deleting an iterator of a dataset with autotuning can take a minute."""
    datasets = (
        training_dataset(PAIRS, VOCABULARY, plan(), seed=1),
        evaluation_dataset(PAIRS, VOCABULARY, batch_size=8),
        monolingual_dataset(TEXTS, VOCABULARY, TEXT_PLAN, seed=1),
    )
    assert [dataset.options().autotune.enabled for dataset in datasets] == [False, False, False]


@pytest.mark.parametrize("start", [1, TEXT_PLAN.num_batches, 2 * TEXT_PLAN.num_batches + 3])
def test_monolingual_batches_resume_at_any_batch(start):
    count = 2 * TEXT_PLAN.num_batches
    whole = first(monolingual_dataset(TEXTS, VOCABULARY, TEXT_PLAN, seed=4), start + count)
    resumed = first(monolingual_dataset(TEXTS, VOCABULARY, TEXT_PLAN, seed=4, start=start), count)
    np.testing.assert_equal(resumed, whole[start:])
    with pytest.raises(AssertionError):
        np.testing.assert_equal(
            first(monolingual_dataset(TEXTS, VOCABULARY, TEXT_PLAN, seed=5, start=start), count), resumed
        )


def test_a_plan_for_other_texts_is_refused():
    with pytest.raises(InputError, match="made for other texts"):
        monolingual_dataset(TEXTS[1:], VOCABULARY, TEXT_PLAN, seed=1)


def test_loss_weights_match_an_example():
    ids = np.array([[3, 1, 0], [0, 0, 0], [1, 0, 0], [4, 5, 1]])
    np.testing.assert_allclose(loss_weights(ids, "sentence"), np.array([1, 0, 1, 1]) * 4 / 3)
    np.testing.assert_allclose(loss_weights(ids, "character"), np.array([1, 0, 1, 1]) * 4 / 6)
    for loss in ("sentence", "character"):
        np.testing.assert_array_equal(loss_weights(np.zeros_like(ids), loss), [0, 0, 0, 0])
