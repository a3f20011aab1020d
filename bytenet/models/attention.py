"""The recurrent network with attention, the thesis's baseline for ByteNet."""

from typing import ClassVar

import keras
from keras import ops

from bytenet.config.families.attention import AttentionConfig
from bytenet.layers import ThesisCodeUniform, ZeroPaddedEmbedding
from bytenet.layers.attention import AttentionCell
from bytenet.layers.recurrent import BidirectionalEncoder, cell_initializers
from bytenet.models.translation_model import ProfilePart, TranslationModel

_UNATTENDED = -3e4  # finite in float16, too


@keras.saving.register_keras_serializable("bytenet")
class AttentionModel(TranslationModel):
    """Character-level translation by recurrent networks with attention.

    Stacks of tanh RNNs, each d wide, read the embedded source forward and backward. A GRU, 2d wide, reads the embedded
    target characters. A second GRU of the same width reads the first one and attends to the source, see
    `AttentionCell`. The head turns the attention into logits.

    The "bounded" head is the thesis's: a GRU as wide as the vocabulary, whose output is the logits. The output lies in
    (-1, 1). So no symbol has a probability above e / (e + (V - 1) / e). For V = 28 that is .215, and the cross entropy
    stays above 1.54 nats a symbol, however long the training. As every symbol costs that much, a beam search without a
    length penalty prefers the empty translation. The "dense" head is a linear map with a bias.

    Masks: with `mask_padding`, the logits of a sentence depend neither on the other sentences of the batch nor on the
    padding. Without it, the model reads padded steps and attends to them. (The thesis's code did so up to the length of
    each pair only, not to the length of the batch.)

    The first weights are those of Keras. `initializer="thesis_code"` gives those of the thesis's code, which used
    TensorFlow 1.1: the biases of the GRUs' gates are 1, and the embeddings are drawn by `ThesisCodeUniform`.

    Args:
        config: the hyper-parameters, see `AttentionConfig`. In training, `dropout` is the share of the embedded inputs
            and of the attention before the head that is set to zero.
        vocab_size: number of ids V, with padding, end and unknown symbols.

    Reference:
        Madsen 2017, section 3.6; Luong et al. 2015.
    """

    config_class = AttentionConfig
    profile_parts: ClassVar = {
        "forward": ProfilePart("recurrent"),
        "backward": ProfilePart("recurrent"),
        "lower_gru": ProfilePart("recurrent"),
        "upper_gru": ProfilePart("recurrent"),
        "attention_keys": ProfilePart("attention", "dense"),
        "attention_context": ProfilePart("attention"),
        "attention_vector": ProfilePart("attention", "dense"),
    }

    def __init__(self, config: AttentionConfig, vocab_size: int, **kwargs):
        super().__init__(config, vocab_size, **kwargs)
        self.dim = dim = config.dim
        initializer, dropout = config.initializer, config.dropout
        self.is_bounded = config.head == "bounded"
        # For all layers, because a model trained in mixed precision may be loaded where that is not the default.
        policy = self.dtype_policy
        self.source_embedding, self.target_embedding = (
            ZeroPaddedEmbedding(
                vocab_size, dim, ThesisCodeUniform() if initializer == "thesis_code" else "glorot_uniform",
                name=f"{side}_embedding", dtype=policy,
            )
            for side in ("source", "target")
        )  # fmt: skip
        self.source_dropout = keras.layers.Dropout(dropout, name="source_dropout", dtype=policy)
        self.target_dropout = keras.layers.Dropout(dropout, name="target_dropout", dtype=policy)
        self.head_dropout = keras.layers.Dropout(dropout, name="head_dropout", dtype=policy)
        self.encoder = BidirectionalEncoder(dim, config.num_layers, initializer, name="encoder", dtype=policy)
        self.decoder = keras.layers.RNN(
            AttentionCell(2 * dim, initializer, name="cell", dtype=policy),
            return_sequences=True,
            name="decoder",
            dtype=policy,
        )
        # Float32 even in mixed precision, because the softmax over the logits needs the digits.
        if self.is_bounded:
            initial = cell_initializers(initializer, 2 * dim, vocab_size, gated=True)
            cell = keras.layers.GRUCell(vocab_size, reset_after=False, name="cell", dtype="float32", **initial)
            self.head = keras.layers.RNN(cell, return_sequences=True, name="head", dtype="float32")
        else:
            self.head = keras.layers.Dense(vocab_size, name="head", dtype="float32")

    @property
    def parts(self):
        embedded, attended = (self.dim,), (2 * self.dim,)
        return {
            "source_embedding": (), "target_embedding": (), "encoder": embedded, "decoder": embedded, "head": attended
        }  # fmt: skip

    def encode(self, source_ids, training=False):
        """Encode sources: the encoded steps, their keys, and the offsets of their attention scores."""
        is_real = source_ids != 0
        embedded = self.source_dropout(self.source_embedding(source_ids), training=training)
        encoded = self.encoder(embedded, mask=is_real if self.config.mask_padding else None)  # (batch, S, 2 * dim)
        with keras.name_scope("decoder"):
            keys = self.decoder.cell.key_map(encoded)
        offsets = ops.zeros_like(keys[..., 0])
        if self.config.mask_padding:
            # A row of padding alone only fills a batch. Its softmax needs finite offsets.
            offsets = ops.where(is_real, offsets, ops.full_like(offsets, _UNATTENDED))
        return {"encoded": encoded, "keys": keys, "score_offsets": offsets}

    def decode(self, memory, previous_ids, training=False):
        embedded = self.target_dropout(self.target_embedding(previous_ids), training=training)
        first = self.initial_state(memory, max_length=0)
        attention = self.decoder(embedded, initial_state=_cell_states(first))  # (batch, T, 2 * dim)
        return self.head(self.head_dropout(attention, training=training))

    def initial_state(self, memory, max_length, beam_size=1):
        rows = ops.shape(memory["encoded"])[0] * beam_size
        names = ("lower", "upper", "attention")
        state = {name: ops.zeros((rows, 2 * self.dim), dtype=self.compute_dtype) for name in names}
        if self.is_bounded:
            state["logits"] = ops.zeros((rows, self.vocab_size), dtype="float32")
        if beam_size > 1:  # the cell needs a row of the memory for each hypothesis
            memory = keras.tree.map_structure(lambda tensor: ops.repeat(tensor, beam_size, axis=0), memory)
        return {"own": state, "memory": memory}

    def select(self, state, parents):
        # All hypotheses of a source have the same memory.
        return state | {"own": super().select(state["own"], parents)}

    def step(self, previous_ids, state, memory, position):
        with keras.name_scope("decoder"):  # the scope of `call`: profiles group the operations of a step by it
            attention, new = self.decoder.cell(self.target_embedding(previous_ids), _cell_states(state))
        lower, upper = new[:2]
        own = {"lower": lower, "upper": upper, "attention": attention}
        if not self.is_bounded:
            return self.head(attention), state | {"own": own}
        logits, _ = self.head.cell(attention, [state["own"]["logits"]])
        return logits, state | {"own": own | {"logits": logits}}


def _cell_states(state: dict) -> list:
    """The states of an `AttentionCell`, in the cell's order."""
    return [
        *(state["own"][name] for name in ("lower", "upper", "attention")),
        *(state["memory"][name] for name in ("keys", "encoded", "score_offsets")),
    ]
