"""Reused models: which runs share a model, and that it is like new for each run."""

import numpy as np
import pytest
from keras.ops import convert_to_numpy

from bytenet.training.checkpoints import training_variables
from bytenet.training.compiled_models.model_pool import ModelPool
from bytenet.training.tasks import make_task


@pytest.mark.parametrize(
    ("overrides", "shared"),
    [
        (["training.seed=9", "training.epochs=7"], True),
        (["data.train_seed=5", "data.num_train=99", "data.num_monolingual=7", "data.reversed=true"], True),
        (["data.unknown=drop"], False),
        (["data.min_character_count=9"], False),  # fewer symbols
        (["semi_supervised.target_weight=0.1"], False),  # another text
        (["semi_supervised.source_weight=0.01"], True),
        (["semi_supervised.start_forward=a", "semi_supervised.start_backward=b"], True),
        (["semi_supervised.beam_size=2"], False),
        (["semi_supervised.ramp_steps=2"], False),
        (["semi_supervised.objective=back_translation"], False),
        (["semi_supervised.duplicates=merge"], False),
        (["semi_supervised.batch_norm_statistics=batch"], False),
        (["semi_supervised.trained=forward", "semi_supervised.start_backward=b"], False),
        (["semi_supervised.enabled=false"], False),
        (["training.learning_rate=0.1"], False),
        (["training.schedule=plateau"], False),
        (["training.plateau_rule=fast", "training.plateau_patience=3"], True),
        (["training.clip_norm=null"], False),
        (["model.dim=6"], False),
        (["model.dropout=0.3"], False),
        (["evaluation.beam_size=2", "decoding.length_penalty=0.1", "training.keep_model=last"], True),
        (["training.max_steps=7", "training.early_stopping_patience=9", "training.checkpoint_every_steps=2"], True),
    ],
)
def test_runs_share_a_model_if_their_traced_settings_are_equal(semi_config, overrides, shared):
    first, second = (make_task(semi_config("semi_supervised.beam_size=3", *more)) for more in ((), overrides))
    assert (first.model_key == second.model_key) == shared


@pytest.mark.parametrize("semi", ["true", "false"])
def test_reused_model_equals_a_new_model(semi_config, semi):
    settings = ("model.dropout=0.3", "training.max_steps=null", f"semi_supervised.enabled={semi}")
    pool = ModelPool()
    first = make_task(semi_config(*settings, "training.epochs=1"))
    used = first.make_model(pool)
    for variable in training_variables(used, [*first.translators(used).values()]).values():
        variable.assign(convert_to_numpy(variable) + 3)  # as if it had been trained

    config = semi_config(*settings, "training.seed=2", "training.epochs=3")
    second = make_task(config)
    again = second.make_model(pool)
    fresh = make_task(config).make_model(ModelPool())
    assert again is used
    translators = [*second.translators(again).values()]
    assert len(translators) == (2 if semi == "true" else 1)
    for translator in translators:
        assert translator.optimizer.schedule.total_updates == second.total_updates == 3 * first.total_updates
    values = training_variables(again, translators)
    expected = training_variables(fresh, [*second.translators(fresh).values()])
    assert values.keys() == expected.keys()
    for name, variable in values.items():
        np.testing.assert_array_equal(variable, expected[name], err_msg=name)


def test_pool_keeps_other_objects_by_key():
    pool = ModelPool()
    assert pool.keep(("a", 1), lambda: "made") == "made"
    assert pool.keep(("a", 1), lambda: pytest.fail("made twice")) == "made"
    assert pool.keep(("a", 2), lambda: "another") == "another"
