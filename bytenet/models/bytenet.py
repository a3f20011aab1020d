"""ByteNet: a dilated encoder, a causal dilated decoder stacked on it, both linear in the length."""

import keras
from keras import ops

from bytenet.layers import DilatedConvolution, ResidualStack, ZeroPaddedEmbedding, initializers_for
from bytenet.models.length import make_length_rule
from bytenet.models.ring_buffer import RingBuffer
from bytenet.models.translation_model import TranslationModel, memory_of_targets

_BYTENET = {
    "dim": 400, "num_sets": 3, "dilations": (1, 2, 4, 8, 16), "encoder_kernel_size": 5, "decoder_kernel_size": 3,
    "block_size": "full", "encoder_normalization": "batch", "decoder_normalization": "layer", "activation": "relu",
}  # fmt: skip
_NO_NORM = {"encoder_normalization": "none", "decoder_normalization": "none"}
_SELU = {**_NO_NORM, "activation": "selu"}
_SMALL = {"block_size": "small", "dim": 200}

VARIANTS = {
    "bytenet": _BYTENET,
    "simplified": _BYTENET | _SMALL,
    "selu": _BYTENET | _SELU,
    "no_norm": _BYTENET | _NO_NORM,
    "simplified_selu": _BYTENET | _SMALL | _SELU,
    "simplified_no_norm": _BYTENET | _SMALL | _NO_NORM,
    "v2": _BYTENET | {"num_sets": 6, "encoder_kernel_size": 3, "encoder_normalization": "layer", "dim": 800},
}
"""The named variants of the thesis and its code, as arguments of `ByteNet`."""

THESIS_SETTINGS = {
    "mask_padding": False, "initializer": "thesis_code", "norm_epsilon": 1e-8, "batch_norm_momentum": 0.99,
    "length_rule": "pair",
}  # fmt: skip
"""What the thesis's code does wherever it differs from this project's defaults."""


