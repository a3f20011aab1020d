"""ByteNet in stock Keras layers: a straightforward implementation without this project's optimisations."""

from collections.abc import Iterator
from typing import Any, cast

import keras
from keras import ops

from bytenet.config.families.bytenet import ByteNetConfig
from bytenet.errors import InputError
from bytenet.layers import ResidualBlock
from bytenet.models import ByteNet


class StockBlock(keras.layers.Layer):
    """A residual block of stock layers.

    Args:
        dim: width of its input and output.
        kernel_size: taps of the dilated convolution.
        dilation_rate: distance between the taps.
        padding: "same", or "causal" in the decoder.
        config: all other settings.

    Input and output: float `(batch, length, dim)`. Mask: true for real steps, bool `(batch, length)`.
    """

    def __init__(self, dim: int, kernel_size: int, dilation_rate: int, padding: str, config: ByteNetConfig):
        super().__init__()
        self.supports_masking = True
        self.is_causal = padding == "causal"
        self.is_full = config.block_size == "full"
        norm = config.decoder_normalization if self.is_causal else config.encoder_normalization
        hidden_dim = dim // 2 if self.is_full else dim

        def normalization() -> keras.layers.Layer | None:
            if norm == "batch":
                return keras.layers.BatchNormalization(
                    momentum=config.batch_norm_momentum, epsilon=config.norm_epsilon, scale=False
                )
            if norm == "layer":
                return keras.layers.LayerNormalization(epsilon=config.norm_epsilon, scale=False)
            return None

        is_relu = config.activation == "relu"
        self.activation = keras.layers.ReLU() if is_relu else keras.layers.Activation(config.activation)
        self.dropout = keras.layers.Dropout(config.dropout)
        self.pre_normalization = normalization()
        self.conv_dilated = keras.layers.Conv1D(
            hidden_dim, kernel_size, dilation_rate=dilation_rate, padding=padding,
            use_bias=norm == "none" or not self.is_full,
        )  # fmt: skip
        if self.is_full:
            self.reduce_dim = keras.layers.Dense(hidden_dim, use_bias=norm == "none")
            self.reduce_dim_normalization = normalization()
            self.conv_dilated_normalization = normalization()
            self.recover_dim = keras.layers.Dense(dim)

    def call(self, inputs, mask=None, training=False):
        x = self._activate(self.pre_normalization, inputs, mask)
        if self.is_full:
            x = self._activate(self.reduce_dim_normalization, self.reduce_dim(x), mask)
        else:
            x = self.dropout(x, training=training)
        if mask is not None and not self.is_causal:
            x = x * ops.cast(mask, x.dtype)[..., None]
        x = self.conv_dilated(x)
        if self.is_full:
            x = self._activate(self.conv_dilated_normalization, x, mask)
            x = self.recover_dim(self.dropout(x, training=training))
        return inputs + x

    def _activate(self, normalization, x, mask):
        if isinstance(normalization, keras.layers.BatchNormalization):
            x = normalization(x, mask=mask)
        elif normalization is not None:
            x = normalization(x)
        return self.activation(x)


