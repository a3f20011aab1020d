"""Recurrent translators: an encoder and a decoder of RNNs, LSTMs or GRUs, with and without attention."""

from typing import ClassVar

import keras
from keras import ops

from bytenet.config.families.recurrent import RecurrentConfig
from bytenet.config.old_names import SAVED_CLASS, present_settings
from bytenet.layers import ThesisCodeUniform, ZeroPaddedEmbedding
from bytenet.layers.fast import apply_dropout, make_dropout
from bytenet.layers.recurrent.context_decoder import ContextDecoder
from bytenet.layers.recurrent.encoder import RecurrentEncoder, reversed_order
from bytenet.layers.recurrent.initializers import weight_scheme
from bytenet.layers.recurrent.luong_decoder import LuongDecoder
from bytenet.layers.recurrent.scores import SourceAlignment
from bytenet.layers.recurrent.stack_decoder import StackDecoder
from bytenet.layers.recurrent.thesis_decoder import AttentionCell, ThesisDecoder
from bytenet.layers.recurrent.thesis_encoder import BidirectionalEncoder, cell_initializers
from bytenet.models.translation_model import ProfilePart, TranslationModel


@keras.saving.register_keras_serializable("bytenet")
class RecurrentTranslator(TranslationModel):
    """Character-level translation by recurrent networks.

    The encoder reads the source symbol by symbol, in one direction or in both. The decoder writes the target. What it
    knows of the source depends on `config.decoder`:

    - "sutskever": it begins with the last states of the encoder's layers. See `StackDecoder`.
    - "cho": each step reads the encoder's last state. See `ContextDecoder`.
    - "bahdanau": each step reads a context, which attention computes from the previous state. See `ContextDecoder`.
    - "luong": it begins with the encoder's last states; the state after each step attends. See `LuongDecoder`.
    - "madsen": the thesis's baseline. Stacks of tanh RNNs, each d wide, read the source forward and backward. A GRU, 2d
      wide, reads the target. A second GRU reads the first one and attends to the source. See `AttentionCell`.

    The "bounded" head of "madsen" is the thesis's: a GRU as wide as the vocabulary, whose output is the logits. The
    output lies in (-1, 1). So no symbol has a probability above e / (e + (V - 1) / e). For V = 28 that is .215, and the
    cross entropy stays above 1.537 nats per symbol, however long the training. As every symbol costs that much, a beam
    search without a length penalty prefers the empty translation. The "dense" head is a linear map with a bias.

    Masks: with `mask_padding`, the logits of a sentence depend neither on the other sentences of the batch nor on the
    padding. Without it ("madsen" only), the model reads padded steps and attends to them. (The thesis's code did so up
    to the length of each pair only, not to the length of the batch.)

    Args:
        config: the hyper-parameters, see `RecurrentConfig`. In training, `dropout` is the share of the embedded inputs,
            of the outputs between layers and of the inputs of the head that is set to zero.
        vocab_size: number of ids V, with padding, end and unknown symbols.

    Raises:
        ValueError: for sources longer than `max_positions` with the score "location", if their length is known when the
            graph is made.

    Reference:
        Sutskever et al. 2014; Cho et al. 2014; Bahdanau et al. 2015; Luong et al. 2015; Madsen 2017, section 3.6.
    """

    config: RecurrentConfig
    config_class = RecurrentConfig
    profile_parts: ClassVar = {
        "forward": ProfilePart("recurrent"),
        "backward": ProfilePart("recurrent"),
        "lower_gru": ProfilePart("recurrent"),
        "upper_gru": ProfilePart("recurrent"),
        "recurrent_cell": ProfilePart("recurrent"),
        "attention_keys": ProfilePart("attention", "dense"),
        "attention_context": ProfilePart("attention"),
        "attention_vector": ProfilePart("attention", "dense"),
        "alignment": ProfilePart("attention"),
        "attentional_state": ProfilePart("attentional-state", "dense"),
        "initial_state": ProfilePart("initial-state", "dense"),
        "readout": ProfilePart("readout", "dense"),
    }

    def __init__(self, config: RecurrentConfig, vocab_size: int, **kwargs):
        super().__init__(config, vocab_size, **kwargs)
        self.is_bounded = config.head == "bounded"
        # For all layers, because a model trained in mixed precision may be loaded where that is not the default.
        policy = self.dtype_policy
        self.source_embedding, self.target_embedding = (
            ZeroPaddedEmbedding(
                vocab_size, config.width_of_embeddings, self._kernel_initializer(), name=f"{side}_embedding",
                dtype=policy,
            )
            for side in ("source", "target")
        )  # fmt: skip
        # The thesis's baseline has Keras's dropout, so that old runs are continued with the same random numbers.
        make = keras.layers.Dropout if config.decoder == "madsen" else make_dropout
        self.source_dropout = make(config.dropout, name="source_dropout", dtype=policy)
        self.target_dropout = make(config.dropout, name="target_dropout", dtype=policy)
        self.head_dropout = make(config.dropout, name="head_dropout", dtype=policy)
        self.encoder = self._make_encoder()
        self.decoder = self._make_decoder()
        # Float32 even in mixed precision, because the softmax over the logits needs the digits.
        if self.is_bounded:
            initial = cell_initializers(config.initializer, 2 * config.dim, vocab_size, gated=True)
            cell = keras.layers.GRUCell(vocab_size, reset_after=False, name="cell", dtype="float32", **initial)
            self.head = keras.layers.RNN(cell, return_sequences=True, name="head", dtype="float32")
        else:
            kernel = "glorot_uniform" if config.decoder == "madsen" else self._kernel_initializer()
            self.head = keras.layers.Dense(vocab_size, kernel_initializer=kernel, name="head", dtype="float32")

    @property
    def has_attention(self):
        return self.config.decoder not in ("sutskever", "cho")

    @property
    def _scheme(self) -> str:
        """The name of the initial weights, for all decoders but "madsen"."""
        papers = {"cho": "bahdanau"}
        decoder, initializer = self.config.decoder, self.config.initializer
        return papers.get(decoder, decoder) if initializer == "paper" else initializer

    def _kernel_initializer(self):
        if self.config.initializer == "thesis_code":
            return ThesisCodeUniform()
        return weight_scheme(self._scheme).kernel()

    def _make_encoder(self) -> keras.layers.Layer:
        config, policy = self.config, self.dtype_policy
        if config.decoder == "madsen":
            return BidirectionalEncoder(
                config.dim, config.encoder_layers, config.initializer, name="encoder", dtype=policy
            )
        return RecurrentEncoder(
            config.encoder_cell, config.width_of_encoder, config.encoder_layers, config.directions, config.meeting,
            config.dropout, **self._cell_arguments, name="encoder", dtype=policy,
        )  # fmt: skip

    def _make_decoder(self) -> keras.layers.Layer:
        config, named = self.config, {"name": "decoder", "dtype": self.dtype_policy}
        if config.decoder == "madsen":
            cell = AttentionCell(2 * config.dim, config.initializer, name="cell", dtype=self.dtype_policy)
            return ThesisDecoder(cell, **named)
        if config.decoder in ("cho", "bahdanau"):
            return ContextDecoder(
                config.decoder_cell, config.dim, config.readout_dim, config.readout_state,
                (config.attention_dim or config.dim) if config.decoder == "bahdanau" else None,
                **self._cell_arguments, **named,
            )  # fmt: skip
        stack = StackDecoder(
            config.decoder_cell, config.dim, config.decoder_layers, config.dropout, **self._cell_arguments,
            **(named if config.decoder == "sutskever" else named | {"name": "layers"}),
        )  # fmt: skip
        if config.decoder == "sutskever":
            return stack
        attention = SourceAlignment(
            config.score, config.attention_dim or config.dim, config.window, config.window_radius,
            config.max_positions, self._scheme, name="alignment", dtype=self.dtype_policy,
        )  # fmt: skip
        return LuongDecoder(stack, attention, config.input_feeding, self._scheme, **named)

    @property
    def _cell_arguments(self) -> dict:
        config = self.config
        return {
            "activation": config.cell_activation, "normalization": config.cell_normalization,
            "initializer": self._scheme,
        }  # fmt: skip

    def build(self, input_shape):
        """Make the weights of all parts."""
        config, symbols = self.config, (None, None)
        embedded = (*symbols, config.width_of_embeddings)
        directions = 2 if config.directions == "both" else 1
        encoded = (*symbols, directions * config.width_of_encoder)
        outputs = {"madsen": 2 * config.dim, "cho": config.readout_dim, "bahdanau": config.readout_dim}
        shapes = {"madsen": embedded, "sutskever": embedded, "luong": (embedded, encoded)}
        self.source_embedding.build(symbols)
        self.target_embedding.build(symbols)
        self.encoder.build(embedded)
        self.decoder.build(shapes.get(config.decoder, (embedded, encoded, (None, config.width_of_encoder))))
        self.head.build((*symbols, outputs.get(config.decoder, config.dim)))

    def encode(self, source_ids, training=False):
        """Encode sources: what the decoder remembers of them, see `RecurrentDecoder`."""
        order = reversed_order(source_ids) if self.config.reverse_source else None
        read_ids = source_ids if order is None else ops.take_along_axis(source_ids, order, axis=1)
        embedded = apply_dropout(self.source_dropout, self.source_embedding(read_ids), training)
        masked_ids = source_ids if self.config.mask_padding else None
        encoded, states = self.encoder(
            embedded, mask=None if masked_ids is None else masked_ids != 0, training=training
        )
        if order is not None:  # attention sees the symbols in the order of the source
            encoded = ops.take_along_axis(encoded, order[..., None], axis=1)
        return self.decoder.remember(encoded, states, masked_ids)

    def decode(self, memory, previous_ids, training=False):
        embedded = apply_dropout(self.target_dropout, self.target_embedding(previous_ids), training)
        outputs = self.decoder.decode(embedded, memory, training=training)  # (batch, T, channels)
        return self.head(apply_dropout(self.head_dropout, outputs, training))

    def attention_weights(self, memory, previous_ids):
        weights = self.decoder.attention_weights(self.target_embedding(previous_ids), memory)
        if weights is None:
            return []
        if self.config.window == "predictive":  # their sum is below 1
            weights = weights / ops.sum(weights, axis=-1, keepdims=True)
        return [weights[:, None]]

    def initial_state(self, memory, max_length, beam_size=1):
        state = self.decoder.initial_state(memory, beam_size)
        if self.is_bounded:
            rows = ops.shape(state["hypotheses"][0])[0]
            state["hypotheses"] = [*state["hypotheses"], ops.zeros((rows, self.vocab_size), dtype="float32")]
        return state

    def select(self, state, parents):
        # All hypotheses of a source have the same memory.
        return state | {"hypotheses": super().select(state["hypotheses"], parents)}

    def make_step(self):
        decoder_step = self.decoder.make_step()

        def step(previous_ids, state, memory, position):
            embedded = self.target_embedding(previous_ids)
            if not self.is_bounded:
                outputs, state = decoder_step(embedded, state, memory, position)
                return self.head(outputs), state
            *states, logits = state["hypotheses"]
            outputs, state = decoder_step(embedded, state | {"hypotheses": states}, memory, position)
            logits, _ = self.head.cell(outputs, [logits])
            return logits, state | {"hypotheses": [*state["hypotheses"], logits]}

        return step

    @classmethod
    def from_config(cls, config):
        return super().from_config(present_settings(config))


# Models of the former family `attention` are loaded as this class.
keras.saving.get_custom_objects()[SAVED_CLASS] = RecurrentTranslator
