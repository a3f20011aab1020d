"""A forward and a backward translator with their optimisers, ready for `fit`."""

from collections.abc import Sequence
from contextlib import nullcontext

import tensorflow as tf

from bytenet.config import Config
from bytenet.datasets import Vocabulary
from bytenet.decoding import forbidden_symbols
from bytenet.models import TranslationModel
from bytenet.training.compiled_models.trainable_model import make_trainable_model, set_seed
from bytenet.training.tasks.direction import Side
from bytenet.training.tasks.translator_pair import TranslatorPair


def make_trainable_pair(
    config: Config,
    vocabulary: Vocabulary,
    strategy: tf.distribute.Strategy,
    jit_compile: bool,
    total_updates: int,
    sides: Sequence[Side],
) -> TranslatorPair:
    """Two translators from `make_trainable_model`. Each begins like a supervised run of its direction.

    Args:
        config, vocabulary, strategy, jit_compile, total_updates: as for `make_trainable_model`.
        sides: sides that have monolingual text.
    """
    translators = []
    for device in devices_apart(config) or (None, None):
        # A run of that direction alone has the same seed, so it has the same initial weights and random states.
        set_seed(config.training.seed)
        with tf.device(device) if device else nullcontext():
            translators.append(make_trainable_model(config, vocabulary, strategy, jit_compile, total_updates))
    return pair_of(translators, config, vocabulary, strategy, jit_compile, sides)


def pair_of(
    translators: Sequence[TranslationModel],
    config: Config,
    vocabulary: Vocabulary,
    strategy: tf.distribute.Strategy,
    jit_compile: bool,
    sides: Sequence[Side],
) -> TranslatorPair:
    """A pair of translators, forward and backward, that learn from each other.

    Args:
        translators: from `make_trainable_model`. Several pairs may share them.
        config, vocabulary, strategy, jit_compile: as for `make_trainable_model`.
        sides: sides that have monolingual text.
    """
    forward, backward = translators
    with strategy.scope():
        return TranslatorPair(
            forward, backward, config.semi_supervised, sides, forbidden_symbols(config.model, vocabulary),
            jit_compile, devices_apart(config),
        )  # fmt: skip


def devices_apart(config: Config) -> Sequence[str]:
    """The devices of the two translators if each has its own; otherwise none."""
    return config.training.devices or () if config.semi_supervised.placement == "apart" else ()
