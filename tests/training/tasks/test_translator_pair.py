"""Two translators that learn from each other, against what one works out without them."""

import itertools

import keras
import numpy as np
import pytest
import tensorflow as tf
from keras.ops import convert_to_numpy

from bytenet.config import SemiSupervisedConfig
from bytenet.config.families.attention import AttentionConfig
from bytenet.config.families.bytenet import ByteNetConfig
from bytenet.decoding.beam import beam_search
from bytenet.layers import batch_norm_statistics
from bytenet.models import AttentionModel, ByteNet
from bytenet.training.losses import SentenceCrossEntropy
from bytenet.training.optimizers.flat_adam import FlatAdam
from bytenet.training.tasks.marginal import log_likelihoods
from bytenet.training.tasks.translator_pair import TranslatorPair

VOCAB_SIZE = 5
SEARCH_LENGTH = 3
BEAM_SIZE = 2
PAIRS = np.array([[2, 3, 4, 1], [4, 1, 0, 0]], np.int32), np.array([[3, 1, 0, 0], [2, 2, 4, 1]], np.int32)
TEXT = np.array([[3, 2, 4, 1], [2, 1, 0, 0], [4, 4, 1, 0]], np.int32)
FORTH_AND_BACK = {"source": ("forward", "backward"), "target": ("backward", "forward")}
FAMILIES = {
    "batch norm": lambda size: ByteNet(ByteNetConfig(dim=8, num_sets=1, dilations=(1,)), size),
    "layer norm": lambda size: ByteNet(
        ByteNetConfig(dim=8, num_sets=1, dilations=(1,), encoder_normalization="layer"), size
    ),
    "attention": lambda size: AttentionModel(AttentionConfig(dim=4, num_layers=1), size),
}


@pytest.fixture(autouse=True)
def eager():
    """Every operation by itself: for one step of a small model that is much quicker than to trace it."""
    tf.config.run_functions_eagerly(True)
    yield
    tf.config.run_functions_eagerly(False)


def make_pair(kind="layer norm", optimizer=lambda: keras.optimizers.SGD(1.0), vocab_size=VOCAB_SIZE, **settings):
    """A pair with weights that make probabilities differ; plain gradient descent with rate 1 shows the gradient.

    `search_lengths`, `forbidden_ids` and `jit_compile` go to the pair, the other settings to its configuration.
    """
    extra = {name: settings.pop(name) for name in ("forbidden_ids", "jit_compile") if name in settings}
    search_lengths = settings.pop("search_lengths", {"source": {4: SEARCH_LENGTH}})
    random = np.random.default_rng(3)
    translators = []
    for _ in range(2):
        model = FAMILIES[kind](vocab_size)
        model.build({"source_ids": (None, None), "target_ids": (None, None)})
        for weight in model.weights:
            positive = weight.name == "moving_variance"
            size = tuple(weight.shape)
            weight.assign(random.uniform(0.5, 2, size) if positive else random.normal(scale=0.5, size=size))
        model.compile(optimizer(), SentenceCrossEntropy(), jit_compile=False)
        model.optimizer.build(model.trainable_variables)
        translators.append(model)
    settings = SemiSupervisedConfig(**{"enabled": True, "beam_size": BEAM_SIZE, "source_weight": 0.7} | settings)
    pair = TranslatorPair(*translators, settings, tuple(search_lengths), **({"forbidden_ids": (0,)} | extra))
    pair.set_texts(settings, search_lengths)
    return pair


def values_of(model):
    return [convert_to_numpy(weight) for weight in model.trainable_variables]


def step(pair, pair_weights=(0.0, 0.0), **texts):
    """One step of `fit`; the logs, and by direction how the trained weights changed.

    Args:
        pair: its optimisers make a step of the gradient itself.
        pair_weights: what the rows of the pairs weigh, none by default.
        **texts: ids `(rows, length)` by side, or these and the rows' weights.
    """
    sources, targets = (np.minimum(ids, pair.vocab_size - 1) for ids in PAIRS)
    batch = {
        "pairs": {"source_ids": sources, "target_ids": targets}
        | {f"{name}_weights": np.float32(pair_weights) for name in ("forward", "backward")}
    }
    for side, text in texts.items():
        ids, weights = text if isinstance(text, tuple) else (text, np.ones(len(text)))
        batch[side] = (ids, np.float32(weights))
    before = {name: values_of(pair.translator(name)) for name in ("forward", "backward")}
    history = pair.fit(tf.data.Dataset.from_tensors(batch), verbose=0, shuffle=False).history
    changes = {
        name: [new - old for new, old in zip(values_of(pair.translator(name)), old_values, strict=True)]
        for name, old_values in before.items()
    }
    return {name: values[0] for name, values in history.items()}, changes


