"""Each worker's rows of a batch."""

import tensorflow as tf

from bytenet.datasets.batches.share import Share, in_blocks


def batches():
    rows = tf.reshape(tf.range(12), [6, 2])
    return tf.data.Dataset.from_tensors(({"ids": rows}, rows[:, 0]))


def test_shares_are_equal_blocks_of_rows():
    for worker in range(3):
        ((inputs, firsts),) = Share(3, worker).of(batches())
        assert inputs["ids"].numpy().tolist() == [[4 * worker, 4 * worker + 1], [4 * worker + 2, 4 * worker + 3]]
        assert firsts.numpy().tolist() == [4 * worker, 4 * worker + 2]


def test_a_batch_may_be_one_tensor():
    (rows,) = Share(2, 1).of(tf.data.Dataset.from_tensors(tf.range(4)))
    assert rows.numpy().tolist() == [2, 3]


def test_blocks_of_rows_follow_each_other():
    first, second, third = in_blocks(batches(), 3)
    assert first[0]["ids"].numpy().tolist() == [[0, 1], [2, 3]]
    assert second[1].numpy().tolist() == [4, 6]
    assert third[0]["ids"].numpy().tolist() == [[8, 9], [10, 11]]
    (inputs, *_) = in_blocks(batches().map(lambda inputs, firsts: inputs), 2)
    assert inputs["ids"].shape == (3, 2)  # still a dict


def test_one_worker_has_whole_batches():
    whole = batches()
    assert Share().of(whole) is whole
    assert in_blocks(whole, 1) is whole
