"""What every family promises about training: gradients, statistics, dropout, and several targets of a source."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
import tensorflow as tf
from keras.ops import convert_to_numpy

from bytenet.layers import MaskedBatchNormalization
from bytenet.models import build_model
from bytenet.private_api import all_layers
from bytenet.training.losses import sentence_cross_entropy

from .cases import CASES, FAMILY_CASES, VOCAB_SIZE, draw_sentences, pad, parametrize, randomize
from .traced_model import traced


def losses_and_gradients(model, source_ids, target_ids):
    """The loss of each sentence, and the gradients of their sum."""
    with tf.GradientTape() as tape:
        logits = model({"source_ids": source_ids, "target_ids": target_ids}, training=True)
        losses = sentence_cross_entropy(logits, target_ids)
        loss = tf.reduce_sum(losses)
    gradients = tape.gradient(loss, [weight.value for weight in model.trainable_weights])
    return losses, [tf.convert_to_tensor(gradient) for gradient in gradients]


def assert_gradients_near(gradients, expected, tolerance):
    for gradient, reference in zip(gradients, expected, strict=True):
        size = np.abs(reference).max()
        assert size > 0
        np.testing.assert_allclose(gradient, reference, atol=tolerance * size)


@parametrize([case for case in CASES if case.config.mask_padding])
def test_training_does_not_depend_on_the_bucket(case):
    """A batch trains in the same way in a wider bucket and with filler rows."""
    model = build_model(case.config, VOCAB_SIZE)

    def train(length, num_fillers):
        randomize(model)
        source_ids = pad(draw_sentences([7, 3, 5] + [0] * num_fillers, seed=1), length)
        target_ids = pad(draw_sentences([6, 7, 2] + [0] * num_fillers, seed=2), length)
        losses, gradients = losses_and_gradients(model, source_ids, target_ids)
        return losses[:3], gradients, [convert_to_numpy(weight).copy() for weight in model.non_trainable_weights]

    losses, gradients, statistics = train(length=7, num_fillers=0)
    wide_losses, wide_gradients, wide_statistics = train(length=12, num_fillers=2)
    np.testing.assert_allclose(wide_losses, losses, rtol=1e-5)
    assert_gradients_near(wide_gradients, gradients, 1e-3)
    for wide, narrow in zip(wide_statistics, statistics, strict=True):
        np.testing.assert_allclose(wide, narrow, atol=1e-5)


@parametrize(CASES)
def test_the_configuration_says_whether_sentences_of_a_batch_depend_on_each_other(case):
    layers = all_layers(traced(case.config).model)
    assert case.config.has_batch_statistics == any(isinstance(layer, MaskedBatchNormalization) for layer in layers)


# These have all kinds of maps inside of a loop over the steps.
ATTENTION_IN_LOOPS = ("recurrent: bahdanau", "recurrent: location, near a prediction")


@pytest.mark.thorough
@parametrize([case for case in CASES if case in FAMILY_CASES or case.name in ATTENTION_IN_LOOPS])
def test_gradients_compiled_by_xla_are_the_same(case):
    """The batches of `fit` have a size that is not known when the step is traced."""
    model = build_model(case.config, VOCAB_SIZE)
    ids = pad(draw_sentences([5, 3], seed=1)), pad(draw_sentences([4, 5], seed=2))
    randomize(model)
    losses, gradients = losses_and_gradients(model, *ids)
    randomize(model)
    compiled_step = tf.function(
        partial(losses_and_gradients, model), jit_compile=True, autograph=False,
        input_signature=[tf.TensorSpec((None, array.shape[1]), tf.int32) for array in ids],
    )  # fmt: skip
    compiled_losses, compiled = compiled_step(*ids)
    np.testing.assert_allclose(compiled_losses, losses, rtol=1e-5)
    assert_gradients_near(compiled, gradients, 1e-3)


@parametrize(FAMILY_CASES)
def test_dropout_works_only_in_training(case):
    model = build_model(replace(case.config, dropout=0.5), VOCAB_SIZE)
    randomize(model)
    inputs = {"source_ids": pad(draw_sentences([5], seed=1)), "target_ids": pad(draw_sentences([6], seed=2))}
    logits = traced(case.config).logits(**inputs)
    np.testing.assert_allclose(model(inputs), logits, atol=1e-5)
    first, second = model(inputs, training=True), model(inputs, training=True)
    for dropped, other in ((first, logits), (second, logits), (first, second)):
        assert np.abs(dropped - other).max() > 1e-2


# Padding matters without masks. Each family has its own code that repeats the outputs of `encode`.
@parametrize([case for case in CASES if case in FAMILY_CASES or not case.config.mask_padding])
def test_each_of_several_targets_is_paired_with_its_source(case):
    sources = pad(draw_sentences([5, 3], seed=1))
    targets = pad(draw_sentences([3, 4, 2, 3, 4, 2], seed=2))
    model = build_model(case.config, VOCAB_SIZE)
    for training in (False, True):
        results = []
        for of_targets in (sources, np.repeat(sources, 3, axis=0)):
            randomize(model)
            logits = convert_to_numpy(model({"source_ids": of_targets, "target_ids": targets}, training=training))
            results.append((logits, [convert_to_numpy(weight).copy() for weight in model.weights]))
        (logits, weights), (repeated_logits, repeated_weights) = results
        assert logits.shape == (6, 4, VOCAB_SIZE)
        np.testing.assert_allclose(logits, repeated_logits, atol=1e-4)
        assert np.abs(logits[:3] - logits[3:]).max() > 1e-2  # the sources differ enough to reveal a swap
        for one, other in zip(weights, repeated_weights, strict=True):  # running statistics, too
            np.testing.assert_allclose(one, other, atol=1e-5)
