"""The gradients of monolingual text equal calculations by hand for each hypothesis."""

import itertools

import numpy as np
import pytest
import tensorflow as tf
from keras.ops import convert_to_numpy

from bytenet.decoding.searches.beam import beam_search
from bytenet.layers import batch_norm_statistics
from bytenet.training.tasks.marginal import log_likelihoods

from .pairs import BEAM_SIZE, FORTH_AND_BACK, SEARCH_LENGTH, TEXT, flat, make_pair, step

pytestmark = pytest.mark.usefixtures("eagerly")


def search(pair, side="source", beam_size=BEAM_SIZE, statistics="moving", length=SEARCH_LENGTH, forbidden_ids=(0,)):
    """Hypotheses for `TEXT`, int `(rows, b, length)`, and their log-probabilities."""
    model = pair.translator(FORTH_AND_BACK[side][0])
    with batch_norm_statistics(model, statistics):
        found = beam_search(model, TEXT, beam_size, length, forbidden_ids=forbidden_ids)
    return convert_to_numpy(found.ids), convert_to_numpy(found.log_probabilities)


def without_padding(ids):
    return np.array(ids)[: np.max(np.flatnonzero(ids)) + 1]


def log_probability_and_gradient(model, source, target):
    """log P(target | source) of one sentence alone, and its gradient with respect to every trained weight."""
    with tf.GradientTape() as tape:
        logits = model({"source_ids": source[None], "target_ids": target[None]}, training=True)
        log_probabilities = tf.nn.log_softmax(logits[0])
        value = tf.reduce_sum(tf.gather(log_probabilities, target, batch_dims=1))
    weights = [weight.value for weight in model.trainable_variables]
    gradients = tape.gradient(value, weights, unconnected_gradients=tf.UnconnectedGradients.ZERO)
    return float(value), [convert_to_numpy(tf.convert_to_tensor(gradient)) for gradient in gradients]


def gradient_by_hand(pair, side, objective, beam_size=BEAM_SIZE):
    """−Σ_b w_b ∇(log P(ŷ_b|x) + log P(x|ŷ_b)), B.5.4, one hypothesis at a time. The mean over `TEXT`.

    For back-translation, without the first term, and with w_b from the probabilities of ŷ alone.

    Returns:
        The loss, and the gradients by direction.
    """
    hypotheses, _ = search(pair, side, beam_size)
    forth_name, back_name = FORTH_AND_BACK[side]
    loss, sums = 0.0, dict.fromkeys(FORTH_AND_BACK[side], 0.0)
    for ids, of_row in zip(TEXT, hypotheses, strict=True):
        ids = without_padding(ids)
        found = {forth_name: [], back_name: []}
        for hypothesis in map(without_padding, of_row):
            found[forth_name].append(log_probability_and_gradient(pair.translator(forth_name), ids, hypothesis))
            found[back_name].append(log_probability_and_gradient(pair.translator(back_name), hypothesis, ids))
        values = {name: np.array([value for value, _ in of_name]) for name, of_name in found.items()}
        weighed_by = values[forth_name] + (values[back_name] if objective == "marginal" else 0.0)
        shares = np.exp(weighed_by) / np.exp(weighed_by).sum()
        loss -= np.log(np.exp(weighed_by).sum()) if objective == "marginal" else shares @ values[back_name]
        for name, of_name in found.items():
            if objective == "marginal" or name == back_name:
                for share, (_, gradients) in zip(shares, of_name, strict=True):
                    sums[name] -= share * np.concatenate([gradient.ravel() for gradient in gradients])
    return loss / len(TEXT), {name: total / len(TEXT) for name, total in sums.items()}


@pytest.mark.parametrize(
    ("side", "objective"), [("source", "marginal"), ("target", "marginal"), ("source", "back_translation")]
)
def test_gradient_of_text_equals_b54_by_hand_for_each_hypothesis(side, objective):
    weights = {f"{side}_weight": 0.7, "objective": objective}
    pair = make_pair(search_lengths={side: {4: SEARCH_LENGTH}}, **weights)
    loss, gradients = gradient_by_hand(pair, side, objective)
    logs, changes = step(pair, **{side: TEXT})
    assert logs[f"{side}_marginal"] == pytest.approx(loss, rel=1e-5)
    for name, gradient in gradients.items():
        np.testing.assert_allclose(flat(changes[name]), -0.7 * gradient, atol=2e-6, rtol=1e-5)
    forth_name, back_name = FORTH_AND_BACK[side]
    assert np.abs(flat(changes[back_name])).max() > 0.01
    # Back-translation does not teach the translator that searched.
    assert np.any(flat(changes[forth_name])) == (objective == "marginal")


