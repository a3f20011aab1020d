"""ByteNet: an encoder and a causal decoder of dilated convolutions."""

from typing import Any, ClassVar

import keras
from keras import ops

from bytenet.config.families.bytenet import ByteNetConfig
from bytenet.layers import DilatedConvolution, ResidualStack, ZeroPaddedEmbedding, initializers_for
from bytenet.layers.residual.attending_stack import AttendingStack
from bytenet.models.batch_rows import repeat_for_beams, rows_of_parents
from bytenet.models.ring_buffer import RingBuffer
from bytenet.models.translation_model import ProfilePart, TranslationModel


@keras.saving.register_keras_serializable("bytenet")
class ByteNet(TranslationModel):
    """Character-level translation by dilated convolutions.

    The encoder reads the embedded source. Its output at step t is joined with the embedded target character before t.
    The causal decoder and a linear head turn the result into the logits of character t. Time and memory are linear in
    the lengths. As an extension, the decoder can attend to the source after some of its blocks (`source_attention`).
    Training then also multiplies every target step with every source symbol; these products are small. A step of a
    search takes the same time for every length with "window", and grows with the source with "full".

    Masks: with `mask_padding`, the logits of a sentence depend neither on the other sentences of the batch nor on the
    padding. (In training, batch statistics depend on the batch.) The length policy sets the number of real encoder
    steps of a sentence. With "unfold", the encoder continues after the end of the source, where its wide convolutions
    still see the source. Targets that are longer than their sources read these steps. Without `mask_padding`, as in the
    thesis's code, padding enters convolutions and statistics.

    Args:
        config: the hyper-parameters, see `ByteNetConfig`.
        vocab_size: number of ids V, with padding, end and unknown symbols.

    Reference:
        Kalchbrenner et al. 2016; Madsen 2017, section 2.6 and figure 2.6.4.
    """

    config_class = ByteNetConfig
    profile_parts: ClassVar = {
        "pre_normalization": ProfilePart("pre-normalization"),
        "reduce_dim": ProfilePart("reduce-dim", "dense"),
        "reduce_dim_normalization": ProfilePart("reduce-dim"),
        "conv_dilated": ProfilePart("conv-dilated", "convolution"),
        "conv_dilated_normalization": ProfilePart("conv-dilated"),
        "recover_dim": ProfilePart("recover-dim", "dense"),
        "source_attention": ProfilePart("source-attention", "attention"),
        "memory_normalization": ProfilePart("source-attention"),
        "query_normalization": ProfilePart("source-attention"),
        "query": ProfilePart("attention-projections", "dense"),
        "key_value": ProfilePart("attention-projections", "dense"),
        "attention_output": ProfilePart("attention-projections", "dense"),
    }

    def __init__(self, config: ByteNetConfig, vocab_size: int, **kwargs):
        super().__init__(config, vocab_size, **kwargs)
        self.dim = config.dim
        self.decoder_dim = 2 * config.dim if config.join == "concat" else config.dim
        initial = initializers_for(config.initializer, config.activation, config.num_sets * len(config.dilations))
        # For all layers, because a model trained in mixed precision may be loaded where that is not the default.
        policy = self.dtype_policy
        block_arguments = {
            "dtype": policy, "num_sets": config.num_sets, "dilations": config.dilations, "size": config.block_size,
            "activation": config.activation, "dropout": config.dropout, "epsilon": config.norm_epsilon,
            "momentum": config.batch_norm_momentum, "initializer": config.initializer,
        }  # fmt: skip
        self.source_embedding, self.target_embedding = (
            ZeroPaddedEmbedding(vocab_size, self.dim, initial.embedding(), name=f"{side}_embedding", dtype=policy)
            for side in ("source", "target")
        )
        self.encoder = ResidualStack(
            dim=self.dim, kernel_size=config.encoder_kernel_size, causal=False,
            normalization=config.encoder_normalization, name="encoder", **block_arguments,
        )  # fmt: skip
        block_arguments |= {
            "dim": self.decoder_dim, "kernel_size": config.decoder_kernel_size, "causal": True,
            "normalization": config.decoder_normalization, "name": "decoder",
        }  # fmt: skip
        if self.has_attention:
            self.decoder = AttendingStack(
                attention_blocks=config.attending_blocks, heads=config.attention_heads,
                head_dim=self.dim // config.attention_heads, memory_dim=self.dim,
                radius=config.attention_radius if config.source_attention == "window" else None,
                slope=config.attention_slope, **block_arguments,
            )  # fmt: skip
        else:
            self.decoder = ResidualStack(**block_arguments)
        # Float32 even in mixed precision, because the softmax over the logits needs the digits.
        self.head = DilatedConvolution(vocab_size, 1, kernel_initializer=initial.head(), name="head", dtype="float32")
        self._ring = RingBuffer([*config.dilations] * config.num_sets, config.decoder_kernel_size)

    @property
    def has_attention(self):
        return self.config.source_attention != "none"

    @property
    def parts(self):
        encoder, decoder = (self.dim,), (self.decoder_dim,)
        return {"source_embedding": (), "target_embedding": (), "encoder": encoder, "decoder": decoder, "head": decoder}

    def make_last_sets_identity(self, number: int):
        """Set the weights of the last sets of both halves so that these sets return their inputs unchanged.

        Training may change the weights.

        Args:
            number: of the sets of each half.

        Raises:
            ValueError: a half does not have so many sets, or `number` is negative.

        Reference:
            In the manner of Net2DeeperNet (Chen et al. 2016, "Net2Net: Accelerating Learning via Knowledge Transfer").
            There, an added layer has the identity matrix. A residual block is the identity if its last map is zero.
        """
        for stack in (self.encoder, self.decoder):
            stack.make_last_sets_identity(number)

    def encode(self, source_ids, training=False):
        """Encode sources.

        Args:
            source_ids: int32 `(batch, S)`.
            training: as in `call`.

        Returns:
            `encoded`, float `(batch, S', dim)`; with `mask_padding`, zero after the real steps of each sentence. With
            attention also the keys and values of the source for each attention, and int32 `source_lengths`.
        """
        encoded, source_lengths = self._encode(source_ids, training)
        if not self.has_attention:
            return {"encoded": encoded}
        memories = self.decoder.memories(_fit_length(encoded, ops.shape(source_ids)[1]))
        return {"encoded": encoded, **memories, "source_lengths": source_lengths}

    def _encode(self, source_ids, training):
        """The encoded sources, and the number of real symbols of each: int32 `(batch,)`."""
        padded_length = self._read_length(ops.shape(source_ids)[1])
        source_lengths = ops.sum(ops.cast(source_ids != 0, "int32"), axis=1)
        embedded = _fit_length(self.source_embedding(source_ids), padded_length)
        if not self.config.mask_padding:
            return self.encoder(embedded, training=training), source_lengths
        # An empty sentence only fills a batch. It has no real steps.
        real_lengths = ops.where(source_lengths > 0, self._read_length(source_lengths), 0)
        mask = ops.arange(padded_length)[None, :] < real_lengths[:, None]  # (batch, padded_length)
        encoded = self.encoder(embedded, mask=mask, training=training)
        return encoded * ops.cast(mask, encoded.dtype)[..., None], source_lengths

    def decode(self, memory, previous_ids, training=False):
        return self.head(self._decode(memory, previous_ids, training)[0])

    def attention_weights(self, memory, previous_ids):
        return self._decode(memory, previous_ids, training=False)[1]

    def _decode(self, memory, previous_ids, training):
        """The outputs of the decoder, float `(batch, T, decoder_dim)`, and the weights of each attention."""
        encoded = _fit_length(memory["encoded"], ops.shape(previous_ids)[1])  # (batch, T, dim)
        joined = self._join(encoded, self.target_embedding(previous_ids))  # (batch, T, decoder_dim)
        if not self.has_attention:
            return self.decoder(joined, training=training), []
        return self.decoder(joined, memory, training=training)

    def initial_state(self, memory, max_length, beam_size=1):
        width = self.decoder.blocks[0].hidden_dim
        return self._ring.empty(ops.shape(memory["encoded"])[0] * beam_size, width, self.compute_dtype)

    def select(self, state, parents):
        return self._ring.select(state, rows_of_parents(parents))

    def make_step(self):
        # Kernels are cut and stacked once, because at each step it would copy a third of the weights. With a batch of
        # one, XLA would also fuse the cutting into each product and compute it as a slow plain loop.
        blocks = self.decoder.blocks
        kernels = [block.step_kernels() for block in blocks]
        past_kernels = ops.stack([block.conv_dilated.past_kernel() for block in blocks])  # (blocks, past, width)
        # LiteRT cannot multiply the empty matrices of kernels with one tap.
        has_past = self.config.decoder_kernel_size > 1
        head_kernel = self.head.present_kernel()

        def step(previous_ids, state, memory, position):
            encoded = memory["encoded"]
            length = encoded.shape[1] or ops.shape(encoded)[1]
            current = ops.take(encoded, ops.minimum(position, length - 1), axis=1)  # (batch, dim)
            current = ops.where(position < length, current, ops.zeros_like(current))
            embedded = self.target_embedding(previous_ids)  # (batch * beam_size, dim)
            outputs = self._join(repeat_for_beams(current, previous_ids), embedded)

            # The name scopes of `call`: profiles group the operations of a step by them.
            with keras.name_scope("decoder"):
                all_from_past: Any = [None] * len(blocks)
                if has_past:
                    past = self._ring.read(state, position)
                    # The past inputs are known before any block runs, so one product serves all blocks.
                    with keras.name_scope("conv_dilated"):
                        all_from_past = ops.matmul(past, past_kernels)  # (blocks, batch, width)
                hiddens = []
                for index, block in enumerate(blocks):
                    outputs, hidden = block.step(outputs, all_from_past[index], kernels[index])
                    hiddens.append(hidden)
                    attention = self.decoder.attention_after(index + 1) if self.has_attention else None
                    if attention is not None:
                        outputs = self.decoder.attend_in_step(attention, outputs, position, memory)
                state = self._ring.write(state, position, hiddens)
            return self.head.step(outputs, head_kernel), state

        return step

    def _read_length(self, source_length):
        """Number of encoder steps of a source: the length of its longest target, but at least its own length."""
        longest = self.length_policy.max_target_length(source_length)
        if isinstance(source_length, int):
            return max(longest, source_length)
        return ops.maximum(longest, source_length)

    def _join(self, encoded, embedded):
        return ops.concatenate([encoded, embedded], axis=-1) if self.config.join == "concat" else encoded + embedded


def _fit_length(values, length):
    """Cut or zero-pad float `(batch, time, channels)` to `length` steps."""
    missing = length - ops.shape(values)[1]
    # In JAX and PyTorch every length is an int, and JAX accepts no other type here.
    missing = max(missing, 0) if isinstance(missing, int) else ops.maximum(missing, 0)
    fitted = ops.pad(values, [[0, 0], [0, missing], [0, 0]])[:, :length]
    # In a graph, padding by an unknown number of steps loses the number of channels, which LiteRT must know.
    return ops.reshape(fitted, (-1, length, values.shape[-1]))
