"""Two translators that learn from each other: which one learns, how text and pairs add up, and XLA."""

import numpy as np
import pytest
import tensorflow as tf
from keras.ops import convert_to_numpy

from bytenet.config import SemiSupervisedConfig
from bytenet.training.optimizers.flat_adam import FlatAdam

from .pairs import SEARCH_LENGTH, TEXT, flat, make_pair, step

pytestmark = pytest.mark.usefixtures("eagerly")


@pytest.mark.parametrize(("trained", "statistics"), [("forward", "batch"), ("backward", "moving")])
def test_frozen_translator_does_not_change(trained, statistics):
    pair = make_pair(
        "batch norm", trained=trained, start_forward="a", start_backward="b", batch_norm_statistics=statistics,
        target_weight=0.5, search_lengths={side: {4: SEARCH_LENGTH} for side in ("source", "target")},
    )  # fmt: skip
    frozen = pair.translator({"forward": "backward", "backward": "forward"}[trained])
    before = [convert_to_numpy(variable) for variable in frozen.variables]
    logs, changes = step(pair, pair_weights=(1.0, 1.0), source=TEXT, target=TEXT)
    for variable, value in zip(frozen.variables, before, strict=True):
        np.testing.assert_array_equal(variable, value, err_msg=variable.path)
    assert int(convert_to_numpy(frozen.optimizer.iterations)) == 0
    assert np.abs(flat(changes[trained])).max() > 0.01
    assert logs.keys() == {"loss", "source_marginal", "target_marginal", "character_error"}


def test_trained_translator_learns_the_same_beside_a_frozen_translator():
    alone = make_pair(trained="forward", start_backward="b", target_weight=0.5)
    both = make_pair(target_weight=0.5)
    (logs, changes), (logs_of_both, changes_of_both) = (
        step(pair, pair_weights=(1.0, 1.0), source=TEXT) for pair in (alone, both)
    )
    assert logs["loss"] == pytest.approx(logs_of_both["loss"], rel=1e-6)
    assert logs["source_marginal"] == pytest.approx(logs_of_both["source_marginal"], rel=1e-5)
    np.testing.assert_allclose(flat(changes["forward"]), flat(changes_of_both["forward"]), atol=1e-6)


def test_text_weights_grow_over_the_ramp_then_stay_and_can_be_changed():
    pair = make_pair(optimizer=lambda: FlatAdam(0.0), ramp_steps=3)  # rate 0: the same gradient at every step
    norms = []
    for weight in (0.7, 0.7, 0.7, 0.7, 0.07):
        pair.set_texts(SemiSupervisedConfig(enabled=True, source_weight=weight), {"source": {4: SEARCH_LENGTH}})
        step(pair, source=TEXT)
        norms.append(float(convert_to_numpy(pair.backward.optimizer.gradient_norm)))
    np.testing.assert_allclose(norms, norms[2] * np.array([1 / 3, 2 / 3, 1, 1, 0.1]), rtol=1e-4)
    assert norms[2] > 0.01


@pytest.mark.parametrize(
    ("kind", "duplicates"), [("batch norm", "keep"), pytest.param("recurrent", "merge", marks=pytest.mark.thorough)]
)
def test_filler_rows_add_nothing(kind, duplicates):
    lengths = {side: {4: SEARCH_LENGTH} for side in ("source", "target")}
    filled_up = np.concatenate([TEXT[:2], np.zeros((2, 4), np.int32), TEXT[2:], np.zeros((1, 4), np.int32)])
    weights = 2.0 * (filled_up[:, 0] != 0)  # rows / N for real rows, as the pipeline gives them
    results = []
    for text in (TEXT, (filled_up, weights)):
        pair = make_pair(kind, search_lengths=lengths, duplicates=duplicates, target_weight=0.2)
        logs, changes = step(pair, pair_weights=(0.5, 1.5), source=text, target=text)
        statistics = [weight for model in pair.translators for weight in model.non_trainable_weights]
        results.append((logs, flat([*changes["forward"], *changes["backward"]]), statistics))
    (logs, changes, statistics), (filled_logs, filled_changes, filled_statistics) = results
    assert filled_logs == pytest.approx(logs, rel=1e-4)
    np.testing.assert_allclose(filled_changes, changes, atol=1e-5)
    for one, other in zip(statistics, filled_statistics, strict=True):
        np.testing.assert_allclose(other, one, atol=1e-5)


def test_gradient_of_text_is_added_to_the_gradient_of_pairs():
    changes = {}
    for name, weights, texts in (
        ("pairs", (1.0, 1.0), {}),
        ("source", (0.0, 0.0), {"source": TEXT}),
        ("target", (0.0, 0.0), {"target": TEXT[::-1]}),
        ("all", (1.0, 1.0), {"source": TEXT, "target": TEXT[::-1]}),
    ):
        lengths = {side: {4: SEARCH_LENGTH} for side in texts}
        _, both = step(make_pair(search_lengths=lengths, target_weight=0.3), weights, **texts)
        changes[name] = flat([*both["forward"], *both["backward"]])
    parts = changes["pairs"] + changes["source"] + changes["target"]
    np.testing.assert_allclose(changes["all"], parts, atol=1e-5)
    assert all(np.abs(change).max() > 0.01 for change in changes.values())


@pytest.mark.thorough
def test_step_compiled_with_xla_equals_an_uncompiled_step():
    results = []
    for jit_compile in (False, True):
        tf.config.run_functions_eagerly(not jit_compile)
        pair = make_pair("batch norm", jit_compile=jit_compile, beam_size=2)
        logs, changes = step(pair, pair_weights=(1.0, 1.0), source=TEXT)
        results.append((logs, flat([*changes["forward"], *changes["backward"]])))
    (logs, changes), (compiled_logs, compiled_changes) = results
    assert compiled_logs == pytest.approx(logs, rel=1e-4)
    np.testing.assert_allclose(compiled_changes, changes, atol=1e-4)