def search(pair, side="source", beam_size=BEAM_SIZE, statistics="moving", length=SEARCH_LENGTH, forbidden_ids=(0,)):
    """Hypotheses for `TEXT`, int `(rows, b, length)`, and their log-probabilities."""
    model = pair.translator(FORTH_AND_BACK[side][0])
    with batch_norm_statistics(model, statistics):
        found = beam_search(model, TEXT, beam_size, length, forbidden_ids=forbidden_ids)
    return convert_to_numpy(found.ids), convert_to_numpy(found.log_probabilities)


def without_padding(ids):
    return np.array(ids)[: np.max(np.flatnonzero(ids)) + 1]


def log_probability_and_gradient(model, source, target):
    """log P(target | source) of one sentence alone, and its gradient by every trained weight."""
    with tf.GradientTape() as tape:
        logits = model({"source_ids": source[None], "target_ids": target[None]}, training=True)
        log_probabilities = tf.nn.log_softmax(logits[0])
        value = tf.reduce_sum(tf.gather(log_probabilities, target, batch_dims=1))
    weights = [weight.value for weight in model.trainable_variables]
    gradients = tape.gradient(value, weights, unconnected_gradients=tf.UnconnectedGradients.ZERO)
    return float(value), [convert_to_numpy(tf.convert_to_tensor(gradient)) for gradient in gradients]


def gradient_by_hand(pair, side, objective, beam_size=BEAM_SIZE):
    """−Σ_b w_b ∇(log P(ŷ_b|x) + log P(x|ŷ_b)), B.5.4, one hypothesis after the other; the mean over `TEXT`.

    Of back-translation, without the first of the two, and with the w_b of the probabilities of ŷ alone.

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


def flat(arrays):
    return np.concatenate([array.ravel() for array in arrays])


@pytest.mark.parametrize(
    ("side", "objective"), [("source", "marginal"), ("target", "marginal"), ("source", "back_translation")]
)
def test_the_gradient_of_text_is_that_of_b54_worked_out_hypothesis_by_hypothesis(side, objective):
    weights = {f"{side}_weight": 0.7, "objective": objective}
    pair = make_pair(search_lengths={side: {4: SEARCH_LENGTH}}, **weights)
    loss, gradients = gradient_by_hand(pair, side, objective)
    logs, changes = step(pair, **{side: TEXT})
    assert logs[f"{side}_marginal"] == pytest.approx(loss, rel=1e-5)
    for name, gradient in gradients.items():
        np.testing.assert_allclose(flat(changes[name]), -0.7 * gradient, atol=2e-6, rtol=1e-5)
    forth_name, back_name = FORTH_AND_BACK[side]
    assert np.abs(flat(changes[back_name])).max() > 0.01
    # Back-translation teaches nothing to the one who searched.
    assert np.any(flat(changes[forth_name])) == (objective == "marginal")


@pytest.mark.parametrize("kind", ["batch norm", "attention"])
def test_the_gradient_of_text_is_the_derivative_of_the_log_sum_and_not_of_the_search(kind):
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


def test_with_one_hypothesis_back_translation_is_training_on_what_greedy_search_finds():
    pair = make_pair(objective="back_translation", beam_size=1)
    loss, gradients = gradient_by_hand(pair, "source", "back_translation", beam_size=1)
    logs, changes = step(pair, source=TEXT)
    assert logs["source_marginal"] == pytest.approx(loss, rel=1e-5)
    np.testing.assert_allclose(flat(changes["backward"]), -0.7 * gradients["backward"], atol=2e-6, rtol=1e-5)
    assert not np.any(flat(changes["forward"]))


@pytest.mark.parametrize(("duplicates", "forbidden_ids"), [("keep", (0,)), ("keep", ()), ("merge", ())])
def test_the_loss_is_the_exact_marginal_where_the_beam_holds_everything(duplicates, forbidden_ids):
    """Everything: what ends within two symbols, and what has two symbols and no end; its sum is all a search can find.

    Of two symbols and the end there are seven such sequences, of the same with NULL in place of one of them as well.
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
        found = []  # of each: text, log P(ŷ|x) with every symbol, and what it adds to the sum
        for sequence in everything:
            padded = np.array([[*sequence, *[0] * (length - len(sequence))]])
            logits = pair.forward({"source_ids": row[None], "target_ids": padded})[0]
            steps = convert_to_numpy(tf.nn.log_softmax(logits)).astype(float)
            of_symbols = [steps[place, symbol] for place, symbol in enumerate(sequence)]
            # In the sum, NULL symbols are no part of a translation, as in the thesis's code.
            forth = sum(value for value, symbol in zip(of_symbols, sequence, strict=True) if symbol)
            back = float(log_likelihoods(pair.backward, padded, row[None], training=True)[0])
            ended = sequence[-1] == 1
            kept_text = tuple(symbol for symbol in sequence if symbol)
            found.append(((ended, sum(of_symbols)), kept_text, np.exp(forth + back)))
        found.sort(key=lambda one: one[0], reverse=True)  # the order of the search: ended ones first
        seen, terms = set(), []
        for _, kept_text, term in found:
            if duplicates == "keep" or kept_text not in seen:
                terms.append(term)
            seen.add(kept_text)
        assert len(terms) == (5 if duplicates == "merge" else 7)
        expected -= np.log(sum(terms)) / len(text)
    logs, _ = step(pair, source=text)
    assert logs["source_marginal"] == pytest.approx(expected, rel=1e-5)