@pytest.mark.parametrize("kind", ["batch norm", "recurrent"])
def test_gradient_of_text_differentiates_the_log_sum_but_not_the_search(kind):
    pair = make_pair(kind)
    hypotheses, _ = search(pair)
    hypotheses = hypotheses.reshape(-1, SEARCH_LENGTH)
    weights = [weight.value for model in pair.translators for weight in model.trainable_variables]
    with tf.GradientTape() as tape:
        forth = log_likelihoods(pair.forward, np.repeat(TEXT, BEAM_SIZE, axis=0), hypotheses, training=True)
        back = log_likelihoods(pair.backward, hypotheses, np.repeat(TEXT, BEAM_SIZE, axis=0), training=True)
        loss = -tf.reduce_mean(tf.reduce_logsumexp(tf.reshape(forth + back, (-1, BEAM_SIZE)), axis=1))
    gradients = tape.gradient(loss, weights, unconnected_gradients=tf.UnconnectedGradients.ZERO)
    logs, changes = step(pair, source=TEXT)
    assert logs["source_marginal"] == pytest.approx(float(loss), rel=1e-5)
    derivative = flat([convert_to_numpy(tf.convert_to_tensor(gradient)) for gradient in gradients])
    np.testing.assert_allclose(
        flat([*changes["forward"], *changes["backward"]]), -0.7 * derivative, rtol=1e-4, atol=1e-5
    )
    assert np.abs(derivative).max() > 0.01


def test_back_translation_with_one_hypothesis_trains_on_greedy_search():
    pair = make_pair(objective="back_translation", beam_size=1)
    loss, gradients = gradient_by_hand(pair, "source", "back_translation", beam_size=1)
    logs, changes = step(pair, source=TEXT)
    assert logs["source_marginal"] == pytest.approx(loss, rel=1e-5)
    np.testing.assert_allclose(flat(changes["backward"]), -0.7 * gradients["backward"], atol=2e-6, rtol=1e-5)
    assert not np.any(flat(changes["forward"]))


@pytest.mark.parametrize(
    ("duplicates", "forbidden_ids"),
    [("keep", (0,)), pytest.param("keep", (), marks=pytest.mark.thorough), ("merge", ())],
)
def test_loss_is_the_exact_marginal_if_the_beam_holds_all_sequences(duplicates, forbidden_ids):
    """All sequences that end within two symbols, and all of two symbols without an end. A search finds no others.

    Two symbols and the end symbol form seven such sequences. If NULL replaces one symbol, there are also seven.
    """
    vocab_size, length = (3 if forbidden_ids == () else 4), 2
    pair = make_pair(
        vocab_size=vocab_size, beam_size=9, duplicates=duplicates, forbidden_ids=forbidden_ids,
        search_lengths={"source": {4: length}},
    )  # fmt: skip
    text = np.minimum(TEXT, vocab_size - 1)
    symbols = [symbol for symbol in range(vocab_size) if symbol not in forbidden_ids]
    everything = [(1,)] + [both for both in itertools.product(symbols, repeat=length) if both[0] != 1]
    assert len(everything) == 7

    expected = 0.0
    for row in text:
        found = []  # for each: log P(ŷ|x) with every symbol, text, and term of the sum
        for sequence in everything:
            padded = np.array([[*sequence, *[0] * (length - len(sequence))]])
            logits = pair.forward({"source_ids": row[None], "target_ids": padded})[0]
            steps = convert_to_numpy(tf.nn.log_softmax(logits)).astype(float)
            of_symbols = [steps[place, symbol] for place, symbol in enumerate(sequence)]
            # As in the thesis's code, NULL symbols in the sum are not part of a translation.
            forth = sum(value for value, symbol in zip(of_symbols, sequence, strict=True) if symbol)
            back = float(log_likelihoods(pair.backward, padded, row[None], training=True)[0])
            ended = sequence[-1] == 1
            kept_text = tuple(symbol for symbol in sequence if symbol)
            found.append(((ended, sum(of_symbols)), kept_text, np.exp(forth + back)))
        found.sort(key=lambda one: one[0], reverse=True)  # the order of the search: ended sequences first
        seen, terms = set(), []
        for _, kept_text, term in found:
            if duplicates == "keep" or kept_text not in seen:
                terms.append(term)
            seen.add(kept_text)
        assert len(terms) == (5 if duplicates == "merge" else 7)
        expected -= np.log(sum(terms)) / len(text)
    logs, _ = step(pair, source=text)
    assert logs["source_marginal"] == pytest.approx(expected, rel=1e-5)


def test_search_uses_moving_statistics_or_batch_statistics():
    found = {}
    for statistics in ("moving", "batch"):
        pair = make_pair("batch norm", batch_norm_statistics=statistics)
        hypotheses, _ = search(pair, statistics=statistics)
        flattened, sources = hypotheses.reshape(-1, SEARCH_LENGTH), np.repeat(TEXT, BEAM_SIZE, axis=0)
        # This setting does not change the gradient. It always uses the statistics of the batch.
        joint = log_likelihoods(pair.forward, sources, flattened, training=True)
        joint += log_likelihoods(pair.backward, flattened, sources, training=True)
        expected = -tf.reduce_mean(tf.reduce_logsumexp(tf.reshape(joint, (-1, BEAM_SIZE)), axis=1))
        logs, _ = step(pair, source=TEXT)
        assert logs["source_marginal"] == pytest.approx(float(expected), rel=1e-5)
        found[statistics] = hypotheses
    assert not np.array_equal(found["moving"], found["batch"]), "the two statistics find the same, so nothing is shown"
