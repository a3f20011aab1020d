"""The pairs of a prepared run and their batches are those of the pipeline."""

from itertools import islice

import numpy as np
import pytest

from bytenet.datasets import load_corpus, plan_from_config, training_dataset
from bytenet.errors import InputError
from bytenet.training.prepared.fitting import fit_prepared, validation_batches
from bytenet.training.prepared.preparation import prepare


@pytest.mark.parametrize("loss", ["character", "sentence"])
def test_batches_are_those_of_the_pipeline(smallest_config, tmp_path, loss):
    config = smallest_config(
        "data.bucketing=optimal", "data.num_buckets=2", "data.num_train=41", f"training.loss={loss}"
    )
    folder = prepare(config, tmp_path / "run")
    pairs, vocabulary = folder.train(), folder.run.vocabulary
    plan = plan_from_config(pairs.lengths, config.data, 1)
    assert any(-1 in batch.indices for batch in plan.epoch(1, 1))  # filler rows
    expected = training_dataset(load_corpus(config.data).train, vocabulary, plan, seed=1, start_epoch=1, loss=loss)
    number = 2 * plan.num_batches
    actual = [*islice(pairs.training_batches(plan, 1, 1, loss), number)]
    for (inputs, targets, weights), batch in zip(actual, expected.take(number), strict=True):
        assert (inputs["source_ids"].dtype, targets.dtype, weights.dtype) == (np.int32, np.int32, np.float32)
        np.testing.assert_array_equal(inputs["source_ids"], batch[0]["source_ids"])
        np.testing.assert_array_equal(inputs["target_ids"], batch[0]["target_ids"])
        np.testing.assert_array_equal(targets, batch[1])
        np.testing.assert_allclose(weights, batch[2], rtol=1e-6)


def test_validation_has_each_pair_once(smallest_config, tmp_path):
    folder = prepare(smallest_config("data.num_validation=7"), tmp_path / "run")
    batches = folder.validation().evaluation_batches([100], batch_size=4)
    rows = np.concatenate([targets for _, targets in batches])
    assert rows.shape == (8, 100)
    encoded = folder.run.vocabulary.encode_batch(load_corpus(folder.run.config.data).validation.target)
    assert sorted(row[row > 0].tolist() for row in rows if row.any()) == sorted(ids.tolist() for ids in encoded)
    arguments = validation_batches(folder.validation(), [100], batch_size=4)
    assert arguments["steps"] == 2
    assert arguments["x"].options().autotune.enabled is False


def test_validation_has_as_many_sentences_as_the_setting_says(smallest_config, tmp_path):
    assert len(prepare(smallest_config("evaluation.max_sentences=3"), tmp_path / "run").validation()) == 3


def test_damaged_pairs_are_named(smallest_config, tmp_path):
    folder = prepare(smallest_config(), tmp_path / "run")
    path = folder.run.prepared / "train.npz"
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])
    with pytest.raises(InputError, match=r"train\.npz is damaged"):
        fit_prepared(folder.run)