class StockModel(keras.Model):
    """The function of a ByteNet in stock layers, with weights of its own.

    Args:
        model: the ByteNet whose sizes it has. Any length policy is possible.

    Raises:
        InputError: the ByteNet has attention to the source, which has no stock layers here.

    Input: dict of `source_ids` and `target_ids`, int32 `(batch, length)`. Output: float32 logits
    `(batch, length, vocab_size)`.
    """

    def __init__(self, model: ByteNet):
        super().__init__(name="stock_keras")
        config = cast(ByteNetConfig, model.config)  # a ByteNet has no other
        if config.source_attention != "none":
            raise InputError(
                f"model.source_attention is {config.source_attention}, but the stock Keras model has no attention to "
                "the source, so the two cannot be compared. Measure it without the baseline, or with --set "
                "model.source_attention=none."
            )
        self.max_target_length = model.length_policy.max_target_length
        self.mask_padding = config.mask_padding
        self.source_embedding = keras.layers.Embedding(model.vocab_size, config.dim)
        self.target_embedding = keras.layers.Embedding(model.vocab_size, config.dim)
        self.join = keras.layers.Concatenate() if config.join == "concat" else keras.layers.Add()
        rates = config.dilations * config.num_sets
        self.encoder = [StockBlock(model.dim, config.encoder_kernel_size, rate, "same", config) for rate in rates]
        self.decoder = [
            StockBlock(model.decoder_dim, config.decoder_kernel_size, rate, "causal", config) for rate in rates
        ]
        self.head = keras.layers.Dense(model.vocab_size)

    def call(self, inputs, training=False):
        source_ids, target_ids = inputs["source_ids"], inputs["target_ids"]
        encoded, mask = self._embed_source(source_ids)
        for block in self.encoder:
            encoded = block(encoded, mask=mask, training=training)
        if mask is not None:
            encoded = encoded * ops.cast(mask, encoded.dtype)[..., None]

        previous_ids = ops.pad(target_ids, [[0, 0], [1, 0]])[:, :-1]
        x = self.join([_fit(encoded, ops.shape(target_ids)[1]), _embed(self.target_embedding, previous_ids)])
        for block in self.decoder:
            x = block(x, training=training)
        return self.head(x)

    def _embed_source(self, source_ids: Any) -> tuple[Any, Any]:
        """Embedded source, padded to the encoder's length; and the mask of its real steps, or None."""
        length = self._read_length(ops.shape(source_ids)[1])
        embedded = _fit(_embed(self.source_embedding, source_ids), length)
        if not self.mask_padding:
            return embedded, None
        source_lengths = ops.sum(ops.cast(source_ids != 0, "int32"), axis=1)
        real_lengths = ops.where(source_lengths > 0, self._read_length(source_lengths), 0)
        return embedded, ops.arange(length)[None, :] < real_lengths[:, None]

    def _read_length(self, source_length: Any) -> Any:
        """The number of steps that the encoder reads of a source: at least all of the source."""
        return ops.maximum(self.max_target_length(source_length), source_length)

    def matching_layers(self, model: ByteNet) -> Iterator[tuple[keras.layers.Layer, keras.layers.Layer]]:
        """Pairs of a layer here and the layer of `model` with the same weights, without the embeddings."""
        yield self.head, model.head
        blocks: list[ResidualBlock] = [*model.encoder.blocks, *model.decoder.blocks]
        for stock_block, block in zip([*self.encoder, *self.decoder], blocks, strict=True):
            for name in ("pre_normalization", "reduce_dim_normalization", "conv_dilated_normalization"):
                if getattr(stock_block, name, None) is not None:
                    yield getattr(stock_block, name), getattr(block, name).normalization
            for name in ("reduce_dim", "conv_dilated", "recover_dim"):
                if hasattr(stock_block, name):
                    yield getattr(stock_block, name), getattr(block, name)

    def copy_weights(self, model: ByteNet) -> None:
        """Copy the weights of the model that this one was made for. Both must be built."""
        for name in ("source_embedding", "target_embedding"):
            # ByteNet's table has no row for id 0. The vector of id 0 is zero in both models.
            getattr(self, name).embeddings.assign(ops.pad(getattr(model, name).table, [[1, 0], [0, 0]]))
        for stock_layer, layer in self.matching_layers(model):
            for stock_weight, weight in zip(stock_layer.weights, layer.weights, strict=True):
                stock_weight.assign(ops.reshape(weight, stock_weight.shape))


def _embed(embedding, ids):
    return embedding(ids) * ops.cast(ids != 0, embedding.compute_dtype)[..., None]


def _fit(values, length):
    """Cut or zero-pad float `(batch, time, channels)` to `length` steps."""
    missing = ops.maximum(length - ops.shape(values)[1], 0)
    return ops.pad(values, [[0, 0], [0, missing], [0, 0]])[:, :length]
