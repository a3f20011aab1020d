"""Transformer: attention everywhere, no recurrence and no convolution."""

from typing import ClassVar, Literal, Self

from pydantic import model_validator

from bytenet.config.checks import Fraction, Layers, Positive, PositiveFloat, checked
from bytenet.config.model import ModelConfig


@checked
class TransformerConfig(ModelConfig):
    """The settings of `bytenet.models.Transformer`.

    "small" is for characters and an ordinary machine. "base" and "big" are the models of Vaswani et al. 2017.

    Reference:
        Vaswani et al. 2017, section 3 and table 3.
    """

    VARIANTS: ClassVar = {
        "small": {},
        "base": {
            "dim": 512, "feed_forward_dim": 2048, "heads": 8, "encoder_layers": 6, "decoder_layers": 6,
            "normalization_order": "post", "dropout": 0.1,
        },
        "big": {
            "dim": 1024, "feed_forward_dim": 4096, "heads": 16, "encoder_layers": 6, "decoder_layers": 6,
            "normalization_order": "post", "dropout": 0.3,
        },
    }  # fmt: skip

    READ_WITH: ClassVar = {**ModelConfig.READ_WITH, "max_positions": {"positions": ("learned",)}}

    family: Literal["transformer"] = "transformer"
    variant: str = "small"
    mask_padding: Literal[True] = True
    length_rule: Literal["unfold"] = "unfold"
    dim: Positive = 128  # width d of embeddings and layers
    encoder_layers: Layers = 4
    decoder_layers: Layers = 4
    heads: Positive = 4
    head_dim: Positive | None = None  # of queries and keys in each head; None is dim / heads
    value_dim: Positive | None = None  # of values in each head; None is head_dim
    feed_forward_dim: Positive = 512
    # "post" normalises after each residual connection (paper), and needs a warm-up. "pre" normalises before each
    # sub-layer.
    normalization_order: Literal["pre", "post"] = "pre"
    # "sinusoidal" (paper), the same in the layout of tensor2tensor and fairseq, or trained vectors.
    positions: Literal["sinusoidal", "sinusoidal_halves", "learned"] = "sinusoidal"
    max_positions: Positive = 1024  # longest sequences with learned positions
    # One table for source, target and softmax ("all", paper), for target and softmax, or three tables.
    tied_embeddings: Literal["all", "softmax", "none"] = "all"
    # `dropout` is for the outputs of sub-layers and for embeddings. These are for attention weights and hidden units.
    attention_dropout: Fraction = 0.0
    activation_dropout: Fraction = 0.0
    norm_epsilon: PositiveFloat = 1e-6  # added to variances

    @property
    def width_of_head(self) -> int:
        """Width of queries and keys in each head."""
        return self.head_dim or self.dim // self.heads

    @property
    def width_of_values(self) -> int:
        """Width of values in each head."""
        return self.value_dim or self.width_of_head

    @property
    def longest_sequence(self) -> int | None:
        return self.max_positions if self.positions == "learned" else None

    @model_validator(mode="after")
    def _check_heads(self) -> Self:
        if self.head_dim is None and self.dim % self.heads:
            raise ValueError(f"dim {self.dim} cannot be divided into {self.heads} heads; change one, or give head_dim")
        return self
