"""The shapes of batches."""

import numpy as np
import pytest

from bytenet.decoding.batches.batching import BatchShapes, pad_batch

LENGTHS = [5, 9, 1, 7, 3, 8, 2]


def test_numbers_of_rows():
    assert BatchShapes(1).numbers_of_rows == (1,)
    assert BatchShapes(12).numbers_of_rows == (1, 2, 4, 8, 12)
    assert BatchShapes(16, row_factor=4).numbers_of_rows == (1, 4, 16)


def test_padded_lengths():
    shapes = BatchShapes(1)
    assert [shapes.padded_length(length) for length in (1, 32, 33, 64, 65, 800)] == [32, 32, 64, 64, 128, 1024]
    assert shapes.up_to(200) == [(1, 32), (1, 64), (1, 128), (1, 256)]
    assert BatchShapes(1, longest=150).up_to(200) == [(1, 32), (1, 64), (1, 128), (1, 150)]
    assert BatchShapes(2, trained_lengths=[3, 8, 20]).up_to(8) == [(1, 3), (2, 3), (1, 8), (2, 8)]


def test_batches_have_few_shapes():
    assert list(BatchShapes(4).batches(LENGTHS)) == [([2, 6, 4, 0], 4, 32), ([3, 5, 1], 4, 32)]
    assert list(BatchShapes(3).batches(LENGTHS[:3])) == [([2, 0, 1], 3, 32)]
    shapes = BatchShapes(32, row_factor=4)
    assert [next(shapes.batches([9] * count))[1] for count in (1, 2, 4, 5, 17, 32)] == [1, 4, 4, 16, 32, 32]


def test_batches_are_padded_as_in_training_if_the_model_reads_padding():
    batches = list(BatchShapes(2, trained_lengths=[3, 8]).batches(LENGTHS))
    assert batches == [([2, 6], 2, 3), ([4], 1, 3), ([0, 3], 2, 8), ([5], 1, 8), ([1], 1, 9)]
    shapes = BatchShapes(4, trained_lengths=[3, 8])
    assert list(shapes.batches([])) == []
    # Lines longer than any in training get no padding.
    assert list(shapes.batches([12, 9, 12])) == [([1], 1, 9), ([0, 2], 2, 12)]


def test_pad_batch():
    batch = pad_batch([np.array([3, 1]), np.array([1])], rows=3, length=3)
    assert batch.dtype == np.int32
    assert batch.tolist() == [[3, 1, 0], [1, 0, 0], [0, 0, 0]]


@pytest.mark.parametrize(
    ("argument", "value", "least"), [("batch_size", 0, 1), ("batch_size", -1, 1), ("row_factor", 1, 2)]
)
def test_numbers_below_the_least_are_refused(argument, value, least):
    with pytest.raises(ValueError, match=f"{argument} is {value}; expected {least} or more"):
        BatchShapes(**{"batch_size": 4} | {argument: value})
