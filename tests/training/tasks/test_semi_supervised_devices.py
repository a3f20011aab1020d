"""Two devices compared with one: each translator on its own device, or both translators on both devices."""

import json

import numpy as np
import pytest

from .short_runs import run_script

pytestmark = pytest.mark.thorough

DEVICES = """
# Results are compared up to rounding, and the optimisation of graphs takes a fifth of the time.
tf.config.optimizer.set_experimental_options({"disable_meta_optimizer": True})


def products(pair):
    # By part of a step, how many matrix products and convolutions of its graph are placed where.
    ids, weights = tf.ones([2, 3], tf.int32), tf.ones([2])
    pairs = {"source_ids": ids, "target_ids": ids, "forward_weights": weights, "backward_weights": weights}
    text = pair.text_gradients
    graphs = {
        "pairs": tf.function(lambda: pair._learn_from_pairs(pairs, {}, {})).get_concrete_function().graph,
        "text": tf.function(lambda: text.loss_and_gradients((ids, weights), "source", 3)).get_concrete_function().graph,
    }
    return {
        part: collections.Counter(op.device for op in graph.get_operations() if op.type.startswith(("MatMul", "Conv")))
        for part, graph in graphs.items()
    }


class Recorder(keras.callbacks.Callback):
    def __init__(self, name):
        super().__init__()
        self.name = name

    def on_train_end(self, logs=None):
        devices = {
            direction: sorted({variable.value.device for variable in [*model.variables, *model.optimizer.variables]})
            for direction, model in (("forward", self.model.forward), ("backward", self.model.backward))
        }
        replicas = self.model.distribute_strategy.num_replicas_in_sync
        report = {"replicas": replicas, "devices": devices}
        if self.name == "apart":
            report["products"] = products(self.model)
        Path(self.name, "devices.json").write_text(json.dumps(report))


# Two steps on all pairs and all text, odd numbers of both, so that a replica has a filler row. With a large epsilon the
# first step is as good as linear in the gradient: else a gradient of about 0 may come out on either side of it.
settings = [
    *SEMI, *TEXT, "training.max_steps=2", "training.deterministic=false", "model.dropout=0.0", "training.epsilon=0.01",
    "training.jit_compile=false", "training.clip_norm=null", "data.max_train_pairs=21", "data.batch_size=32",
    "semi_supervised.batch_size=16",
]
both = 'training.devices=["CPU:0","CPU:1"]'
placements = {"one": [], "apart": [both, "semi_supervised.placement=apart"], "replicated": [both]}
for name, placement in placements.items():
    tf.config.run_functions_eagerly(name == "one")  # two steps are quicker without tracing
    run(name, config(*settings, *placement), more_callbacks=[Recorder(name)])
"""


@pytest.fixture(scope="module")
def devices(tmp_path_factory):
    """Folders of the same two steps on one device, and on two devices with each placement."""
    return run_script(DEVICES, tmp_path_factory.mktemp("devices"))


# Each of two devices has its own translator, or both share each batch.
of_two_devices = pytest.mark.parametrize("placement", ["apart", "replicated"])


@of_two_devices
def test_losses_gradients_and_weights_on_two_devices_equal_one_device(devices, final_state, placement):
    _, arrays = final_state(devices / "one")
    _, others = final_state(devices / placement)
    moments = [name for name in arrays if name.endswith("first_moment")]
    weights = [name for name in arrays if name.startswith("model/")]
    assert (len(moments), len(weights) > 10) == (2, True)
    for name in moments:  # tenths of the gradients of both steps; the second gradient depends on the first step
        assert np.abs(arrays[name]).max() > 1e-3
    for name in (*moments, *weights):
        np.testing.assert_allclose(others[name], arrays[name], atol=1e-6, err_msg=name)
    (columns, *epochs), (_, *others_epochs) = (
        [line.split(",") for line in (devices / name / "metrics.csv").read_text().splitlines()]
        for name in ("one", placement)
    )
    for name in ("loss", "backward_loss", "source_marginal", "target_marginal", "character_error"):
        one, two = ([float(row[columns.index(name)]) for row in rows] for rows in (epochs, others_epochs))
        assert len(one) == 2
        assert two == pytest.approx(one, rel=1e-5), name


@of_two_devices
def test_each_translator_is_on_its_device_or_on_both(devices, placement):
    report = json.loads((devices / placement / "devices.json").read_text())
    assert report["replicas"] == {"apart": 1, "replicated": 2}[placement]
    if placement == "apart":
        for direction, number in (("forward", 0), ("backward", 1)):
            (device,) = report["devices"][direction]
            assert device.endswith(f"device:CPU:{number}")


def test_each_translator_computes_on_its_device(devices):
    """Both translators do the same work for pairs. For source text, the forward translator also searches."""
    products = json.loads((devices / "apart" / "devices.json").read_text())["products"]
    pairs, text, first, second = products["pairs"], products["text"], "/device:CPU:0", "/device:CPU:1"
    assert pairs.keys() == text.keys() == {first, second}
    assert pairs[first] == pairs[second] > 0
    assert text[first] > text[second] > pairs[second] / 2
