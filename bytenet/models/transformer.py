"""The Transformer."""

from typing import ClassVar

import keras
from keras import ops

from bytenet.config.families.transformer import TransformerConfig
from bytenet.layers import ZeroPaddedEmbedding
from bytenet.layers.attention.cache import AttentionCache
from bytenet.layers.attention.dot_attention import causal_offsets, padding_offsets
from bytenet.layers.attention.stack import AttentionStack
from bytenet.layers.fast import apply_dropout, make_dropout
from bytenet.layers.positions import PositionEncoding
from bytenet.layers.tied_head import TiedHead
from bytenet.models.batch_rows import rows_of_parents
from bytenet.models.translation_model import ProfilePart, TranslationModel


@keras.saving.register_keras_serializable("bytenet")
class Transformer(TranslationModel):
    """Character-level translation by attention.

    The encoder's layers attend to the source. The decoder's layers attend to the encoded source and to the target
    characters before each step. The time of training grows with the square of the length. The time of a step of a
    search grows with the length of the source and with `max_length`.

    Masks: the logits of a sentence depend neither on the other sentences of the batch nor on the padding.

    Args:
        config: the hyper-parameters, see `TransformerConfig`.
        vocab_size: number of ids V, with padding, end and unknown symbols.

    Raises:
        ValueError: in `call`, `encode` and `decode`, for sequences longer than the learned positions, if the length is
            known.

    Reference:
        Vaswani et al. 2017.
    """

    config: TransformerConfig
    config_class = TransformerConfig
    profile_parts: ClassVar = {
        "embedding": ProfilePart("embedding"),
        "source_positions": ProfilePart("embedding"),
        "target_positions": ProfilePart("embedding"),
        "self_attention": ProfilePart("self-attention", "attention"),
        "cross_attention": ProfilePart("cross-attention", "attention"),
        "query": ProfilePart("attention-projections", "dense"),
        "key_value": ProfilePart("attention-projections", "dense"),
        "attention_output": ProfilePart("attention-projections", "dense"),
        "feed_forward": ProfilePart("feed-forward", "dense"),
        **dict.fromkeys(
            (
                "self_attention_normalization",
                "cross_attention_normalization",
                "feed_forward_normalization",
                "final_normalization",
            ),
            ProfilePart("layer-normalization"),
        ),
    }

    def __init__(self, config: TransformerConfig, vocab_size: int, **kwargs):
        super().__init__(config, vocab_size, **kwargs)
        # For all layers, because a model trained in mixed precision may be loaded where that is not the default.
        policy = self.dtype_policy
        names = {"all": ("embedding",), "softmax": ("source_embedding", "target_embedding")}
        names["none"] = names["softmax"]
        for name in names[config.tied_embeddings]:
            # Scaled by √dim, the embeddings have variance 1.
            initializer = keras.initializers.RandomNormal(stddev=config.dim**-0.5)
            setattr(self, name, ZeroPaddedEmbedding(vocab_size, config.dim, initializer, name=name, dtype=policy))
        self.source_positions, self.target_positions = (
            PositionEncoding(
                config.positions, config.max_positions, keras.initializers.RandomNormal(stddev=config.dim**-0.5),
                name=f"{side}_positions", dtype=policy,
            )
            for side in ("source", "target")
        )  # fmt: skip
        self.source_dropout = make_dropout(config.dropout, name="source_dropout", dtype=policy)
        self.target_dropout = make_dropout(config.dropout, name="target_dropout", dtype=policy)
        layers = {
            "heads": config.heads, "head_dim": config.width_of_head, "value_dim": config.width_of_values,
            "feed_forward_dim": config.feed_forward_dim, "normalization_order": config.normalization_order,
            "dropout": config.dropout, "attention_dropout": config.attention_dropout,
            "activation_dropout": config.activation_dropout, "epsilon": config.norm_epsilon, "dtype": policy,
        }  # fmt: skip
        self.encoder = AttentionStack(config.encoder_layers, name="encoder", **layers)
        self.decoder = AttentionStack(config.decoder_layers, name="decoder", cross_attention=True, **layers)
        # Float32 even in mixed precision, because the softmax over the logits needs the digits.
        if config.tied_embeddings == "none":
            self.head = keras.layers.Dense(vocab_size, name="head", dtype="float32")
        else:
            self.head = TiedHead(vocab_size, name="head", dtype="float32")
        self._cache = AttentionCache(config.decoder_layers, config.heads, config.width_of_head, config.width_of_values)

    @property
    def parts(self):
        width = (self.config.dim,)
        tables = ["embedding"] if self.config.tied_embeddings == "all" else ["source_embedding", "target_embedding"]
        return dict.fromkeys(tables, ()) | dict.fromkeys(
            ("source_positions", "target_positions", "encoder", "decoder", "head"), width
        )

    def encode(self, source_ids, training=False):
        """Encode sources: the keys and values of each decoder layer, and the offsets of their scores."""
        offsets = padding_offsets(source_ids, self.compute_dtype)  # (batch, S)
        embedded = self.source_positions(self._embedded("source", source_ids))
        embedded = apply_dropout(self.source_dropout, embedded, training)
        encoded, _ = self.encoder(embedded, offsets[:, None, None], training=training)
        return self.decoder.memories(encoded) | {"offsets": offsets}

    def decode(self, memory, previous_ids, training=False):
        return self._decode(memory, previous_ids, training)[0]

    def attention_weights(self, memory, previous_ids):
        return self._decode(memory, previous_ids, training=False)[1]

    def _decode(self, memory, previous_ids, training):
        """The logits, and the weights of cross-attention of each layer."""
        embedded = self.target_positions(self._embedded("target", previous_ids))
        embedded = apply_dropout(self.target_dropout, embedded, training)
        offsets = causal_offsets(ops.shape(previous_ids)[1], self.compute_dtype)
        outputs, weights = self.decoder(embedded, offsets, _layer_memories(memory), training=training)
        return self._logits(outputs), weights

    def initial_state(self, memory, max_length, beam_size=1):
        return self._cache.empty(ops.shape(memory["offsets"])[0], max_length, beam_size, self.compute_dtype)

    def select(self, state, parents):
        return self._cache.select(state, rows_of_parents(parents))

    def make_step(self):
        return self._step

    def _step(self, previous_ids, state, memory, position):
        batch = ops.shape(memory["offsets"])[0]
        embedded = self.target_positions.step(self._embedded("target", previous_ids), position)
        outputs = ops.reshape(embedded, (batch, -1, self.config.dim))  # (batch, beam_size, dim)
        state, offsets = self._cache.begin(state, position, self.compute_dtype)
        with keras.name_scope("decoder"):  # the scope of `call`: profiles group the operations of a step by it
            for layer, (block, layer_memory) in enumerate(
                zip(self.decoder.blocks, _layer_memories(memory), strict=True)
            ):

                def attend(values, layer=layer, block=block):
                    nonlocal state
                    present = block.self_attention.keys_and_values(values)
                    state, keys, all_values = self._cache.write(state, layer, position, *present)
                    return block.self_attention(values, keys, all_values, offsets)

                outputs = block.step(outputs, attend, layer_memory)
            outputs = self.decoder.normalized(outputs)
        # Not -1: a graph that is exported must know the number of rows, if it is known.
        return ops.reshape(self._logits(outputs), (ops.shape(previous_ids)[0], self.vocab_size)), state

    def _table(self, side: str) -> ZeroPaddedEmbedding:
        return self.embedding if self.config.tied_embeddings == "all" else getattr(self, f"{side}_embedding")

    def _embedded(self, side: str, ids):
        return self._table(side)(ids) * ops.cast(self.config.dim**0.5, self.compute_dtype)

    def _logits(self, outputs):
        if self.config.tied_embeddings == "none":
            return self.head(outputs)
        return self.head(outputs, self._table("target").rows())


def _layer_memories(memory: dict) -> list:
    """Keys, values and offsets of the source for each layer of the decoder."""
    offsets = memory["offsets"][:, None, None]  # (batch, heads, T, S), where heads and T are 1
    return [(keys, values, offsets) for keys, values in zip(memory["keys"], memory["values"], strict=True)]
