"""The named variants: their shapes, numbers of weights, initial weights, and receptive fields."""

import keras
import numpy as np
import pytest
from keras.ops import convert_to_numpy

from bytenet.config.families.bytenet import ByteNetConfig
from bytenet.models import ByteNet, build_model
from bytenet.private_api import all_layers

from ..contract.cases import VOCAB_SIZE, draw_sentences, narrow, pad, randomize


def build(variant, vocab_size, **overrides):
    return build_model(ByteNetConfig(variant=variant, **overrides), vocab_size)


# From Madsen's code, code/model/bytenet.py: norms of encoder and decoder, activation, block, sets, encoder kernel, d.
@pytest.mark.parametrize(
    ("variant", "norms", "activation", "size", "num_sets", "kernel_size", "dim"),
    [
        ("bytenet", ("batch", "layer"), "relu", "full", 3, 5, 400),
        ("no_norm", ("none", "none"), "relu", "full", 3, 5, 400),
        ("selu", ("none", "none"), "selu", "full", 3, 5, 400),
        ("simplified", ("batch", "layer"), "relu", "small", 3, 5, 200),
        ("simplified_no_norm", ("none", "none"), "relu", "small", 3, 5, 200),
        ("simplified_selu", ("none", "none"), "selu", "small", 3, 5, 200),
        ("v2", ("layer", "layer"), "relu", "full", 6, 3, 800),
    ],
)
def test_variants_have_the_settings_of_the_thesis(variant, norms, activation, size, num_sets, kernel_size, dim):
    model = ByteNet(ByteNetConfig(variant=variant), 11)  # has no weights yet
    for stack, norm, taps, causal, width in [
        (model.encoder, norms[0], kernel_size, False, dim),
        (model.decoder, norms[1], 3, True, 2 * dim),
    ]:
        assert len(stack.sets) == num_sets
        for block, rate in zip(stack.blocks, [1, 2, 4, 8, 16] * num_sets, strict=True):
            config = block.get_config()
            assert (config["normalization"], config["activation"], config["size"]) == (norm, activation, size)
            assert (config["kernel_size"], config["dilation_rate"]) == (taps, rate)
            assert (config["causal"], config["dim"]) == (causal, width)


def test_all_variants_are_listed():
    assert len(ByteNetConfig.VARIANTS) == 7


@pytest.mark.parametrize(
    ("variant", "dim", "vocab_size", "weights"),
    [("bytenet", 20, 28, 60_428), ("simplified", 20, 28, 106_028), ("bytenet", 400, 300, 22_733_500)],
)
def test_number_of_trainable_weights(variant, dim, vocab_size, weights):
    model = build(variant, vocab_size, settings="thesis", dim=dim)
    assert sum(int(np.prod(weight.shape)) for weight in model.trainable_weights) == weights


def test_initial_weights_follow_the_settings_of_the_thesis():
    model = build("bytenet", 28, settings="thesis", dim=20)
    kinds = set()
    for weight in model.weights:
        kinds.add(weight.name)
        values = np.abs(convert_to_numpy(weight))
        if weight.name == "kernel":
            bound = np.prod(weight.shape) ** -0.25
            assert 0.9 * bound < values.max() <= bound * (1 + 1e-6)
        elif weight.name == "table":
            assert 0.9 * 27**-0.5 < values.max() <= 27**-0.5
        else:
            assert np.all(values == (weight.name == "moving_variance"))
    assert kinds == {"kernel", "table", "bias", "beta", "moving_mean", "moving_variance"}
    norms = [layer for layer in all_layers(model) if layer.name == "normalization"]
    assert {norm.epsilon for norm in norms} == {1e-8}
    assert {norm.momentum for norm in norms if hasattr(norm, "momentum")} == {0.99}


