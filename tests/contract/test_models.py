"""What every family and variant promises, see `TranslationModel`."""

import os
import pickle
import subprocess
import sys

import keras
import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given, settings
from hypothesis import strategies as st
from keras.ops import convert_to_numpy

from bytenet.models import build_model
from bytenet.training.losses import sentence_cross_entropy

from .conftest import CASES, VOCAB_SIZE, draw_sentences, pad, randomize

every_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
every_masked_case, every_unmasked_case = (
    pytest.mark.parametrize(
        "case", [case for case in CASES if case.config.mask_padding == masked], ids=lambda case: case.name
    )
    for masked in (True, False)
)
LENGTH = st.integers(1, 14)
LENGTHS_OF_PAIR = st.tuples(LENGTH, LENGTH)


@every_case
@settings(max_examples=4)
@given(source_length=st.integers(1, 20), target_length=st.integers(1, 28))
def test_steps_equal_the_call(traced, case, source_length, target_length):
    # Short sources end long before their targets; a cache of few steps is gone round several times.
    net = traced(case.config)
    source_ids = pad(draw_sentences([source_length, source_length // 2 + 1], seed=1))
    target_ids = pad(draw_sentences([target_length // 2 + 1, target_length], seed=2))
    expected = net.logits(source_ids, target_ids)
    assert expected.shape == (2, target_length, VOCAB_SIZE)
    np.testing.assert_allclose(net.logits_by_steps(source_ids, target_ids), expected, atol=1e-5)


@every_case
def test_selected_rows_go_on_as_if_they_had_been_there_from_the_start(traced, case):
    """What a beam search does: before each step, hypotheses are repeated, dropped and reordered."""
    net, random = traced(case.config), np.random.default_rng(3)
    source_ids = np.array(draw_sentences([9, 9, 9], seed=1))
    written = np.zeros((3, 0), int)  # the characters of each hypothesis
    memory = net.encode(source_ids)
    state = net.model.initial_state(memory, 40)
    for position in range(20):
        previous_ids = written[:, -1] if position else [0, 0, 0]
        logits, state = net.step(previous_ids, state, memory, position)
        written = np.concatenate([written, random.integers(2, VOCAB_SIZE, (3, 1))], axis=1)
        np.testing.assert_allclose(logits, net.logits(source_ids, written)[:, -1], atol=1e-5)
        rows = random.integers(0, 3, 3)
        memory = tf.nest.map_structure(lambda tensor, rows=rows: tf.gather(tensor, rows), memory)
        state = net.model.select(state, rows)
        source_ids, written = source_ids[rows], written[rows]


@every_case
@settings(max_examples=6)
@given(position=st.integers(0, 11), length=st.integers(12, 14))
def test_a_character_is_read_at_the_next_position_and_not_before(traced, case, position, length):
    net = traced(case.config)
    source, target = draw_sentences([9, length])
    changed = target.copy()
    changed[position] = target[position] % 10 + 1
    before, after = net.logits([source], [target]), net.logits([source], [changed])
    np.testing.assert_allclose(after[:, : position + 1], before[:, : position + 1], atol=1e-6)
    if position + 1 < length:
        assert np.abs(after[:, position + 1] - before[:, position + 1]).max() > 1e-4


@every_case
def test_the_source_matters_at_every_position(traced, case):
    net = traced(case.config)
    source, target = draw_sentences([9, 9])
    other = [id_ % 9 + 2 for id_ in source[:-1]] + [1]
    difference = np.abs(net.logits([other], [target]) - net.logits([source], [target]))[0].max(axis=-1)
    assert np.all(difference > 1e-6)


@every_masked_case
@settings(max_examples=6)
@given(
    lengths=st.lists(LENGTHS_OF_PAIR, min_size=1, max_size=4),
    num_empty=st.integers(0, 2),
    extra=st.tuples(st.integers(0, 12), st.integers(0, 12)),
)
def test_a_sentence_depends_neither_on_its_padding_nor_on_its_batch(traced, case, lengths, num_empty, extra):
    net = traced(case.config)
    lengths = lengths + [(0, 0)] * num_empty
    sources = draw_sentences([length for length, _ in lengths], seed=1)
    targets = draw_sentences([length for _, length in lengths], seed=2)
    wide = [max(map(len, side)) + more for side, more in zip((sources, targets), extra, strict=True)]
    together = net.logits(pad(sources, wide[0]), pad(targets, wide[1]))
    assert np.all(np.isfinite(together))
    for logits, source, target in zip(together, sources, targets, strict=True):
        if target:
            np.testing.assert_allclose(logits[: len(target)], net.logits([source], [target])[0], atol=1e-5)


@every_unmasked_case
def test_without_masks_padding_matters(traced, case):
    net = traced(case.config)
    source, target = draw_sentences([6, 6])
    alone, further = net.logits([source], [target]), net.logits(pad([source], 9), pad([target], 9))
    assert np.abs(further[:, :6] - alone).max() > 1e-3


@every_masked_case
def test_training_does_not_depend_on_the_bucket(traced, case):
    """In a wider bucket, and with rows that only fill it up, a batch trains in the same way."""

    def train(length, num_fillers):
        model = build_model(case.config, VOCAB_SIZE)
        randomize(model)
        source_ids = pad(draw_sentences([7, 3, 5] + [0] * num_fillers, seed=1), length)
        target_ids = pad(draw_sentences([6, 7, 2] + [0] * num_fillers, seed=2), length)
        with tf.GradientTape() as tape:
            logits = model({"source_ids": source_ids, "target_ids": target_ids}, training=True)
            losses = sentence_cross_entropy(logits, target_ids)
            loss = tf.reduce_sum(losses)
        gradients = tape.gradient(loss, [weight.value for weight in model.trainable_weights])
        gradients = [convert_to_numpy(tf.convert_to_tensor(gradient)) for gradient in gradients]
        return losses[:3], gradients, [convert_to_numpy(weight) for weight in model.non_trainable_weights]

    losses, gradients, statistics = train(length=7, num_fillers=0)
    wide_losses, wide_gradients, wide_statistics = train(length=20, num_fillers=2)
    np.testing.assert_allclose(wide_losses, losses, rtol=1e-5)
    for wide, narrow in zip(wide_gradients, gradients, strict=True):
        assert np.abs(narrow).max() > 0
        np.testing.assert_allclose(wide, narrow, atol=1e-3 * np.abs(narrow).max())
    for wide, narrow in zip(wide_statistics, statistics, strict=True):
        np.testing.assert_allclose(wide, narrow, atol=1e-5)


@every_case
def test_each_of_several_targets_goes_with_its_source(case):
    sources = pad(draw_sentences([5, 3], seed=1))
    targets = pad(draw_sentences([3, 4, 2, 3, 4, 2], seed=2))
    for training in (False, True):
        results = []
        for of_targets in (sources, np.repeat(sources, 3, axis=0)):
            keras.utils.set_random_seed(8)
            model = build_model(case.config, VOCAB_SIZE)
            randomize(model)
            logits = convert_to_numpy(model({"source_ids": of_targets, "target_ids": targets}, training=training))
            results.append((logits, [convert_to_numpy(weight) for weight in model.weights]))
        (logits, weights), (repeated_logits, repeated_weights) = results
        assert logits.shape == (6, 4, VOCAB_SIZE)
        np.testing.assert_allclose(logits, repeated_logits, atol=1e-4)
        assert np.abs(logits[:3] - logits[3:]).max() > 1e-2  # the sources differ enough for an exchange to show
        for one, other in zip(weights, repeated_weights, strict=True):  # running statistics, too
            np.testing.assert_allclose(one, other, atol=1e-5)


@every_case
def test_mixed_precision_comes_near_the_exact_logits(traced, case):
    source_ids, target_ids = (pad(draw_sentences([length], seed=length)) for length in (6, 9))
    exact = traced(case.config)
    keras.mixed_precision.set_global_policy("mixed_bfloat16")
    try:
        model = build_model(case.config, VOCAB_SIZE)
    finally:
        keras.mixed_precision.set_global_policy("float32")
    assert model.compute_dtype == "bfloat16"
    assert all(weight.dtype == "float32" for weight in model.trainable_weights)
    model.set_weights(exact.model.get_weights())
    logits = model({"source_ids": source_ids, "target_ids": target_ids})
    assert logits.dtype == "float32"
    scale = np.abs(exact.logits(source_ids, target_ids)).max()
    np.testing.assert_allclose(logits, exact.logits(source_ids, target_ids), atol=0.06 * scale)
    memory = model.encode(source_ids)
    state = model.initial_state(memory, 40)
    for position, previous_id in enumerate([0, *target_ids[0, :-1]]):
        step_logits, state = model.step(np.array([previous_id], "int32"), state, memory, position)
        assert step_logits.dtype == "float32"
        np.testing.assert_allclose(step_logits, logits[:, position], atol=0.06 * scale)


LOAD = """
import pickle, sys
from pathlib import Path
import keras
import numpy as np
import bytenet.models

folder = Path(sys.argv[1])
ids = dict(np.load(folder / "inputs.npz"))
found = {}
for path in sorted(folder.glob("*.keras")):
    model = keras.saving.load_model(path)
    memory = model.encode(ids["source_ids"])
    first = model.step(np.zeros(2, "int32"), model.initial_state(memory, 40), memory, 0)[0]
    arrays = {weight.path: keras.ops.convert_to_numpy(weight) for weight in model.weights}
    arrays["first logits"] = keras.ops.convert_to_numpy(first)
    found[path.stem] = type(model).__name__, model.get_config(), arrays
(folder / "found.pickle").write_bytes(pickle.dumps(found))
"""


def test_a_model_loaded_in_another_process_is_equal_bit_for_bit(traced, tmp_path):
    ids = {"source_ids": pad(draw_sentences([9, 5]))}
    np.savez(tmp_path / "inputs.npz", **ids)
    models = [traced(case.config).model for case in CASES]
    # Where it is loaded, mixed precision is not the default.
    keras.mixed_precision.set_global_policy("mixed_bfloat16")
    models.append(build_model(CASES[0].config, VOCAB_SIZE))
    keras.mixed_precision.set_global_policy("float32")
    for index, model in enumerate(models):
        model.save(tmp_path / f"{index}.keras")
    command = [sys.executable, "-c", LOAD, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=200, env=os.environ, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    loaded = pickle.loads((tmp_path / "found.pickle").read_bytes())
    for index, model in enumerate(models):
        kind, config, arrays = loaded[str(index)]
        assert (kind, config) == (type(model).__name__, model.get_config())
        memory = model.encode(ids["source_ids"])
        first = model.step(np.zeros(2, "int32"), model.initial_state(memory, 40), memory, 0)[0]
        expected = {weight.path: convert_to_numpy(weight) for weight in model.weights}
        expected["first logits"] = convert_to_numpy(first)
        assert arrays.keys() == expected.keys()
        for key, values in expected.items():
            np.testing.assert_array_equal(arrays[key], values, err_msg=key)
