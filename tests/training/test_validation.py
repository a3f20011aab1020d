"""What training measures, and on which batches."""

import numpy as np
import tensorflow as tf

from bytenet.datasets import Pairs, Vocabulary, evaluation_dataset, length_groups
from bytenet.decoding import Translator, forbidden_symbols
from bytenet.models import build_model
from bytenet.training.optimizers.choice import make_optimizer
from bytenet.training.validation import BatchSampler, ValidationFunctions, Validator

PAIRS = Pairs(["a" * length for length in (9, 1, 4, 2, 3, 30)], ["b"] * 6)
VOCABULARY = Vocabulary.from_texts(PAIRS.source, PAIRS.target)


def test_pairs_are_grouped_by_the_buckets_of_training():
    lengths = np.array([10, 2, 5, 3, 4, 31])
    groups = length_groups(lengths, [3, 5, 12])
    # Pairs longer than all training pairs are in the group of the longest pairs.
    assert [(length, members.tolist()) for length, members in groups] == [(3, [1, 3]), (5, [2, 4]), (31, [0, 5])]
    assert [length for length, _ in length_groups(np.array([4]), [3, 5, 12])] == [5]


def test_random_batch_comes_from_one_bucket_and_has_no_pair_twice():
    sampler = BatchSampler(PAIRS, VOCABULARY, [3, 5, 12], batch_size=4, seed=1)
    seen = set()
    for step in range(40):
        batch, length = sampler.batch(step)
        assert (len(set(batch.source)), length) in {(2, 3), (2, 5), (2, 31)}
        assert len(batch) == 2
        seen.add(length)
        assert sampler.batch(step) == (batch, length)
    assert seen == {3, 5, 31}


def test_pass_in_training_buckets_has_every_pair_once_and_no_fillers():
    batches = list(evaluation_dataset(PAIRS, VOCABULARY, batch_size=2, padded_lengths=[5, 31]))
    assert [ids["source_ids"].shape.as_list() for ids, _ in batches] == [[2, 5], [2, 5], [2, 31]]
    assert [indices.numpy().tolist() for _, indices in batches] == [[1, 2], [3, 4], [0, 5]]
    for ids, indices in batches:
        lengths = np.count_nonzero(ids["source_ids"], axis=1) - 1
        assert lengths.tolist() == [len(PAIRS.source[index]) for index in indices.numpy()]


def test_the_epochs_search_as_translators_search(smallest_config):
    settings = [
        "evaluation.beam_size=3", "decoding.length_penalty=0.7", "decoding.length_penalty_rule=length",
        "decoding.min_length=4", "decoding.max_length=5",
    ]  # fmt: skip
    config = smallest_config(*settings)
    model = build_model(config.model, VOCABULARY.size)
    model.compile(make_optimizer(config.training, total_updates=1))
    functions = ValidationFunctions(model, config, forbidden_symbols(config.model, VOCABULARY))
    validator = Validator(functions, VOCABULARY, PAIRS, [3, 5, 12], config, "en")
    _, hypotheses = validator.whole_set()
    expected = Translator(
        model, VOCABULARY, beam_size=3, length_penalty=0.7, length_penalty_rule="length", min_length=4, max_length=5
    )
    assert hypotheses == [best.text for [best] in expected.translate(PAIRS.source)]
    assert {len(hypothesis) for hypothesis in hypotheses} <= {3, 4, 5}
    greedy = ValidationFunctions(model, smallest_config("evaluation.beam_size=1", "decoding.min_length=4"), ())
    assert greedy.whole_set_search.min_length == 4
    assert greedy.greedy_search.min_length == 0


def test_the_loss_of_a_batch_does_not_depend_on_the_shapes_that_came_before(smallest_config):
    """A resumed run meets other shapes first. The last bit of its best score must be the same."""
    model = build_model(smallest_config().model, VOCABULARY.size)
    functions = ValidationFunctions(model, smallest_config(), forbidden_ids=())
    random = np.random.default_rng(1)
    for rows, length in ((2, 5), (3, 7), (2, 9)):
        ids = tf.constant(random.integers(3, VOCABULARY.size, (rows, length)), tf.int32)
        functions.sentence_losses({"source_ids": ids, "target_ids": ids})
    assert functions.sentence_losses.experimental_get_tracing_count() == 1