def test_the_search_takes_moving_statistics_or_those_of_the_batch():
    found = {}
    for statistics in ("moving", "batch"):
        pair = make_pair("batch norm", batch_norm_statistics=statistics)
        hypotheses, _ = search(pair, statistics=statistics)
        flattened, sources = hypotheses.reshape(-1, SEARCH_LENGTH), np.repeat(TEXT, BEAM_SIZE, axis=0)
        # Which statistics the gradient takes is no matter of this setting: those of the batch.
        joint = log_likelihoods(pair.forward, sources, flattened, training=True)
        joint += log_likelihoods(pair.backward, flattened, sources, training=True)
        expected = -tf.reduce_mean(tf.reduce_logsumexp(tf.reshape(joint, (-1, BEAM_SIZE)), axis=1))
        logs, _ = step(pair, source=TEXT)
        assert logs["source_marginal"] == pytest.approx(float(expected), rel=1e-5)
        found[statistics] = hypotheses
    assert not np.array_equal(found["moving"], found["batch"]), "the two statistics find the same, so nothing is shown"


@pytest.mark.parametrize(("trained", "statistics"), [("forward", "batch"), ("backward", "moving")])
def test_the_translator_that_is_not_trained_stays_as_it_is(trained, statistics):
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


def test_the_translator_that_is_trained_learns_as_beside_one_that_is_trained_too():
    alone = make_pair(trained="forward", start_backward="b", target_weight=0.5)
    both = make_pair(target_weight=0.5)
    (logs, changes), (logs_of_both, changes_of_both) = (
        step(pair, pair_weights=(1.0, 1.0), source=TEXT) for pair in (alone, both)
    )
    assert logs["loss"] == pytest.approx(logs_of_both["loss"], rel=1e-6)
    assert logs["source_marginal"] == pytest.approx(logs_of_both["source_marginal"], rel=1e-5)
    np.testing.assert_allclose(flat(changes["forward"]), flat(changes_of_both["forward"]), atol=1e-6)


def test_weights_grow_over_the_ramp_and_stay_and_may_be_set_anew():
    pair = make_pair(optimizer=lambda: FlatAdam(0.0), ramp_steps=3)  # rate 0: the same gradient at every step
    norms = []
    for weight in (0.7, 0.7, 0.7, 0.7, 0.07):
        pair.set_texts(SemiSupervisedConfig(enabled=True, source_weight=weight), {"source": {4: SEARCH_LENGTH}})
        step(pair, source=TEXT)
        norms.append(float(convert_to_numpy(pair.backward.optimizer.gradient_norm)))
    np.testing.assert_allclose(norms, norms[2] * np.array([1 / 3, 2 / 3, 1, 1, 0.1]), rtol=1e-4)
    assert norms[2] > 0.01


@pytest.mark.parametrize(("kind", "duplicates"), [("batch norm", "keep"), ("attention", "merge")])
def test_rows_that_fill_up_a_batch_add_nothing(kind, duplicates):
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


def test_text_adds_its_gradient_to_that_of_the_pairs():
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


def test_a_step_compiled_with_xla_is_a_step_that_is_not():
    results = []
    for jit_compile in (False, True):
        tf.config.run_functions_eagerly(not jit_compile)
        pair = make_pair("batch norm", jit_compile=jit_compile, beam_size=2)
        logs, changes = step(pair, pair_weights=(1.0, 1.0), source=TEXT)
        results.append((logs, flat([*changes["forward"], *changes["backward"]])))
    (logs, changes), (compiled_logs, compiled_changes) = results
    assert compiled_logs == pytest.approx(logs, rel=1e-4)
    np.testing.assert_allclose(compiled_changes, changes, atol=1e-4)
