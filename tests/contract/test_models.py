"""What every family and variant promises about its logits and steps. See `TranslationModel`."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bytenet.config.families.convs2s import ConvS2SConfig
from bytenet.config.families.transformer import TransformerConfig
from bytenet.models import build_model

from .cases import CASES, FAMILY_CASES, VARIANT_CASES, VOCAB_SIZE, draw_sentences, narrow, pad, parametrize, randomize
from .traced_model import traced

every_case = parametrize(CASES)
LENGTH = st.integers(1, 14)
LENGTHS_OF_PAIR = st.tuples(LENGTH, LENGTH)


@every_case
@settings(max_examples=4)
@given(source_length=st.integers(1, 20), target_length=st.integers(1, 28))
def test_steps_equal_the_call(case, source_length, target_length):
    # Short sources end long before their targets. A cache of few steps is overwritten several times.
    net = traced(case.config)
    source_ids = pad(draw_sentences([source_length, source_length // 2 + 1], seed=1))
    target_ids = pad(draw_sentences([target_length // 2 + 1, target_length], seed=2))
    expected = net.logits(source_ids, target_ids)
    assert expected.shape == (2, target_length, VOCAB_SIZE)
    shapes = {"source_ids": source_ids.shape, "target_ids": target_ids.shape}
    assert net.model.compute_output_shape(shapes) == expected.shape
    np.testing.assert_allclose(net.logits_by_steps(source_ids, target_ids), expected, atol=1e-5)


@parametrize(FAMILY_CASES)
def test_steps_work_outside_a_graph_with_an_integer_position(case):
    net = traced(case.config)
    source_ids, target_ids = pad(draw_sentences([4])), pad(draw_sentences([3]))
    expected = net.logits(source_ids, target_ids)
    for position, logits in enumerate(eager_step_logits(net.model, source_ids, target_ids)):
        np.testing.assert_allclose(logits, expected[:, position], atol=1e-5)


def eager_step_logits(model, source_ids, target_ids):
    """The logits of each step for one sentence, without tracing."""
    memory = model.encode(source_ids)
    state = model.initial_state(memory, target_ids.shape[1])
    for position, previous_id in enumerate([0, *target_ids[0, :-1]]):
        logits, state = model.step(np.array([previous_id], "int32"), state, memory, position)
        yield logits


@every_case
def test_selected_hypotheses_continue_as_if_present_from_the_start(case):
    """As in a beam search, the hypotheses of each source are repeated, dropped and reordered before each step."""
    net, random = traced(case.config), np.random.default_rng(3)
    source_ids = np.array(draw_sentences([9, 9], seed=1))
    written = np.zeros((2, 3, 0), int)  # the characters of three hypotheses of each source
    memory = net.encode(source_ids)
    state = net.model.initial_state(memory, 40, beam_size=3)
    for position in range(20):
        previous_ids = written[..., -1] if position else np.zeros((2, 3), int)
        logits, state = net.step(previous_ids.reshape(6), state, memory, position)
        written = np.concatenate([written, random.integers(2, VOCAB_SIZE, (2, 3, 1))], axis=-1)
        expected = net.logits(np.repeat(source_ids, 3, axis=0), written.reshape(6, -1))[:, -1]
        np.testing.assert_allclose(logits, expected, atol=1e-5)
        parents = random.integers(0, 3, (2, 3)).astype("int32")
        state = net.model.select(state, parents)
        written = np.take_along_axis(written, parents[..., None], axis=1)


@every_case
@settings(max_examples=6)
@given(position=st.integers(0, 11), length=st.integers(12, 14))
def test_character_is_read_at_the_next_position_and_not_earlier(case, position, length):
    net = traced(case.config)
    source, target = draw_sentences([9, length])
    changed = target.copy()
    changed[position] = target[position] % 10 + 1
    before, after = net.logits([source], [target]), net.logits([source], [changed])
    np.testing.assert_allclose(after[:, : position + 1], before[:, : position + 1], atol=1e-6)
    if position + 1 < length:
        assert np.abs(after[:, position + 1] - before[:, position + 1]).max() > 1e-4


@every_case
def test_source_matters_at_every_position(case):
    net = traced(case.config)
    source, target = draw_sentences([9, 9])
    other = [id_ % 9 + 2 for id_ in source[:-1]] + [1]
    difference = np.abs(net.logits([other], [target]) - net.logits([source], [target]))[0].max(axis=-1)
    assert np.all(difference > 1e-6)


@pytest.mark.parametrize(
    ("config", "lengths"),
    [
        pytest.param(narrow(TransformerConfig), [6, 5], id="transformer"),
        pytest.param(narrow(ConvS2SConfig, decoder_kernel_sizes=(2, 1)), [12, 5], id="convs2s"),
    ],
)
def test_every_source_symbol_matters_at_every_position_with_attention(config, lengths):
    net = traced(config)
    source, target = draw_sentences(lengths)
    before = net.logits([source], [target])
    for index in range(len(source)):
        changed = source.copy()
        changed[index] = source[index] % 9 + 2
        assert np.all(np.abs(net.logits([changed], [target]) - before).max(axis=-1) > 1e-6)


@parametrize([case for case in CASES if case.config.mask_padding])
@settings(max_examples=6)
@given(
    lengths=st.lists(LENGTHS_OF_PAIR, min_size=1, max_size=4),
    num_empty=st.integers(0, 2),
    extra=st.tuples(st.integers(0, 12), st.integers(0, 12)),
)
def test_sentence_does_not_depend_on_its_padding_or_its_batch(case, lengths, num_empty, extra):
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


@parametrize([case for case in CASES if not case.config.mask_padding])
def test_padding_matters_without_masks(case):
    net = traced(case.config)
    source, target = draw_sentences([6, 6])
    alone, further = net.logits([source], [target]), net.logits(pad([source], 9), pad([target], 9))
    assert np.abs(further[:, :6] - alone).max() > 1e-3


@pytest.mark.parametrize("dtype", ["bfloat16", "float64"])
@parametrize([*FAMILY_CASES, *(case for case in VARIANT_CASES if case.name == "recurrent: madsen")])
def test_steps_equal_the_call_with_pure_policies(case, dtype):
    source_ids, target_ids = (pad(draw_sentences([length], seed=length)) for length in (6, 3))
    model = build_model(case.config, VOCAB_SIZE, dtype)
    randomize(model)
    logits = model({"source_ids": source_ids, "target_ids": target_ids})
    assert (model.compute_dtype, logits.dtype) == (dtype, "float32")
    tolerance = (0.05 if dtype == "bfloat16" else 1e-5) * np.abs(logits).max()
    for position, step_logits in enumerate(eager_step_logits(model, source_ids, target_ids)):
        np.testing.assert_allclose(step_logits, logits[:, position], atol=tolerance)


@parametrize(VARIANT_CASES)
def test_mixed_precision_logits_are_near_the_exact_logits(case, policy):
    source_ids, target_ids = (pad(draw_sentences([length], seed=length)) for length in (6, 9))
    exact = traced(case.config)
    with policy("mixed_bfloat16"):
        model = build_model(case.config, VOCAB_SIZE)
    assert model.compute_dtype == "bfloat16"
    assert all(weight.dtype == "float32" for weight in model.trainable_weights)
    model.set_weights(exact.model.get_weights())
    logits = model({"source_ids": source_ids, "target_ids": target_ids})
    assert logits.dtype == "float32"
    scale = np.abs(exact.logits(source_ids, target_ids)).max()
    np.testing.assert_allclose(logits, exact.logits(source_ids, target_ids), atol=0.06 * scale)
    for position, step_logits in enumerate(eager_step_logits(model, source_ids, target_ids)):
        assert step_logits.dtype == "float32"
        np.testing.assert_allclose(step_logits, logits[:, position], atol=0.06 * scale)
