"""The layers of encoder and decoder with self-attention, and their stacks."""

import keras

from bytenet.layers.attention.multi_head_attention import MultiHeadAttention, memories_of
from bytenet.layers.fast import apply_dropout, make_dropout, make_normalization
from bytenet.layers.layer_arguments import pop_layer_arguments


@keras.saving.register_keras_serializable("bytenet")
class FeedForward(keras.layers.Layer):
    """Two linear maps with a ReLU between them, at each step alone: `max(0, x · W_1 + b_1) · W_2 + b_2`.

    Mask: not needed.

    Args:
        hidden_dim: width between the maps.
        dropout: share of the hidden units that are dropped in training.

    Input and output: float `(..., channels)`.

    Reference:
        Vaswani et al. 2017, section 3.3.
    """

    def __init__(self, hidden_dim: int, dropout: float = 0.0, **kwargs):
        super().__init__(**kwargs)
        self.supports_masking = True
        self.hidden_dim = hidden_dim
        self.dropout_rate = dropout
        self.hidden_map = keras.layers.Dense(hidden_dim, "relu", name="hidden", dtype=self.dtype_policy)
        self.dropout = make_dropout(dropout, name="dropout", dtype=self.dtype_policy)

    def build(self, input_shape):
        self.hidden_map.build(input_shape)
        self.output_map = keras.layers.Dense(input_shape[-1], name="output", dtype=self.dtype_policy)
        self.output_map.build((*input_shape[:-1], self.hidden_dim))

    def call(self, inputs, training=False):
        return self.output_map(apply_dropout(self.dropout, self.hidden_map(inputs), training))

    def get_config(self):
        return super().get_config() | {"hidden_dim": self.hidden_dim, "dropout": self.dropout_rate}


@keras.saving.register_keras_serializable("bytenet")
class AttentionLayer(keras.layers.Layer):
    """A layer of the encoder, or of the decoder with `cross_attention`.

    The encoder's sub-layers are self-attention and a feed-forward network. The decoder's have cross-attention to the
    encoded source between them. Each sub-layer has a residual connection with dropout and layer normalisation:
    `norm(x + dropout(sublayer(x)))` with "post", `x + dropout(sublayer(norm(x)))` with "pre".

    Mask: not used; offsets hide padding and later steps.

    Args:
        heads: number of heads.
        head_dim, value_dim: widths of a head, see `MultiHeadAttention`.
        feed_forward_dim: width of the hidden layer of the feed-forward network.
        cross_attention: whether the layer attends to a source.
        normalization_order: "pre" or "post".
        dropout: share of the outputs of each sub-layer that are dropped in training.
        attention_dropout: share of the attention weights that are dropped.
        activation_dropout: share of the hidden units of the feed-forward network that are dropped.
        epsilon: added to variances.

    Raises:
        ValueError: `normalization_order` is unknown.

    Reference:
        Vaswani et al. 2017, sections 3.1 and 5.4; Xiong et al. 2020 for "pre".
    """

    def __init__(
        self,
        heads: int,
        head_dim: int,
        feed_forward_dim: int,
        value_dim: int | None = None,
        cross_attention: bool = False,
        normalization_order: str = "pre",
        dropout: float = 0.0,
        attention_dropout: float = 0.0,
        activation_dropout: float = 0.0,
        epsilon: float = 1e-6,
        **kwargs,
    ):
        super().__init__(**kwargs)
        if normalization_order not in ("pre", "post"):
            raise ValueError(f"Unknown normalization_order {normalization_order!r}; known are pre, post.")
        self.arguments = {
            "heads": heads, "head_dim": head_dim, "feed_forward_dim": feed_forward_dim, "value_dim": value_dim,
            "cross_attention": cross_attention, "normalization_order": normalization_order, "dropout": dropout,
            "attention_dropout": attention_dropout, "activation_dropout": activation_dropout, "epsilon": epsilon,
        }  # fmt: skip
        policy = self.dtype_policy
        self.self_attention = MultiHeadAttention(
            heads, head_dim, attention_dropout, value_dim=value_dim, name="self_attention", dtype=policy
        )
        self.cross_attention = None
        names = ["self_attention", "feed_forward"]
        if cross_attention:
            names.insert(1, "cross_attention")
            self.cross_attention = MultiHeadAttention(
                heads, head_dim, attention_dropout, value_dim=value_dim, name="cross_attention", dtype=policy
            )
        self.feed_forward = FeedForward(feed_forward_dim, activation_dropout, name="feed_forward", dtype=policy)
        self.norms = {
            name: make_normalization("layer", epsilon, scale=True, name=f"{name}_normalization", dtype=policy)
            for name in names
        }
        self.dropouts = {name: make_dropout(dropout, name=f"{name}_dropout", dtype=policy) for name in names}
        self.is_pre_norm = normalization_order == "pre"

    def build(self, input_shape):
        for layer in (self.self_attention, self.cross_attention, self.feed_forward, *self.norms.values()):
            if layer is not None:
                layer.build(input_shape)

    def call(self, inputs, self_offsets, memory=None, training=False):
        """Compute all steps at once.

        Args:
            inputs: float `(batch, length, channels)`.
            self_offsets: float, to add to the scores of self-attention, `(batch, heads, length, length)`.
            memory: keys, values and offsets of the source; None in the encoder.
            training: whether dropout is on.

        Returns:
            float `(batch, length, channels)`; and the weights of cross-attention, float `(batch, heads, length, S)`, or
            None in the encoder.
        """

        def attend(values):
            keys_and_values = self.self_attention.keys_and_values(values)
            return self.self_attention(values, *keys_and_values, self_offsets, training=training)

        return self._sublayers(inputs, attend, memory, training)

    def step(self, inputs, attend, memory):
        """Compute one step of the decoder.

        Args:
            inputs: float `(batch, beam_size, channels)`.
            attend: computes the self-attention of a step: takes float `(batch, beam_size, channels)`, and returns the
                same and the weights.
            memory: keys, values and offsets of the source.

        Returns:
            float `(batch, beam_size, channels)`.
        """
        with keras.name_scope(self.name):  # the scope of `call`, for profiles
            return self._sublayers(inputs, attend, memory, training=False)[0]

    def _sublayers(self, inputs, attend, memory, training):
        def attend_to_source(values):
            return self.cross_attention(values, *memory, training=training)

        def feed_forward(values):
            return self.feed_forward(values, training=training), None

        outputs, _ = self._connected("self_attention", attend, inputs, training)
        weights = None
        if self.cross_attention is not None:
            outputs, weights = self._connected("cross_attention", attend_to_source, outputs, training)
        return self._connected("feed_forward", feed_forward, outputs, training)[0], weights

    def _connected(self, name, sublayer, inputs, training):
        """A sub-layer with its residual connection. Returns the outputs, and the sub-layer's weights or None."""
        norm, dropout = self.norms[name], self.dropouts[name]
        changes, weights = sublayer(norm(inputs) if self.is_pre_norm else inputs)
        outputs = inputs + apply_dropout(dropout, changes, training)
        return outputs if self.is_pre_norm else norm(outputs), weights

    def get_config(self):
        return super().get_config() | self.arguments


