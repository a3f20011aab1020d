"""Recurrent networks, with and without attention to the source."""

from typing import ClassVar, Literal, Self

from pydantic import model_validator

from bytenet.config.checks import Layers, Positive, checked
from bytenet.config.model import ModelConfig

_LSTM = {"embedding_dim": 128}
_GRU = {"embedding_dim": 128, "encoder_cell": "gru", "decoder_cell": "gru", "encoder_layers": 1, "decoder_layers": 1}
_MADSEN = {
    "decoder": "madsen", "encoder_cell": "rnn", "decoder_cell": "gru", "encoder_layers": 3, "decoder_layers": 2,
    "dim": 20, "directions": "both", "meeting": "end",
}  # fmt: skip


@checked
class RecurrentConfig(ModelConfig):
    """The settings of `bytenet.models.RecurrentTranslator`.

    The variants have the structure of the papers, with sizes for characters and an ordinary machine. "madsen_bounded"
    is the baseline of Madsen (2017). "madsen" is the same with a linear head, whose logits have no bound.

    Reference:
        Sutskever et al. 2014; Cho et al. 2014; Bahdanau et al. 2015; Luong et al. 2015; Madsen 2017, section 3.6, and
        the thesis's code.
    """

    VARIANTS: ClassVar = {
        "luong": _LSTM | {"decoder": "luong", "reverse_source": True},
        "bahdanau": _GRU | {"decoder": "bahdanau", "directions": "both"},
        "cho": _GRU | {"decoder": "cho"},
        "sutskever": _LSTM | {"decoder": "sutskever", "reverse_source": True},
        "madsen": _MADSEN,
        "madsen_bounded": _MADSEN | {"head": "bounded"},
    }
    THESIS: ClassVar = {"variant": "madsen_bounded", "mask_padding": False, "length_rule": "pair"}

    READ_WITH: ClassVar = {
        **ModelConfig.READ_WITH,
        "meeting": {"directions": ("both",)},
        "score": {"decoder": ("luong",)},
        "window": {"decoder": ("luong",)},
        "window_radius": {"decoder": ("luong",), "window": ("monotonic", "predictive")},
        "max_positions": {"decoder": ("luong",), "score": ("location",)},
        "input_feeding": {"decoder": ("luong",)},
        "attention_dim": ({"decoder": ("bahdanau",)}, {"decoder": ("luong",), "score": ("concat",)}),
        "cell_activation": ({"encoder_cell": ("rnn",)}, {"decoder_cell": ("rnn",)}),
        "readout_dim": {"decoder": ("cho", "bahdanau")},
        "readout_state": {"decoder": ("cho", "bahdanau")},
    }

    family: Literal["recurrent"] = "recurrent"
    variant: str = "luong"
    # What the decoder knows about the source. "sutskever": the last states of all layers. "cho": the last state, at
    # each step. "bahdanau": attention with the state before each step. "luong": attention with the state after it.
    decoder: Literal["sutskever", "cho", "bahdanau", "luong", "madsen"] = "luong"
    dim: Positive = 256  # width n of the decoder's cells; width d of the encoder's RNNs for "madsen"
    embedding_dim: Positive | None = None  # None is the value of the variant: 128, or dim for "madsen"
    encoder_dim: Positive | None = None  # width in each direction; None is what the decoder needs
    encoder_cell: Literal["rnn", "lstm", "gru"] = "lstm"
    decoder_cell: Literal["rnn", "lstm", "gru"] = "lstm"
    encoder_layers: Layers = 2
    decoder_layers: Layers = 2
    cell_activation: Literal["tanh", "relu"] = "tanh"  # of the cells "rnn"
    cell_normalization: Literal["none", "layer"] = "none"
    directions: Literal["forward", "both"] = "forward"  # in which the encoder reads
    # The directions meet in each layer, or only after the last one.
    meeting: Literal["layer", "end"] = "layer"
    reverse_source: bool = False  # the encoder still reads the end symbol last
    # How the decoder "luong" compares its state with a source symbol.
    score: Literal["dot", "general", "concat", "location"] = "general"
    # All source symbols; those near the number of the step ("monotonic", local-m) or near a predicted position
    # ("predictive", local-p).
    window: Literal["global", "monotonic", "predictive"] = "global"
    window_radius: Positive = 10  # in symbols
    max_positions: Positive = 512  # longest sources with the score "location"
    input_feeding: bool = True  # the decoder "luong" reads its attention of the step before
    attention_dim: Positive | None = None  # hidden units of the scores "concat" and of "bahdanau"; None is dim
    # Of the decoders "cho" and "bahdanau". The readout reads the state after ("current") or before the step.
    readout_dim: Positive = 128
    readout_state: Literal["current", "previous"] = "current"
    head: Literal["dense", "bounded"] = "dense"  # "bounded" is the thesis's
    # Initial weights: Keras's; an orthogonal or (for ReLUs) an identity matrix for the state of each gate; those of the
    # decoder's paper; or those of TensorFlow 1.1 and the thesis's code.
    initializer: Literal["auto", "orthogonal", "identity", "paper", "thesis_code"] = "auto"

    @property
    def model_name(self) -> str:
        # The name that weights of the thesis's baseline have in checkpoints.
        return "attention" if self.decoder == "madsen" else self.family

    @property
    def width_of_embeddings(self) -> int:
        """Width of the embeddings of source and target."""
        return self.embedding_dim or self.dim

    @property
    def width_of_encoder(self) -> int:
        """Width of the encoder's cells in each direction."""
        passes_states = self.decoder in ("sutskever", "luong")
        return self.encoder_dim or (self.dim // 2 if passes_states and self.directions == "both" else self.dim)

    @property
    def longest_sequence(self) -> int | None:
        return self.max_positions if self.decoder == "luong" and self.score == "location" else None

    @model_validator(mode="after")
    def _check_decoder(self) -> Self:
        if self.decoder == "madsen":
            fixed = _MADSEN | {
                "encoder_layers": self.encoder_layers, "dim": self.dim, "encoder_dim": None,
                "embedding_dim": self.embedding_dim and self.dim, "reverse_source": False, "cell_activation": "tanh",
                "cell_normalization": "none",
            }  # fmt: skip
            for name, value in fixed.items():
                if getattr(self, name) != value:
                    raise ValueError(f"{name} is {getattr(self, name)!r}, but the decoder 'madsen' needs {value!r}")
            if self.initializer not in ("auto", "thesis_code"):
                raise ValueError("initializer should be 'auto' or 'thesis_code' for the decoder 'madsen'")
            return self
        for name, value in {"mask_padding": True, "length_rule": "unfold", "head": "dense"}.items():
            if getattr(self, name) != value:
                raise ValueError(f"{name} is {getattr(self, name)!r}, which only the decoder 'madsen' can have")
        if self.initializer == "thesis_code":
            raise ValueError("initializer is 'thesis_code', which only the decoder 'madsen' can have")
        cells = {self.encoder_cell, self.decoder_cell}
        if self.initializer == "identity" and (cells != {"rnn"} or self.cell_activation != "relu"):
            raise ValueError("initializer 'identity' needs cells 'rnn' and cell_activation 'relu'")
        if self.decoder in ("cho", "bahdanau"):
            if self.decoder_layers != 1:
                raise ValueError(f"decoder_layers is {self.decoder_layers}, but the decoder {self.decoder!r} has 1")
            return self
        width = self.width_of_encoder * (2 if self.directions == "both" else 1)
        if len(cells) > 1 or self.encoder_layers != self.decoder_layers or width != self.dim:
            raise ValueError(
                f"the decoder {self.decoder!r} begins with the encoder's states. So both need the same cells, as many "
                "layers, and states of the same width: encoder_dim times the number of directions should be dim"
            )
        return self
