"""Scaled dot-product attention with several heads."""

from collections.abc import Mapping

import keras
from keras import ops

from bytenet.layers.attention.dot_attention import dot_attention
from bytenet.layers.fast import make_dropout


@keras.saving.register_keras_serializable("bytenet")
class MultiHeadAttention(keras.layers.Layer):
    """Attention in which each head sees its own maps of queries, keys and values.

    `Q = queries · W_Q`, `K = memory · W_K` and `V = memory · W_V` are split into heads. Each head computes
    `softmax(Q · Kᵀ / √head_dim + offsets) · V`. The results stand side by side, and W_O maps them to the width of the
    queries. All maps have biases.

    Mask: not used; offsets hide steps, see `bytenet.layers.attention.dot_attention`.

    Args:
        heads: number of heads.
        head_dim: width of the queries and keys of a head.
        dropout: share of the attention weights that are dropped in training.
        memory_dim: channels of the memory; None for as many as the queries have.
        value_dim: width of the values of a head; None for `head_dim`.

    Reference:
        Vaswani et al. 2017, section 3.2.
    """

    def __init__(
        self, heads: int, head_dim: int, dropout: float = 0.0, memory_dim: int | None = None,
        value_dim: int | None = None, **kwargs,
    ):  # fmt: skip
        super().__init__(**kwargs)
        self.heads = heads
        self.head_dim = head_dim
        self.memory_dim = memory_dim
        self.value_dim = value_dim or head_dim
        self.dropout_rate = dropout
        key_width, policy = heads * head_dim, self.dtype_policy
        # Glorot's bound for the three maps side by side, as in fairseq. It does not depend on how many stand together.
        scaled = {"kernel_initializer": keras.initializers.VarianceScaling(0.5, "fan_in", "uniform")}
        self.query_map = keras.layers.Dense(key_width, name="query", dtype=policy, **scaled)
        width = key_width + heads * self.value_dim
        self.key_value_map = keras.layers.Dense(width, name="key_value", dtype=policy, **scaled)
        self.dropout = make_dropout(dropout, name="dropout", dtype=policy)

    def build(self, input_shape):
        """Make the maps. `input_shape` is the shape of the queries."""
        dim = input_shape[-1]
        self.query_map.build(input_shape)
        self.key_value_map.build((*input_shape[:-1], self.memory_dim or dim))
        self.output_map = keras.layers.Dense(dim, name="attention_output", dtype=self.dtype_policy)
        self.output_map.build((*input_shape[:-1], self.heads * self.value_dim))

    def call(self, queries, keys, values, offsets, training=False):
        """Attend to a memory.

        Args:
            queries: float `(batch, T, channels)`.
            keys, values: float `(batch, heads, S, head_dim)` and `(batch, heads, S, value_dim)`, the result of
                `keys_and_values`.
            offsets: float, to add to the scores `(batch, heads, T, S)`.
            training: whether the dropout is on.

        Returns:
            float `(batch, T, channels)`, and the weights, float `(batch, heads, T, S)`.
        """
        scaled = self.query_map(queries) * ops.cast(self.head_dim**-0.5, self.compute_dtype)
        heads = self._split(scaled)  # (batch, heads, T, head_dim)
        context, weights = dot_attention(heads, keys, values, offsets, self.dropout, training)
        context = ops.transpose(context, (0, 2, 1, 3))  # (batch, T, heads, value_dim)
        batch, length = ops.shape(context)[:2]
        return self.output_map(ops.reshape(context, (batch, length, self.heads * self.value_dim))), weights

    def keys_and_values(self, memory):
        """The keys and values of a memory.

        Args:
            memory: float `(batch, S, channels)`.

        Returns:
            float `(batch, heads, S, head_dim)` and `(batch, heads, S, value_dim)`.
        """
        # Keras needs many more operations to split at a number than to halve.
        sections = 2 if self.value_dim == self.head_dim else [self.heads * self.head_dim]
        with keras.name_scope(self.name):
            keys, values = ops.split(self.key_value_map(memory), sections, axis=-1)
            return self._split(keys), self._split(values)

    def _split(self, values):
        """Float `(batch, length, heads * width)` → `(batch, heads, length, width)`."""
        batch, length = ops.shape(values)[:2]
        width = values.shape[-1] // self.heads
        return ops.transpose(ops.reshape(values, (batch, length, self.heads, width)), (0, 2, 1, 3))

    def get_config(self):
        return super().get_config() | {
            "heads": self.heads, "head_dim": self.head_dim, "dropout": self.dropout_rate, "memory_dim": self.memory_dim,
            "value_dim": self.value_dim,
        }  # fmt: skip


def memories_of(scope: str, attentions: Mapping[str, MultiHeadAttention], memory) -> dict[str, list]:
    """The keys and values of a memory for several attentions.

    Args:
        scope: name of the layer that has the attentions.
        attentions: by the names of the layers in it. These and `scope` are the name scopes of a call, for profiles.
        memory: float `(batch, S, channels)`.

    Returns:
        `keys` and `values`: for each attention, see `MultiHeadAttention.keys_and_values`.
    """
    keys_and_values = []
    with keras.name_scope(scope):
        for name, attention in attentions.items():
            with keras.name_scope(name):
                keys_and_values.append(attention.keys_and_values(memory))
    keys, values = zip(*keys_and_values, strict=True)
    return {"keys": list(keys), "values": list(values)}