@keras.saving.register_keras_serializable("bytenet")
class AttentionStack(keras.layers.Layer):
    """Layers one upon the other; with "pre", a layer normalisation on top.

    Args:
        num_layers: number of layers.
        normalization_order: "pre" or "post".
        epsilon: added to variances.
        **layer_arguments: further arguments of `AttentionLayer`.

    Raises:
        ValueError: `normalization_order` is unknown.

    Input and output: as for `AttentionLayer`, with the weights of each layer in a list.
    """

    def __init__(self, num_layers: int, normalization_order: str = "pre", epsilon: float = 1e-6, **layer_arguments):
        super().__init__(**pop_layer_arguments(layer_arguments))
        self.arguments = {
            "num_layers": num_layers, "normalization_order": normalization_order, "epsilon": epsilon, **layer_arguments,
        }  # fmt: skip
        self.blocks = [
            AttentionLayer(
                **layer_arguments, normalization_order=normalization_order, epsilon=epsilon, name=f"layer_{index}",
                dtype=self.dtype_policy,
            )
            for index in range(num_layers)
        ]  # fmt: skip
        self.norm = None
        if normalization_order == "pre":
            self.norm = make_normalization(
                "layer", epsilon, scale=True, name="final_normalization", dtype=self.dtype_policy
            )

    def build(self, input_shape):
        for block in self.blocks:
            block.build(input_shape)
        if self.norm is not None:
            self.norm.build(input_shape)

    def call(self, inputs, self_offsets, memories=None, training=False):
        """Compute all steps at once. `memories` has keys, values and offsets for each layer; None in the encoder."""
        outputs, all_weights = inputs, []
        for block, memory in zip(self.blocks, memories or [None] * len(self.blocks), strict=True):
            outputs, weights = block(outputs, self_offsets, memory, training=training)
            all_weights.append(weights)
        return self.normalized(outputs), all_weights

    def normalized(self, outputs):
        """The outputs of the last layer with the normalisation on top, if there is one."""
        return outputs if self.norm is None else self.norm(outputs)

    def memories(self, encoded):
        """The keys and values of an encoded source for each layer; float `(batch, S, channels)` → lists."""
        return memories_of(self.name, {block.name: block.cross_attention for block in self.blocks}, encoded)

    def get_config(self):
        return super().get_config() | self.arguments