@pytest.mark.parametrize("variant", ["no_norm", "simplified_no_norm"])
def test_receptive_field_of_three_sets(variant):
    """Weights are positive, biases are zero, and an empty text has one character. A step that sees it is not zero.

    No values cancel, and no small value is rounded away beside a larger one. So even the far ends are visible.
    """
    model = build(variant, 3, dim=2, mask_padding=False, length_rule="pair")
    for weight in model.weights:
        weight.assign(np.full(weight.shape, 0.0 if weight.name == "bias" else 0.5))
    length, middle = 461, 230
    nothing = np.zeros((1, length), "int32")
    impulse = nothing.copy()
    impulse[0, middle] = 1

    encoded = convert_to_numpy(model.encode(impulse)["encoded"])[0]
    seeing = np.flatnonzero(np.all(encoded > 0, axis=-1))
    assert seeing.tolist() == list(range(middle - 186, middle + 187))  # 373 steps

    logits = convert_to_numpy(model({"source_ids": nothing, "target_ids": impulse}))[0]
    seeing = np.flatnonzero(np.all(logits > 0, axis=-1))
    # A logit depends on the characters before its own position.
    assert seeing.tolist() == list(range(middle + 1, middle + 188))  # 187 steps


NARROW = {"dim": 8, "num_sets": 1, "dilations": (1, 2)}


def test_build_model_uses_the_defaults_of_the_variant():
    config = build_model(ByteNetConfig(**NARROW), 11).get_config()
    assert (config["vocab_size"], config["dim"], config["encoder_kernel_size"]) == (11, 8, 5)
    assert config["mask_padding"] is True
    assert (config["initializer"], config["norm_epsilon"], config["length_rule"]) == ("auto", 1e-5, "unfold")


def test_build_model_uses_the_settings_of_the_thesis_and_given_values():
    wanted = ByteNetConfig(variant="simplified", settings="thesis", initializer="he", **NARROW)
    config = build_model(wanted, 11).get_config()
    assert config["block_size"] == "small"
    assert config["mask_padding"] is False
    assert (config["norm_epsilon"], config["batch_norm_momentum"], config["length_rule"]) == (1e-8, 0.99, "pair")
    assert config["initializer"] == "he"  # a given value wins


def test_build_model_passes_every_given_value_on():
    given = {
        **NARROW, "encoder_kernel_size": 3, "decoder_kernel_size": 2, "join": "add", "dropout": 0.2,
        "mask_padding": False, "initializer": "lecun", "norm_epsilon": 1e-4, "batch_norm_momentum": 0.8,
        "length_rule": "unfold", "unfold_scale": 1.5, "unfold_offset": 3,
    }  # fmt: skip
    model = build_model(ByteNetConfig(**given), 11)
    config = model.get_config()
    assert {name: config[name] for name in given} == given | {"dilations": [1, 2]}
    assert model.vocab_size == 11


def test_initial_predictions_are_nearly_uniform():
    keras.utils.set_random_seed(1)
    model = build_model(ByteNetConfig(variant="bytenet", dim=32), 11)
    ids = np.random.default_rng(0).integers(2, 11, size=(4, 20)).astype("int32")
    log_probabilities = keras.ops.log_softmax(model({"source_ids": ids, "target_ids": ids}), axis=-1)
    assert abs(float(-keras.ops.mean(log_probabilities)) - np.log(11)) < 0.5


def test_padding_enters_the_batch_statistics_only_without_masks():
    source, target = draw_sentences([6, 6])
    for mask_padding in (True, False):
        # With one block set of one tap, only the statistics can carry padding to a real step.
        config = narrow(ByteNetConfig, mask_padding=mask_padding, length_rule="pair", encoder_kernel_size=1)
        model = build_model(config, VOCAB_SIZE)
        randomize(model)
        alone, further = (
            convert_to_numpy(model({"source_ids": pad([source], n), "target_ids": pad([target], n)}, training=True))
            for n in (6, 9)
        )
        assert (np.abs(further[:, :6] - alone).max() < 1e-5) == mask_padding