@keras.saving.register_keras_serializable("bytenet")
class ByteNet(TranslationModel):
    """Character-level translation by dilated convolutions.

    The encoder reads the embedded source; its output at step t is joined with the embedded target character
    before t; the causal decoder and a linear head turn that into logits of character t.

    Masks: with `mask_padding`, a sentence's logits do not depend on its neighbours in the batch (but for the
    batch statistics in training) nor on how far it is padded. Encoder steps are real up to the length that
    `length_rule` gives the sentence: with "unfold", the encoder goes on past the source's end, where its
    wide convolutions still see the source, so that a target longer than its source has something to read.

    Args:
        vocab_size: number of ids V, padding, end and unknown symbols counted.
        dim: width d of the encoder; the decoder is 2d wide after concatenation, d after addition. Even.
        num_sets: sets of blocks in each half.
        dilations: dilation rates of the blocks in one set.
        encoder_kernel_size: taps of the encoder's convolutions; odd.
        decoder_kernel_size: taps of the decoder's convolutions, those that see the past and the present.
        block_size: "full" (with a bottleneck) or "small" (Simplified ByteNet).
        encoder_normalization: "batch", "layer" or "none".
        decoder_normalization: "layer" or "none"; statistics over a batch would let a character see later ones.
        activation: "relu" or "selu".
        join: "concat" or "add", how encoder output and target embedding meet.
        dropout: share of hidden units dropped in each block while training.
        mask_padding: see above; false, as in the thesis's code, lets padding into convolutions and statistics.
        initializer: "auto", "he", "lecun", "thesis_code" or "thesis_selu", see `initializers_for`.
        norm_epsilon: added to variances.
        batch_norm_momentum: share of the old running statistics kept in a training step.
        length_rule: "unfold" (⌈unfold_scale · n + unfold_offset⌉ characters for a source of n) or "pair" (as
            many as the source has after padding, as in the thesis's code).
        unfold_scale, unfold_offset: of the "unfold" rule.

    Reference:
        Kalchbrenner et al. 2016; Madsen 2017, section 2.6 and figure 2.6.4.
    """

    family = "ByteNet"
    variants = VARIANTS
    thesis_settings = THESIS_SETTINGS

    def __init__(
        self,
        vocab_size: int,
        dim: int = 400,
        num_sets: int = 3,
        dilations=(1, 2, 4, 8, 16),
        encoder_kernel_size: int = 5,
        decoder_kernel_size: int = 3,
        block_size: str = "full",
        encoder_normalization: str = "batch",
        decoder_normalization: str = "layer",
        activation: str = "relu",
        join: str = "concat",
        dropout: float = 0.0,
        mask_padding: bool = True,
        initializer: str = "auto",
        norm_epsilon: float = 1e-5,
        batch_norm_momentum: float = 0.99,
        length_rule: str = "unfold",
        unfold_scale: float = 1.2,
        unfold_offset: int = 24,
        **kwargs,
    ):
        super().__init__(**kwargs)
        if join not in ("concat", "add"):
            raise ValueError(f"Unknown join {join!r}; known are concat, add.")
        if decoder_normalization == "batch":
            raise ValueError(
                'decoder_normalization "batch" would let a character see later ones; take "layer" or "none".'
            )
        if dim % 2:
            raise ValueError(f"dim must be even, as blocks halve it; found {dim}.")
        self._config = {
            "vocab_size": vocab_size, "dim": dim, "num_sets": num_sets, "dilations": list(dilations),
            "encoder_kernel_size": encoder_kernel_size, "decoder_kernel_size": decoder_kernel_size,
            "block_size": block_size, "encoder_normalization": encoder_normalization,
            "decoder_normalization": decoder_normalization, "activation": activation, "join": join,
            "dropout": dropout, "mask_padding": mask_padding, "initializer": initializer,
            "norm_epsilon": norm_epsilon, "batch_norm_momentum": batch_norm_momentum, "length_rule": length_rule,
            "unfold_scale": unfold_scale, "unfold_offset": unfold_offset,
        }  # fmt: skip
        self.vocab_size = vocab_size
        self.dim = dim
        self.decoder_dim = 2 * dim if join == "concat" else dim
        self.join = join
        self.mask_padding = mask_padding
        self.length_rule = make_length_rule(length_rule, unfold_scale, unfold_offset)

        initial = initializers_for(initializer, activation, num_sets * len(dilations))
        # Handed down, as what was trained in mixed precision may be loaded where that is not the default.
        policy = self.dtype_policy
        block_arguments = {
            "dtype": policy, "num_sets": num_sets, "dilations": dilations, "size": block_size, "activation": activation,
            "dropout": dropout, "epsilon": norm_epsilon, "momentum": batch_norm_momentum, "initializer": initializer,
        }  # fmt: skip
        self.source_embedding = ZeroPaddedEmbedding(
            vocab_size, dim, initial.embedding(), name="source_embedding", dtype=policy
        )
        self.target_embedding = ZeroPaddedEmbedding(
            vocab_size, dim, initial.embedding(), name="target_embedding", dtype=policy
        )
        self.encoder = ResidualStack(
            dim=dim, kernel_size=encoder_kernel_size, causal=False, normalization=encoder_normalization,
            name="encoder", **block_arguments,
        )  # fmt: skip
        self.decoder = ResidualStack(
            dim=self.decoder_dim, kernel_size=decoder_kernel_size, causal=True,
            normalization=decoder_normalization, name="decoder", **block_arguments,
        )  # fmt: skip
        # Float32 even in mixed precision: the softmax over its output needs the digits.
        self.head = DilatedConvolution(vocab_size, 1, kernel_initializer=initial.head(), name="head", dtype="float32")
        self._ring = RingBuffer([*dilations] * num_sets, decoder_kernel_size)

    def build(self, input_shape):
        source_shape = tuple(input_shape["source_ids"])
        target_shape = tuple(input_shape["target_ids"])
        self.source_embedding.build(source_shape)
        self.target_embedding.build(target_shape)
        self.encoder.build((*source_shape, self.dim))
        self.decoder.build((*target_shape, self.decoder_dim))
        self.head.build((*target_shape, self.decoder_dim))

    def call(self, inputs, training=False):
        target_ids = inputs["target_ids"]
        encoded = self._encode(inputs["source_ids"], training)
        encoded = _fit_length(encoded, ops.shape(target_ids)[1])  # (batch, T, dim)
        encoded = memory_of_targets(encoded, inputs["source_ids"], target_ids)
        previous_ids = ops.pad(target_ids, [[0, 0], [1, 0]])[:, :-1]
        joined = self._join(encoded, self.target_embedding(previous_ids))  # (batch, T, decoder_dim)
        return self.head(self.decoder(joined, training=training))

    def encode(self, source_ids):
        return {"encoded": self._encode(source_ids, training=False)}

    def initial_state(self, memory, max_length):
        width = self.decoder.blocks[0].hidden_dim
        return self._ring.empty(ops.shape(memory["encoded"])[0], width, self.compute_dtype)

    def select(self, state, rows):
        return self._ring.select(state, rows)

    def step(self, previous_ids, state, memory, position):
        return self.make_step()(previous_ids, state, memory, position)

    def make_step(self):
        # Kernels are cut and stacked here, not at each step: that would cost a copy of a third of the weights, and
        # XLA, given a batch of one, would put the cutting into each product and compute it as a slow plain loop.
        blocks = self.decoder.blocks
        kernels = [block.step_kernels() for block in blocks]
        past_kernels = ops.stack([block.conv_dilated.past_kernel() for block in blocks])  # (blocks, past, width)
        head_kernel = self.head.present_kernel()

        def step(previous_ids, state, memory, position):
            encoded = memory["encoded"]
            length = encoded.shape[1] or ops.shape(encoded)[1]
            current = ops.take(encoded, ops.minimum(position, length - 1), axis=1)  # (batch, dim)
            current = ops.where(position < length, current, ops.zeros_like(current))
            outputs = self._join(current, self.target_embedding(previous_ids))

            # Named as in `call`: profiles take a step apart by its names.
            with keras.name_scope("decoder"):
                past = self._ring.read(state, position)
                # What earlier steps give to this one does not wait for any block, so it is one product for all.
                with keras.name_scope("conv_dilated"):
                    all_from_past = ops.matmul(past, past_kernels)  # (blocks, batch, width)
                hiddens = []
                for index, block in enumerate(blocks):
                    outputs, hidden = block.step(outputs, all_from_past[index], kernels[index])
                    hiddens.append(hidden)
                state = self._ring.write(state, position, hiddens)
            return self.head.step(outputs, head_kernel), state

        return step

    def _encode(self, source_ids, training):
        """int32 `(batch, S)` → float `(batch, S', dim)`, zero after each sentence's own length; all of it is read."""
        padded_length = self._read_length(ops.shape(source_ids)[1])
        source_lengths = ops.sum(ops.cast(source_ids != 0, "int32"), axis=1)
        embedded = _fit_length(self.source_embedding(source_ids), padded_length)
        if not self.mask_padding:
            return self.encoder(embedded, training=training)
        # An empty sentence (a row that fills up a batch) has no real steps at all.
        real_lengths = ops.where(source_lengths > 0, self._read_length(source_lengths), 0)
        mask = ops.arange(padded_length)[None, :] < real_lengths[:, None]  # (batch, padded_length)
        encoded = self.encoder(embedded, mask=mask, training=training)
        return encoded * ops.cast(mask, encoded.dtype)[..., None]

    def _read_length(self, source_length):
        """Steps of the encoder for a source: `length_rule`, but never fewer than it has symbols."""
        longest = self.length_rule(source_length)
        if isinstance(source_length, int):
            return max(longest, source_length)
        return ops.maximum(longest, source_length)

    def _join(self, encoded, embedded):
        return ops.concatenate([encoded, embedded], axis=-1) if self.join == "concat" else encoded + embedded


def _fit_length(values, length):
    """Cut or zero-pad float `(batch, time, channels)` to `length` steps."""
    missing = length - ops.shape(values)[1]
    # JAX and PyTorch know every length as an int, and JAX pads by nothing else.
    missing = max(missing, 0) if isinstance(missing, int) else ops.maximum(missing, 0)
    return ops.pad(values, [[0, 0], [0, missing], [0, 0]])[:, :length]
