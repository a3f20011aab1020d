"""ConvS2S: gated convolutions, with attention in each layer of the decoder."""

from typing import ClassVar

import keras
from keras import ops

from bytenet.config.families.convs2s import ConvS2SConfig
from bytenet.layers import ZeroPaddedEmbedding
from bytenet.layers.attention.dot_attention import padding_offsets
from bytenet.layers.fast import apply_dropout, make_dropout
from bytenet.layers.gated.block import ROOT_OF_HALF
from bytenet.layers.gated.gradient_scale import scale_gradient
from bytenet.layers.gated.maps import make_map
from bytenet.layers.gated.stack import GatedStack
from bytenet.layers.positions import PositionEncoding
from bytenet.layers.tied_head import TiedHead
from bytenet.models.batch_rows import rows_of_parents
from bytenet.models.ring_buffer import RingBuffers
from bytenet.models.translation_model import ProfilePart, TranslationModel


@keras.saving.register_keras_serializable("bytenet")
class ConvS2S(TranslationModel):
    """Character-level translation by gated convolutions and attention.

    The encoder turns embedded source characters e into keys z and values z + e. Each layer of the decoder is a causal
    convolution that sees a few earlier characters, and may attend to the source. Training takes time linear in the
    lengths, except for the products of attention. A step takes the same time at every position.

    Masks: the logits of a sentence depend neither on the other sentences of the batch nor on the padding.

    Args:
        config: the hyper-parameters, see `ConvS2SConfig`.
        vocab_size: number of ids V, with padding, end and unknown symbols.

    Raises:
        ValueError: in `call`, `encode` and `decode`, for sequences longer than the learned positions, if the length is
            known.

    Reference:
        Gehring et al. 2017, and the code of its authors.
    """

    config: ConvS2SConfig
    config_class = ConvS2SConfig
    profile_parts: ClassVar = {
        "source_positions": ProfilePart("embedding"),
        "target_positions": ProfilePart("embedding"),
        "gated_convolution": ProfilePart("gated-convolution", "convolution"),
        "gated_linear_unit": ProfilePart("gated-linear-unit"),
        "multi_step_attention": ProfilePart("multi-step-attention", "attention"),
        "query_map": ProfilePart("attention-projections", "dense"),
        "context_map": ProfilePart("attention-projections", "dense"),
        **dict.fromkeys(("residual_map", "input_map", "output_map"), ProfilePart("linear-mappings", "dense")),
    }

    def __init__(self, config: ConvS2SConfig, vocab_size: int, **kwargs):
        super().__init__(config, vocab_size, **kwargs)
        # For all layers, because a model trained in mixed precision may be loaded where that is not the default.
        policy = self.dtype_policy
        for side, has_positions in (("source", config.source_positions), ("target", config.target_positions)):
            embedding = ZeroPaddedEmbedding(vocab_size, config.dim, _normal(), name=f"{side}_embedding", dtype=policy)
            kind = "learned" if has_positions else "none"
            positions = PositionEncoding(kind, config.max_positions, _normal(), name=f"{side}_positions", dtype=policy)
            setattr(self, f"{side}_embedding", embedding)
            setattr(self, f"{side}_positions", positions)
            setattr(self, f"{side}_dropout", make_dropout(config.dropout, name=f"{side}_dropout", dtype=policy))
        layers = {
            "equations": config.equations, "dropout": config.dropout,
            "weight_normalization": config.weight_normalization, "dtype": policy,
        }  # fmt: skip
        self.encoder = GatedStack(
            config.encoder_widths, config.encoder_kernel_sizes, config.dim, name="encoder", **layers
        )
        self.decoder = GatedStack(
            config.decoder_widths, config.decoder_kernel_sizes, config.output_dim, causal=True,
            attention_layers=config.attending_layers, attention_dim=config.dim, name="decoder", **layers,
        )  # fmt: skip
        self.head_dropout = make_dropout(config.dropout, name="head_dropout", dtype=policy)
        # Float32 even in mixed precision, because the softmax over the logits needs the digits.
        if config.tied_embeddings == "none":
            self.head = make_map(
                vocab_size, weight_normalization=config.weight_normalization, kept_share=1 - config.dropout,
                name="head", dtype="float32",
            )  # fmt: skip
        else:
            self.head = TiedHead(vocab_size, name="head", dtype="float32")

    @property
    def parts(self):
        width = (self.config.dim,)
        return {
            "source_embedding": (), "target_embedding": (), "source_positions": width, "target_positions": width,
            "encoder": width, "decoder": width, "head": (self.config.output_dim,),
        }  # fmt: skip

    def build(self, input_shape):
        super().build(input_shape)
        self._rings = RingBuffers([block.convolution for block in self.decoder.blocks])

    def encode(self, source_ids, training=False):
        """Encode sources: keys, values times √m for m real symbols, and the offsets of scores."""
        mask = source_ids != 0
        embedded = self._embedded("source", source_ids, training)
        encoded, _ = self.encoder(embedded, mask=mask, training=training)
        if self.config.attending_layers:
            # Each attention uses the encoder's output twice: as keys, and as a part of the values.
            encoded = scale_gradient(encoded, 1 / (2 * len(self.config.attending_layers)))
        values = encoded + embedded
        if self.config.equations == "code":
            values = values * ops.cast(ROOT_OF_HALF, values.dtype)
        # An average over m values has a standard deviation smaller by √m. A row of padding alone only fills a batch.
        lengths = ops.maximum(ops.sum(ops.cast(mask, "float32"), axis=1), 1.0)
        return {
            "keys": encoded,  # (batch, S, dim)
            "values": values * ops.cast(ops.sqrt(lengths), values.dtype)[:, None, None],  # (batch, S, dim)
            "offsets": padding_offsets(source_ids, self.compute_dtype),  # (batch, S)
        }

    def decode(self, memory, previous_ids, training=False):
        return self._decode(memory, previous_ids, training)[0]

    def attention_weights(self, memory, previous_ids):
        return [weights[:, None] for weights in self._decode(memory, previous_ids, training=False)[1]]

    def alignment(self, memory, previous_ids):
        """The mean over the layers: float `(batch, T, S)`."""
        return ops.mean(ops.stack(self._decode(memory, previous_ids, training=False)[1]), axis=0)

    @property
    def has_attention(self):
        return bool(self.config.attending_layers)

    def _decode(self, memory, previous_ids, training):
        """The logits, and the weights of each attention."""
        embedded = self._embedded("target", previous_ids, training)
        outputs, weights = self.decoder(embedded, _attention_memory(memory), training=training)
        return self._logits(apply_dropout(self.head_dropout, outputs, training)), weights

    def initial_state(self, memory, max_length, beam_size=1):
        return self._rings.empty(ops.shape(memory["keys"])[0] * beam_size, self.compute_dtype)

    def select(self, state, parents):
        return self._rings.select(state, rows_of_parents(parents))

    def make_step(self):
        # Kernels are normalised, cut and stacked once. At each step, it would cost more than the products.
        decoder = self.decoder
        kernels = [block.step_kernels() for block in decoder.blocks]
        past_kernels = self._rings.past_kernels()
        input_kernel, output_kernel = decoder.input_map.present_kernel(), decoder.output_map.present_kernel()
        head_kernel = self.head.present_kernel() if self.config.tied_embeddings == "none" else None

        def step(previous_ids, state, memory, position):
            embedded = self.target_positions.step(self.target_embedding(previous_ids), position)
            # The name scopes of `call`: profiles group the operations of a step by them.
            with keras.name_scope("decoder"):
                outputs, inputs = decoder.input_map.step(embedded, input_kernel), []
                with keras.name_scope("gated_convolution"):
                    from_past = self._rings.from_past(state, position, past_kernels)
                for block, from_past_of_block, block_kernels in zip(decoder.blocks, from_past, kernels, strict=True):
                    inputs.append(outputs)
                    outputs = block.step(
                        outputs, embedded, _attention_memory(memory), from_past_of_block, block_kernels
                    )
                state = self._rings.write(state, position, inputs)
                outputs = decoder.output_map.step(outputs, output_kernel)
            return self._logits(outputs, head_kernel), state

        return step

    def _embedded(self, side: str, ids, training):
        """Embedded characters with positions and dropout: int32 `(batch, length)` → float `(batch, length, dim)`."""
        embedded = getattr(self, f"{side}_positions")(getattr(self, f"{side}_embedding")(ids))
        return apply_dropout(getattr(self, f"{side}_dropout"), embedded, training)

    def _logits(self, outputs, head_kernel=None):
        if self.config.tied_embeddings != "none":
            return self.head(outputs, self.target_embedding.rows())
        return self.head(outputs) if head_kernel is None else self.head.step(outputs, head_kernel)


def _normal() -> keras.initializers.Initializer:
    """The initial embeddings and positions, with a seed of its own for each call."""
    return keras.initializers.RandomNormal(stddev=0.1)


def _attention_memory(memory: dict) -> tuple:
    """Keys, values, and offsets of the scores for queries `(batch, length, dim)`."""
    return memory["keys"], memory["values"], memory["offsets"][:, None]
