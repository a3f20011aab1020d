"""Two translators with their optimisers, ready for `fit`."""

from collections.abc import Sequence
from contextlib import nullcontext

import tensorflow as tf

from bytenet.config import Config
from bytenet.datasets import Vocabulary
from bytenet.decoding import forbidden_symbols
from bytenet.models import TranslationModel
from bytenet.training.tasks.translator_pair import TranslatorPair
from bytenet.training.trainable_model import make_trainable_model, set_seed


def make_trainable_pair(
    config: Config,
    vocabulary: Vocabulary,
    strategy: tf.distribute.Strategy,
    jit_compile: bool,
    total_steps: int,
    sides: Sequence[str],
) -> TranslatorPair:
    """Two translators as `make_trainable_model` makes one; each begins as a supervised run of its direction does.

    Args:
        config, vocabulary, strategy, jit_compile, total_steps: as for `make_trainable_model`.
        sides: which monolingual texts there are.
    """
    translators = []
    for device in devices_apart(config) or (None, None):
        # The same first weights and random states that a run of that direction alone begins with.
        set_seed(config.training.seed)
        with tf.device(device) if device else nullcontext():
            translators.append(make_trainable_model(config, vocabulary, strategy, jit_compile, total_steps))
    return pair_of(translators, config, vocabulary, strategy, jit_compile, sides)


def pair_of(
    translators: Sequence[TranslationModel],
    config: Config,
    vocabulary: Vocabulary,
    strategy: tf.distribute.Strategy,
    jit_compile: bool,
    sides: Sequence[str],
) -> TranslatorPair:
    """Two translators, forward and backward, that learn from each other as a configuration says.

    Args:
        translators: as `make_trainable_model` makes them; several pairs may share them.
        config, vocabulary, strategy, jit_compile: as for `make_trainable_model`.
        sides: which monolingual texts there are.
    """
    with strategy.scope():
        return TranslatorPair(
            *translators, config.semi_supervised, sides, forbidden_symbols(config.model, vocabulary),
            jit_compile, devices_apart(config),
        )  # fmt: skip


def devices_apart(config: Config) -> Sequence[str]:
    """The devices of the two translators where each has one of its own; otherwise none."""
    return config.training.devices or () if config.semi_supervised.placement == "apart" else ()
