"""A sentence's logits depend on the sentence alone: not on its padding, its neighbours or its bucket."""

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given, settings
from hypothesis import strategies as st
from keras.ops import convert_to_numpy

from bytenet.config.families.bytenet import ByteNetConfig
from bytenet.models import ByteNet
from bytenet.training.losses import sentence_cross_entropy

KINDS = {variant: {"variant": variant} for variant in ByteNetConfig.VARIANTS} | {
    "add": {"join": "add"},
    "pair": {"length_rule": "pair"},
    "simplified-add-pair": {"variant": "simplified", "join": "add", "length_rule": "pair"},
    "unfold-2": {"unfold_scale": 2.0, "unfold_offset": 0},
    "unfold-half": {"unfold_scale": 0.5, "unfold_offset": 0},
}
every_kind = pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)

LENGTH = st.integers(1, 14)
PAIR_OF_LENGTHS = st.tuples(LENGTH, LENGTH)
EXTRA = st.integers(0, 12)


@every_kind
@settings(max_examples=10)
@given(lengths=PAIR_OF_LENGTHS, source_extra=EXTRA, target_extra=EXTRA)
def test_padding_invariance(narrow_bytenet, random_sentences, padded, kind, lengths, source_extra, target_extra):
    net = narrow_bytenet(**kind)
    source, target = random_sentences(lengths)
    alone = net.logits([source], [target])
    further = net.logits(padded([source], len(source) + source_extra), padded([target], len(target) + target_extra))
    np.testing.assert_allclose(further[:, : len(target)], alone, atol=1e-5)


@every_kind
@settings(max_examples=10)
@given(lengths=st.lists(PAIR_OF_LENGTHS, min_size=2, max_size=5), num_fillers=st.integers(0, 2))
def test_batch_invariance(narrow_bytenet, random_sentences, padded, kind, lengths, num_fillers):
    net = narrow_bytenet(**kind)
    lengths = lengths + [(0, 0)] * num_fillers
    sources = random_sentences([length for length, _ in lengths], seed=1)
    targets = random_sentences([length for _, length in lengths], seed=2)
    together = net.logits(padded(sources), padded(targets))
    assert np.all(np.isfinite(together))
    for logits, source, target in zip(together, sources, targets, strict=True):
        if target:
            np.testing.assert_allclose(logits[: len(target)], net.logits([source], [target])[0], atol=1e-5)


@every_kind
def test_bucket_invariance_of_training(random_sentences, padded, narrow_bytenet, kind):
    """In a wider bucket, and with rows that only fill it up, a batch trains in the same way."""

    def train(length, num_fillers):
        model = ByteNet.from_config(narrow_bytenet(**kind).model.get_config())
        model.build({"source_ids": (None, None), "target_ids": (None, None)})
        model.set_weights(narrow_bytenet(**kind).model.get_weights())
        source_ids = padded(random_sentences([7, 3, 5] + [0] * num_fillers, seed=1), length)
        target_ids = padded(random_sentences([6, 7, 2] + [0] * num_fillers, seed=2), length)
        with tf.GradientTape() as tape:
            logits = model({"source_ids": source_ids, "target_ids": target_ids}, training=True)
            losses = sentence_cross_entropy(logits, target_ids)
            loss = tf.reduce_sum(losses)
        gradients = tape.gradient(loss, [weight.value for weight in model.trainable_weights])
        return losses[:3], gradients, [convert_to_numpy(weight) for weight in model.non_trainable_weights]

    losses, gradients, statistics = train(length=7, num_fillers=0)
    wide_losses, wide_gradients, wide_statistics = train(length=20, num_fillers=2)
    np.testing.assert_allclose(wide_losses, losses, rtol=1e-5)
    for wide, narrow in zip(wide_gradients, gradients, strict=True):
        np.testing.assert_allclose(wide, narrow, atol=1e-3 * np.abs(narrow).max())
    for wide, narrow in zip(wide_statistics, statistics, strict=True):
        np.testing.assert_allclose(wide, narrow, atol=1e-5)


@pytest.mark.parametrize("variant", ["bytenet", "simplified", "selu", "v2"])
def test_without_masks_padding_matters_as_in_the_thesis(narrow_bytenet, random_sentences, padded, variant):
    net = narrow_bytenet(variant, mask_padding=False, length_rule="pair")
    source, target = random_sentences([6, 6])
    alone, further = net.logits([source], [target]), net.logits(padded([source], 9), padded([target], 9))
    assert np.abs(further[:, :6] - alone).max() > 1e-2


def test_without_masks_padding_enters_the_batch_statistics(narrow_bytenet, random_sentences, padded):
    source, target = random_sentences([6, 6])
    for mask_padding in (True, False):
        # One block set of one tap, so that nothing but the statistics can carry padding to a real step.
        net = narrow_bytenet(mask_padding=mask_padding, length_rule="pair", encoder_kernel_size=1)
        before = net.model.get_weights()
        alone = net.logits([source], [target], training=True)
        further = net.logits(padded([source], 9), padded([target], 9), training=True)
        net.model.set_weights(before)
        assert (np.abs(further[:, :6] - alone).max() < 1e-5) == mask_padding


@every_kind
@settings(max_examples=10)
@given(position=st.integers(0, 11), length=st.integers(12, 14))
def test_causality_in_the_target(narrow_bytenet, random_sentences, kind, position, length):
    net = narrow_bytenet(**kind)
    source, target = random_sentences([9, length])
    changed = target.copy()
    changed[position] = target[position] % 10 + 1
    before, after = net.logits([source], [target]), net.logits([source], [changed])
    # The character at a position is first read at the next one.
    np.testing.assert_allclose(after[:, : position + 1], before[:, : position + 1], atol=1e-6)
    if position + 1 < length:
        assert np.abs(after[:, position + 1] - before[:, position + 1]).max() > 1e-4


@every_kind
def test_the_source_matters_at_every_position(narrow_bytenet, random_sentences, kind):
    net = narrow_bytenet(**kind)
    source, target = random_sentences([9, 9])
    other = [source[0] % 10 + 1, *source[1:]]
    difference = np.abs(net.logits([other], [target]) - net.logits([source], [target]))[0].max(axis=-1)
    assert np.all(difference > 1e-5)
