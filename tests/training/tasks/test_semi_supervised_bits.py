"""Bit-identical results: pairs alone, a stopped run, and a reused model."""

import numpy as np
import pytest

from .short_runs import run_script

pytestmark = pytest.mark.thorough

WITHOUT_TEXT = """
# TensorFlow adds up sums in another order where it knows the shapes of a graph, as those of a pair, and in the last
# bits that shows.
tf.config.optimizer.set_experimental_options({"arithmetic_optimization": False})
pool = ModelPool()
no_text = [f"semi_supervised.{side}_weight=0.0" for side in ("source", "target")]
run("weights 0", config(*SEMI, *TEXT, *no_text), models=pool)
run("forward", config(), models=pool)
run("backward", config("data.reversed=true"), models=pool)
"""

RESUMED = """
# A run with the models of another, and the same run with models of its own, stopped in the middle of an epoch.
pool = ModelPool()
semi = [*SEMI, *TEXT, "semi_supervised.ramp_steps=5"]
run("first", config(*semi, "training.seed=4", "semi_supervised.source_weight=3.0", pairs="others"), models=pool)
run("unbroken", config(*semi), models=pool)
pool = ModelPool()
run_and_stop("stopped", config(*semi), step=5, models=pool)
run("stopped", config(*semi), models=pool, resume=True)
"""


def test_pair_with_text_weights_of_0_equals_two_supervised_runs(
    tmp_path, final_state, model_weights, assert_equal_weights
):
    """The pair has the weights, running statistics, random states and optimisers of the two runs."""
    same = run_script(WITHOUT_TEXT, tmp_path)
    state, arrays = final_state(same / "weights 0")
    supervised = [final_state(same / direction) for direction in ("forward", "backward")]
    assert [of_run["step"] for of_run, _ in supervised] == [state["step"]] * 2 == [9, 9]
    for group in ("model/", "optimizer/"):
        of_pair = [value for name, value in arrays.items() if name.startswith(group)]
        of_both = [value for _, of_run in supervised for name, value in of_run.items() if name.startswith(group)]
        assert sorted(map(identity, of_pair)) == sorted(map(identity, of_both))
    for part, direction in (("", "forward"), ("backward", "backward")):
        assert_equal_weights(model_weights(same / "weights 0" / part), model_weights(same / direction))


def identity(array):
    return array.shape, str(array.dtype), array.tobytes()


def test_resumed_run_equals_an_uninterrupted_run_with_reused_models(
    tmp_path, final_state, equal_final_states, model_weights, assert_equal_weights
):
    same = run_script(RESUMED, tmp_path)
    state, arrays = equal_final_states(same / "stopped", same / "unbroken")
    assert state["step"] == 9
    for part in ("", "backward"):
        assert_equal_weights(model_weights(same / "stopped" / part), model_weights(same / "unbroken" / part))
    rows, resumed_rows = (
        [row.split(",") for row in (same / name / "metrics.csv").read_text().splitlines()]
        for name in ("unbroken", "stopped")
    )
    assert len(rows) == 4
    assert rows[0][2] == "seconds"
    for row in (*rows, *resumed_rows):
        del row[2]
    assert resumed_rows == rows
    # The first run has different results, so a mix-up of the models would be visible.
    _, others = final_state(same / "first")
    assert [name for name in arrays if name in others and not np.array_equal(arrays[name], others[name])]
