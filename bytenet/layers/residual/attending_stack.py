"""Residual blocks with attention to the source between them."""

from collections.abc import Sequence
from typing import Any

import keras
from keras import ops

from bytenet.layers.attention.multi_head_attention import MultiHeadAttention, memories_of
from bytenet.layers.attention.source_window import SourceWindow
from bytenet.layers.fast import apply_dropout, make_dropout, make_normalization
from bytenet.layers.positions import PositionEncoding
from bytenet.layers.residual.block import set_to_zero
from bytenet.layers.residual.stack import ResidualStack


# Do not rename this class: saved weights would not load. Keras names the arrays of layers in a list by their class.
@keras.saving.register_keras_serializable("bytenet")
class SourceAttention(keras.layers.Layer):
    """Adds to each step what it reads in the source: `x + dropout(attention(norm(x) + position))`.

    Mask: not used; offsets hide padding.

    Args:
        heads: number of heads.
        head_dim: width of a head.
        memory_dim: channels of the encoded source.
        dropout: share of the context that is dropped in training.
        epsilon: added to variances.

    Input and output: float `(batch, length, channels)`.
    """

    def __init__(
        self, heads: int, head_dim: int, memory_dim: int, dropout: float = 0.0, epsilon: float = 1e-5, **kwargs
    ):
        super().__init__(**kwargs)
        self.arguments = {
            "heads": heads, "head_dim": head_dim, "memory_dim": memory_dim, "dropout": dropout, "epsilon": epsilon,
        }  # fmt: skip
        policy = self.dtype_policy
        self.norm = make_normalization("layer", epsilon, scale=True, name="query_normalization", dtype=policy)
        self.positions = PositionEncoding("sinusoidal", name="query_positions", dtype=policy)
        self.attention = MultiHeadAttention(
            heads, head_dim, memory_dim=memory_dim, name="source_attention", dtype=policy
        )
        self.dropout = make_dropout(dropout, name="dropout", dtype=policy)

    def build(self, input_shape):
        for layer in (self.norm, self.positions, self.attention):
            layer.build(input_shape)

    def call(self, inputs, keys, values, offsets, training=False):
        """Compute all steps at once.

        Args:
            inputs: float `(batch, T, channels)`.
            keys, values: float `(batch, heads, S, head_dim)`.
            offsets: float, to add to the scores `(batch, heads, T, S)`.
            training: whether dropout is on.

        Returns:
            float `(batch, T, channels)`, and the weights, float `(batch, heads, T, S)`.
        """
        context, weights = self.attention(self.positions(self.norm(inputs)), keys, values, offsets, training=training)
        return inputs + apply_dropout(self.dropout, context, training), weights

    def make_identity(self):
        """Set the last map to zero, so that the output is the input until training."""
        set_to_zero(self.attention.output_map)

    def step(self, inputs, position, keys, values, offsets):
        """Compute one step: float `(rows, channels)` → the same. Each source has `rows / batch` successive rows."""
        with keras.name_scope(self.name):  # the scope of `call`, for profiles
            queries = self.positions.step(self.norm(inputs), position)
            # The hypotheses of a source share its memory, which is not copied.
            queries = ops.reshape(queries, (ops.shape(keys)[0], -1, inputs.shape[-1]))
            context, _ = self.attention(queries, keys, values, offsets)
            return inputs + ops.reshape(context, ops.shape(inputs))

    def get_config(self):
        return super().get_config() | self.arguments


