"""Numbers of trained weights, counted without memory for the weights."""

import tensorflow as tf

from bytenet.config import ModelConfig
from bytenet.models import TranslationModel, build_model


def unallocated_model(config: ModelConfig, vocab_size: int) -> TranslationModel:
    """A model whose weights have shapes but no values. In a graph, TensorFlow does not compute initial values."""
    with tf.Graph().as_default():
        return build_model(config, vocab_size)
