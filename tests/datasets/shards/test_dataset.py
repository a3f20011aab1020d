"""Batches from shards: the text of every pair once, the place exact, each worker its own rows."""

import gzip
from itertools import islice

import numpy as np
import pytest
import tensorflow as tf

from bytenet.config import DataConfig
from bytenet.datasets import Vocabulary, loss_weights
from bytenet.datasets.shards.dataset import reason_of_failure, shard_dataset
from bytenet.datasets.shards.folder import ShardFolder
from bytenet.datasets.shards.plan import plan_shards
from bytenet.datasets.shards.sharding.shard_corpus import shard_corpus
from bytenet.datasets.shards.sharding.tf_record import framed
from bytenet.datasets.shards.side_file import ShardPaths
from bytenet.errors import InputError

CONFIG = DataConfig(batch_size=16, min_length=4, bucket_min_width=10)


@pytest.fixture(scope="module")
def vocabulary(shards):
    return Vocabulary([*shards.characters()])


@pytest.fixture(scope="module")
def plan(shards):
    return plan_shards(shards, CONFIG)


def taken(dataset, count):
    return [
        (ids["source_ids"].numpy(), ids["target_ids"].numpy(), target_ids.numpy(), weights.numpy())
        for ids, target_ids, weights in islice(dataset, count)
    ]


def assert_equal(batches, expected):
    assert len(batches) == len(expected)
    for batch, other in zip(batches, expected, strict=True):
        for array, other_array in zip(batch, other, strict=True):
            np.testing.assert_array_equal(array, other_array)


def test_an_epoch_has_the_text_of_every_pair_once(pairs, plan, vocabulary):
    texts = []
    for source_ids, target_ids, labels, _ in taken(shard_dataset(plan, vocabulary, seed=1), plan.num_batches):
        real = source_ids[:, 0] != 0
        assert not target_ids[~real].any()
        np.testing.assert_array_equal(target_ids, labels)
        texts += zip(vocabulary.decode_batch(source_ids[real]), vocabulary.decode_batch(target_ids[real]), strict=True)
    assert sorted(texts) == sorted(pair for pair in pairs if len(pair[0]) >= 4)


def test_dataset_is_not_tuned_while_it_runs(plan, vocabulary):
    assert shard_dataset(plan, vocabulary, seed=1).options().autotune.enabled is False


@pytest.mark.parametrize("loss", ["character", "sentence"])
def test_weights_are_those_of_pairs_in_memory(plan, vocabulary, loss):
    for _, target_ids, _, weights in taken(shard_dataset(plan, vocabulary, 1, loss=loss), plan.num_batches):
        np.testing.assert_array_equal(weights, loss_weights(tf.constant(target_ids), loss))


