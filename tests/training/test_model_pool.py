"""Models that are used again: which runs share one, and that it is as new for each."""

import dataclasses

import keras
import numpy as np
import pytest
import tensorflow as tf
from keras.ops import convert_to_numpy

from bytenet.datasets import Vocabulary
from bytenet.training.checkpoints import training_variables
from bytenet.training.model_pool import ModelPool
from bytenet.training.tasks.trainable_pair import make_trainable_pair
from bytenet.training.trainable_model import make_trainable_model
from bytenet.training.translators import translators_of

VOCABULARY = Vocabulary("abcdef")
IDS = np.array([[3, 4, 1, 0], [5, 1, 0, 0]], np.int32)


def maker(config, seed, total_steps=10):
    """Makes a model of a configuration with weights of its own."""

    def make():
        keras.utils.set_random_seed(seed)
        strategy = tf.distribute.get_strategy()
        if config.semi_supervised.enabled:
            return make_trainable_pair(config, VOCABULARY, strategy, False, total_steps, ("source",))
        return make_trainable_model(config, VOCABULARY, strategy, False, total_steps)

    return make


def seeded(config, seed):
    return dataclasses.replace(config, training=dataclasses.replace(config.training, seed=seed))


@pytest.mark.parametrize(
    ("overrides", "shared"),
    [
        (["training.seed=9", "training.epochs=7"], True),
        (["data.train_seed=5", "data.num_train=99", "data.num_monolingual=7", "data.reversed=true"], True),
        (["semi_supervised.source_weight=0.01", "semi_supervised.target_weight=3"], True),
        (["semi_supervised.start_forward=a", "semi_supervised.start_backward=b"], True),
        (["semi_supervised.beam_size=2"], False),
        (["semi_supervised.ramp_steps=2"], False),
        (["semi_supervised.objective=back_translation"], False),
        (["semi_supervised.duplicates=merge"], False),
        (["semi_supervised.batch_norm_statistics=batch"], False),
        (["semi_supervised.trained=forward", "semi_supervised.start_backward=b"], False),
        (["semi_supervised.enabled=false"], False),
        (["training.learning_rate=0.1"], False),
        (["training.clip_norm=null"], False),
        (["model.dim=6"], False),
        (["model.dropout=0.3"], False),
        (["evaluation.beam_size=2"], False),
    ],
)
def test_runs_share_a_model_where_nothing_that_is_traced_differs(smallest_config, overrides, shared):
    pool = ModelPool()
    semi = ("semi_supervised.enabled=true", "semi_supervised.beam_size=3")
    models = [
        pool.model(config, ("key",), maker(seeded(config, 1), 1))
        for config in (smallest_config(*semi), smallest_config(*semi, *overrides))
    ]
    assert (models[0] is models[1]) == shared


def test_another_key_means_another_model(smallest_config):
    pool, config = ModelPool(), smallest_config()
    first = pool.model(config, (10, 29), maker(config, 1))
    assert pool.model(config, (10, 30), maker(config, 1)) is not first
    assert pool.model(config, (10, 29), maker(config, 1)) is first


@pytest.mark.parametrize("semi", [False, True])
def test_a_model_used_again_is_as_new(smallest_config, semi):
    config = smallest_config("model.dropout=0.3", "training.ema_momentum=0.9", f"semi_supervised.enabled={semi}")
    pool = ModelPool()
    used = pool.model(config, (), maker(seeded(config, 1), 1))
    for variable in training_variables(used).values():  # as if it had been trained
        variable.assign(convert_to_numpy(variable) + 3)

    again = pool.model(seeded(config, 2), (), maker(seeded(config, 2), 2, total_steps=99))
    fresh = maker(seeded(config, 2), 2)()
    assert again is used
    assert [translator.optimizer.schedule.total_steps for translator in translators_of(again)] == [99] * (1 + semi)
    values, expected = training_variables(again), training_variables(fresh)
    assert values.keys() == expected.keys()
    for name, variable in values.items():
        np.testing.assert_array_equal(variable, expected[name], err_msg=name)


def test_other_things_are_kept_by_key():
    pool = ModelPool()
    assert pool.keep(("a", 1), lambda: "made") == "made"
    assert pool.keep(("a", 1), lambda: pytest.fail("made twice")) == "made"
    assert pool.keep(("a", 2), lambda: "another") == "another"
