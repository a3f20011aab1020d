"""Small pairs of translators, and the gradients of one training step."""

import keras
import numpy as np
import tensorflow as tf
from keras.ops import convert_to_numpy

from bytenet.config import SemiSupervisedConfig
from bytenet.config.families.bytenet import ByteNetConfig
from bytenet.config.families.recurrent import RecurrentConfig
from bytenet.models import ByteNet, RecurrentTranslator
from bytenet.training.losses import SentenceCrossEntropy
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
    "recurrent": lambda size: RecurrentTranslator(RecurrentConfig(variant="madsen", dim=4, encoder_layers=1), size),
}


def make_pair(kind="layer norm", optimizer=lambda: keras.optimizers.SGD(1.0), vocab_size=VOCAB_SIZE, **settings):
    """A pair whose weights give different probabilities. Plain gradient descent with rate 1 shows the gradient.

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
    """Run one step of `fit`. Return the logs, and the changes of the trained weights by direction.

    Args:
        pair: its optimisers make a step of the plain gradient.
        pair_weights: weights of the rows of the pairs, zero by default.
        **texts: ids `(rows, length)` by side, or a tuple of ids and row weights.
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


def flat(arrays):
    return np.concatenate([array.ravel() for array in arrays])