def test_a_resumed_epoch_reads_exactly_the_rest(plan, vocabulary):
    count = plan.num_batches
    whole = taken(shard_dataset(plan, vocabulary, seed=7), count + 3)
    for step in (1, count // 2, count - 1):
        assert_equal(taken(shard_dataset(plan, vocabulary, 7, 0, step), len(whole) - step), whole[step:])
    for place in ((0, count), (1, 0)):
        assert_equal(taken(shard_dataset(plan, vocabulary, 7, *place), 3), whole[count:])


def test_a_start_reads_only_the_shard_of_its_place(text_files, vocabulary, tmp_path):
    shard_corpus(text_files, tmp_path, shards=4, duplicates_megabytes=1, processes=0)
    plan = plan_shards(ShardFolder.open(tmp_path), CONFIG)
    place = 0, plan.num_batches - 1
    visit = next(plan.visits(7, *place))
    for shard in plan.shards:
        if shard.paths.shard != visit.group:
            shard.paths.records.unlink()
            shard.paths.lengths.unlink()
    assert len(taken(shard_dataset(plan, vocabulary, 7, *place), 1)) == 1


def test_workers_read_their_own_rows_of_the_same_batches(shards, pairs, vocabulary):
    plan = plan_shards(shards, CONFIG, replicas=2, workers=2)
    own = [taken(shard_dataset(plan, vocabulary, 3, worker=worker), plan.num_batches) for worker in (0, 1)]
    texts = []
    for first, second in zip(*own, strict=True):
        source_ids, target_ids, _, weights = (np.concatenate(parts) for parts in zip(first, second, strict=True))
        assert first[0].shape == second[0].shape
        np.testing.assert_array_equal(weights, loss_weights(tf.constant(target_ids), "character"))
        texts += vocabulary.decode_batch(source_ids[source_ids[:, 0] != 0])
    assert sorted(texts) == sorted(source for source, _ in pairs if len(source) >= 4)


def test_the_other_direction_changes_the_sides(plan, vocabulary):
    forward = taken(shard_dataset(plan, vocabulary, 1), 5)
    backward = taken(shard_dataset(plan, vocabulary, 1, reversed=True), 5)
    for (source_ids, target_ids, _, _), (other_source, other_target, _, weights) in zip(forward, backward, strict=True):
        np.testing.assert_array_equal(source_ids, other_target)
        np.testing.assert_array_equal(target_ids, other_source)
        np.testing.assert_array_equal(weights, loss_weights(tf.constant(other_target), "character"))


def test_unknown_characters_become_the_unknown_symbol(plan, vocabulary):
    smaller = Vocabulary([character for character in vocabulary.characters if character != "ü"])
    (source_ids, *_) = taken(shard_dataset(plan, vocabulary, 1), 1)[0]
    (other_ids, *_) = taken(shard_dataset(plan, smaller, 1), 1)[0]
    texts = [text.replace("ü", "\ufffd") for text in vocabulary.decode_batch(source_ids)]
    assert smaller.decode_batch(other_ids) == texts
    assert any("\ufffd" in text for text in texts)


def test_an_unknown_character_that_is_an_error_is_named_with_its_shard(plan, vocabulary):
    smaller = Vocabulary([character for character in vocabulary.characters if character != "ü"], "error")
    with pytest.raises(tf.errors.InvalidArgumentError) as caught:
        taken(shard_dataset(plan, smaller, 1), 1)
    reason = reason_of_failure(caught.value)
    assert ".tfrecord.gz: The character 'ü' (U+00FC) is not in the vocabulary. Shard a corpus without it" in reason
    assert reason.endswith("with data.unknown set to symbol.")


def test_wrong_arguments_are_explained(plan, vocabulary):
    with pytest.raises(InputError, match="expected one of sentence, character"):
        shard_dataset(plan, vocabulary, 1, loss="word")
    with pytest.raises(InputError, match="worker = 1; expected 0 to 0"):
        shard_dataset(plan, vocabulary, 1, worker=1)
    with pytest.raises(InputError, match="cannot be dropped"):
        shard_dataset(plan, Vocabulary("ab", "drop"), 1)


def test_pairs_of_other_lengths_than_the_side_file_says_are_refused(text_files, vocabulary, write_checksums, tmp_path):
    """The size of the text and the checksum are right, but two pairs have changed places."""
    shard_corpus(text_files, tmp_path, shards=1, duplicates_megabytes=1, processes=0)
    paths = ShardPaths(tmp_path, 0)
    records = [*tf.data.TFRecordDataset(str(paths.records), "GZIP").as_numpy_iterator()]
    sizes = [len(record.decode()) for record in records]
    other = next(place for place, size in enumerate(sizes) if size != sizes[0])
    records[0], records[other] = records[other], records[0]
    paths.records.write_bytes(gzip.compress(framed(records)))
    write_checksums(paths)
    folder = ShardFolder.open(tmp_path)
    folder.check()
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"shard-00000\.tfrecord\.gz has texts of other lengths"):
        next(iter(shard_dataset(plan_shards(folder, CONFIG), vocabulary, 1)))


def test_workers_with_empty_shards_have_rows_of_fillers(tmp_path):
    text = tmp_path / "text.tsv"
    text.write_text("eins\tone!\nzwei\ttwo!\ndrei\tthree\n")
    shard_corpus([str(text)], tmp_path / "shards", shards=8, duplicates_megabytes=1, processes=0)
    folder = ShardFolder.open(tmp_path / "shards")
    plan = plan_shards(folder, CONFIG, replicas=2, workers=2)
    assert any(first.pairs == 0 < second.pairs for first, second in batched_by_two(plan.shards))
    vocabulary = Vocabulary([*folder.characters()])
    sources = []
    for worker in (0, 1):
        for source_ids, _, _, weights in taken(shard_dataset(plan, vocabulary, 1, worker=worker), plan.num_batches):
            sources += vocabulary.decode_batch(source_ids[weights > 0])
    assert sorted(sources) == ["drei", "eins", "zwei"]


def batched_by_two(shards):
    return [sorted(shards[place : place + 2], key=lambda shard: shard.pairs) for place in range(0, len(shards), 2)]