@keras.saving.register_keras_serializable("bytenet")
class AttendingStack(ResidualStack):
    """ByteNet's decoder with attention to the source after some of its blocks.

    The paper has no such attention; this is an extension of ours.

    Args:
        num_sets, dilations, **block_arguments: as for `ResidualStack`.
        attention_blocks: numbers of the blocks with attention after them, from 1.
        heads: number of heads of each attention.
        head_dim: width of a head.
        memory_dim: channels of the encoded source.
        radius, slope: of the `SourceWindow`.

    Input: float `(batch, T, dim)`. Output: the same shape, and a list with the weights of each attention, float
    `(batch, heads, T, S)`, from below.
    """

    def __init__(
        self,
        num_sets: int,
        dilations: Sequence[int],
        attention_blocks: Sequence[int],
        heads: int,
        head_dim: int,
        memory_dim: int,
        radius: int | None = None,
        slope: float = 1.0,
        **block_arguments,
    ):
        super().__init__(num_sets, dilations, **block_arguments)
        self.attention_blocks = list(attention_blocks)
        self.attention_arguments = {
            "attention_blocks": self.attention_blocks, "heads": heads, "head_dim": head_dim, "memory_dim": memory_dim,
            "radius": radius, "slope": slope,
        }  # fmt: skip
        epsilon, policy = block_arguments.get("epsilon", 1e-5), self.dtype_policy
        self.window = SourceWindow(radius, slope)
        self.memory_norm: Any = make_normalization(
            "layer", epsilon, scale=True, name="memory_normalization", dtype=policy
        )
        self.memory_positions = PositionEncoding("sinusoidal", name="memory_positions", dtype=policy)
        self.attentions = [
            SourceAttention(
                heads, head_dim, memory_dim, block_arguments.get("dropout", 0.0), epsilon,
                name=f"attention_{number}", dtype=policy,
            )
            for number in attention_blocks
        ]  # fmt: skip

    def attention_after(self, number: int) -> int | None:
        """The place in `attentions` of the attention after a block, whose number counts from 1; None without one."""
        return self.attention_blocks.index(number) if number in self.attention_blocks else None

    def make_last_sets_identity(self, number: int):
        super().make_last_sets_identity(number)
        kept_blocks = sum(len(one_set.blocks) for one_set in self.sets[: len(self.sets) - number])
        for block_number, attention in zip(self.attention_blocks, self.attentions, strict=True):
            if block_number > kept_blocks:
                attention.make_identity()

    def build(self, input_shape):
        super().build(input_shape)
        self.memory_norm.build((*input_shape[:-1], self.attention_arguments["memory_dim"]))
        self.memory_positions.build((*input_shape[:-1], self.attention_arguments["memory_dim"]))
        for attention in self.attentions:
            attention.build(input_shape)

    def memories(self, encoded) -> dict:
        """Keys and values of an encoded source for each attention: float `(batch, S, memory_dim)` → lists."""
        with keras.name_scope(self.name):
            memory = self.memory_positions(self.memory_norm(encoded))
        return memories_of(self.name, {layer.name: layer.attention for layer in self.attentions}, memory)

    def call(self, inputs, memory, training=False):
        """Compute all steps at once. `memory` is the result of `memories`, with int32 `source_lengths`."""
        keys, values, real_lengths = memory["keys"], memory["values"], memory["source_lengths"]
        offsets = self.window.offsets(ops.shape(inputs)[1], ops.shape(keys[0])[2], real_lengths, self.compute_dtype)
        outputs, all_weights, number = inputs, [], 0
        for one_set in self.sets:
            with keras.name_scope(one_set.name):  # the scope of a set's own call, for profiles
                for block in one_set.blocks:
                    outputs, number = block(outputs, training=training), number + 1
                    place = self.attention_after(number)
                    if place is not None:
                        outputs, weights = self.attentions[place](
                            outputs, keys[place], values[place], offsets, training=training
                        )
                        all_weights.append(weights)
        return outputs, all_weights

    def attend_in_step(self, place: int, outputs, position, memory):
        """Attend at one step.

        Args:
            place: the result of `attention_after`.
            outputs: float `(rows, dim)`, the output of the block before. Each source has `rows / batch` rows.
            position: int32 scalar.
            memory: as in `call`.

        Returns:
            float `(rows, dim)`, equal to the values of `call` at this position.
        """
        window = self.window.cut(position, memory["keys"][place], memory["values"][place], memory["source_lengths"])
        return self.attentions[place].step(outputs, position, *window)

    def get_config(self):
        return super().get_config() | self.attention_arguments
