"""ByteNet as one writes it in an afternoon of Keras: what this project's own has to be faster than.

Stock layers, stock Adam, stock loss, `compile` and `fit` with their defaults. The function is that of
`bytenet.models.ByteNet`, masks included, so that the two can be compared by their outputs, gradients and speed.
"""

from collections.abc import Iterator

import keras
import tensorflow as tf
from keras import ops

from bytenet.errors import InputError
from bytenet.layers import ResidualBlock
from bytenet.models import ByteNet


class StockBlock(keras.layers.Layer):
    """A residual block; takes and gives float `(batch, length, dim)`, and a mask of real steps `(batch, length)`."""

    def __init__(self, dim, kernel_size, dilation_rate, padding, size, norm, activation, dropout, epsilon, momentum):
        super().__init__()
        self.supports_masking = True
        self.is_causal = padding == "causal"
        self.is_full = size == "full"
        hidden_dim = dim // 2 if self.is_full else dim

        def normalization():
            if norm == "batch":
                return keras.layers.BatchNormalization(momentum=momentum, epsilon=epsilon, scale=False)
            return keras.layers.LayerNormalization(epsilon=epsilon, scale=False) if norm == "layer" else None

        self.activation = keras.layers.ReLU() if activation == "relu" else keras.layers.Activation(activation)
        self.dropout = keras.layers.Dropout(dropout)
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


class StockByteNet(keras.Model):
    """The function of a ByteNet, in stock layers and with weights of its own.

    Args:
        model: whose sizes are taken, with any length policy.

    Input: dict of `source_ids` and `target_ids`, int32 `(batch, length)`. Output: float32 logits
    `(batch, length, vocab_size)`.
    """

    def __init__(self, model: ByteNet):
        super().__init__(name="stock_keras")
        config = model.config
        self.max_target_length = model.length_policy.max_target_length
        self.mask_padding = config.mask_padding
        self.source_embedding = keras.layers.Embedding(model.vocab_size, config.dim)
        self.target_embedding = keras.layers.Embedding(model.vocab_size, config.dim)
        self.join = keras.layers.Concatenate() if config.join == "concat" else keras.layers.Add()

        def stack(dim, half, padding):
            return [
                StockBlock(
                    dim, getattr(config, f"{half}_kernel_size"), rate, padding, config.block_size,
                    getattr(config, f"{half}_normalization"), config.activation, config.dropout,
                    config.norm_epsilon, config.batch_norm_momentum,
                )
                for rate in config.dilations * config.num_sets
            ]  # fmt: skip

        self.encoder = stack(model.dim, "encoder", "same")
        self.decoder = stack(model.decoder_dim, "decoder", "causal")
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

    def _embed_source(self, source_ids):
        """Embedded source, as long as the encoder goes on, and which of its steps are real."""
        length = self.max_target_length(ops.shape(source_ids)[1])
        embedded = _fit(_embed(self.source_embedding, source_ids), length)
        if not self.mask_padding:
            return embedded, None
        source_lengths = ops.sum(ops.cast(source_ids != 0, "int32"), axis=1)
        real_lengths = ops.where(source_lengths > 0, self.max_target_length(source_lengths), 0)
        return embedded, ops.arange(length)[None, :] < real_lengths[:, None]

    def layers_like(self, model: ByteNet) -> Iterator[tuple[keras.layers.Layer, keras.layers.Layer]]:
        """Pairs of a layer here and the layer of `model` that has the same weights, embeddings left out."""
        yield self.head, model.head
        theirs: list[ResidualBlock] = [*model.encoder.blocks, *model.decoder.blocks]
        for block, their_block in zip([*self.encoder, *self.decoder], theirs, strict=True):
            for name in ("pre_normalization", "reduce_dim_normalization", "conv_dilated_normalization"):
                if getattr(block, name, None) is not None:
                    yield getattr(block, name), getattr(their_block, name).normalization
            for name in ("reduce_dim", "conv_dilated", "recover_dim"):
                if hasattr(block, name):
                    yield getattr(block, name), getattr(their_block, name)

    def copy_weights(self, model: ByteNet) -> None:
        """Take over the weights of the model whose sizes this one has; both have to be built."""
        for name in ("source_embedding", "target_embedding"):
            # ByteNet's table has no row for id 0, whose vector is zero in both.
            getattr(self, name).embeddings.assign(ops.pad(getattr(model, name).table, [[1, 0], [0, 0]]))
        for mine, theirs in self.layers_like(model):
            for weight, other in zip(mine.weights, theirs.weights, strict=True):
                weight.assign(ops.reshape(other, weight.shape))


def make_stock_model(model: ByteNet, learning_rate: float = 1e-3) -> StockByteNet:
    """A stock model of the sizes and weights of `model`, compiled with Keras's defaults.

    It has nothing that `fit` could do without: neither clipping, nor averages, nor metrics.

    Raises:
        InputError: the model is no ByteNet.
    """
    if not isinstance(model, ByteNet):
        raise InputError(f"There is a stock Keras model of ByteNet only; {type(model).__name__} has none.")
    stock = StockByteNet(model)
    ids = keras.KerasTensor((None, None), "int32")
    stock({"source_ids": ids, "target_ids": ids})
    stock.copy_weights(model)
    # The mean over real characters, with their mask as sample weights.
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True, reduction="mean_with_sample_weight")
    stock.compile(optimizer=keras.optimizers.Adam(learning_rate), loss=loss)
    return stock


def stock_dataset(dataset: tf.data.Dataset) -> tf.data.Dataset:
    """The batches of `training_dataset` with the sample weights that the stock loss wants: float32 `(rows, length)`."""
    return dataset.map(lambda ids, target_ids, _: (ids, target_ids, tf.cast(target_ids != 0, tf.float32)))


def _embed(embedding, ids):
    return embedding(ids) * ops.cast(ids != 0, embedding.compute_dtype)[..., None]


def _fit(values, length):
    """Cut or zero-pad float `(batch, time, channels)` to `length` steps."""
    missing = ops.maximum(length - ops.shape(values)[1], 0)
    return ops.pad(values, [[0, 0], [0, missing], [0, 0]])[:, :length]
