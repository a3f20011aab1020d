"""ByteNet: dilated convolutions, linear in the length."""

from dataclasses import replace
from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, model_validator

from bytenet.config.checks import (
    MOST_LAYERS,
    Even,
    Fraction,
    Layers,
    Odd,
    Positive,
    PositiveFloat,
    Positives,
    check_layer_numbers,
    checked,
)
from bytenet.config.model import ModelConfig
from bytenet.errors import ConfigError

_NO_NORM = {"encoder_normalization": "none", "decoder_normalization": "none"}
_SELU = {**_NO_NORM, "activation": "selu"}
_SMALL = {"block_size": "small", "dim": 200}


@checked
class ByteNetConfig(ModelConfig):
    """The settings of `bytenet.models.ByteNet`.

    Reference:
        Kalchbrenner et al. 2016; Madsen 2017, sections 2.6, 3.4 and 3.5, and the thesis's code.
    """

    VARIANTS: ClassVar = {
        "bytenet": {},
        "simplified": _SMALL,
        "selu": _SELU,
        "no_norm": _NO_NORM,
        "simplified_selu": _SMALL | _SELU,
        "simplified_no_norm": _SMALL | _NO_NORM,
        "v2": {"num_sets": 6, "encoder_kernel_size": 3, "encoder_normalization": "layer", "dim": 800},
    }
    THESIS: ClassVar = {
        "mask_padding": False, "initializer": "thesis_code", "norm_epsilon": 1e-8, "batch_norm_momentum": 0.99,
        "length_rule": "pair",
    }  # fmt: skip

    READ_WITH: ClassVar = {
        **ModelConfig.READ_WITH,
        "attention_blocks": {"source_attention": ("window", "full")},
        "attention_heads": {"source_attention": ("window", "full")},
        "attention_radius": {"source_attention": ("window",)},
        "attention_slope": {"source_attention": ("window",)},
    }

    family: Literal["bytenet"] = "bytenet"
    variant: str = "bytenet"
    # Width d of the encoder. The decoder is 2d wide after concatenation, d after addition. Blocks halve it.
    dim: Even = 400
    num_sets: Layers = 3  # sets of blocks in each half
    dilations: Positives = (1, 2, 4, 8, 16)  # of the blocks in one set
    encoder_kernel_size: Odd = 5  # taps; an even kernel would have no centre
    decoder_kernel_size: Positive = 3  # taps, those that see the past and the present
    # "full" has a bottleneck. "small" is the block of Simplified ByteNet.
    block_size: Literal["full", "small"] = "full"
    encoder_normalization: Literal["batch", "layer", "none"] = "batch"
    # Not "batch": statistics over a batch would let a character see later ones.
    decoder_normalization: Literal["layer", "none"] = "layer"
    activation: Literal["relu", "selu"] = "relu"  # SELU without normalisation goes with alpha dropout
    join: Literal["concat", "add"] = "concat"  # how encoder output and target embedding are combined
    # Initial weights, see `bytenet.layers.initializers_for`.
    initializer: Literal["auto", "he", "lecun", "thesis_code", "thesis_selu"] = "auto"
    norm_epsilon: PositiveFloat = 1e-5  # added to variances
    batch_norm_momentum: Fraction = 0.99  # of the old running statistics, kept in a training step
    # Attention of the decoder to the source: "none" (paper), "window" to the symbols near the decoder's own position,
    # or "full" to all symbols.
    source_attention: Literal["none", "window", "full"] = "none"
    # Blocks of the decoder with attention after them, from 1; None is the last block of each set.
    attention_blocks: Positives | None = None
    attention_heads: Positive = 4  # each has dim / attention_heads channels
    attention_radius: Positive = 16  # symbols on each side of the centre of a window
    attention_slope: Annotated[float, Field(ge=0.01)] = 1.0  # source symbols for each target symbol; moves the window

    @property
    def has_batch_statistics(self) -> bool:
        return self.encoder_normalization == "batch"

    @property
    def attending_blocks(self) -> tuple[int, ...]:
        """The numbers of the blocks of the decoder with attention after them, from 1."""
        if self.source_attention == "none":
            return ()
        if self.attention_blocks is not None:
            return self.attention_blocks
        size = len(self.dilations)
        return tuple(range(size, self.num_sets * size + 1, size))

    def with_added_sets(self, number: int) -> Self:
        if self.num_sets + number > MOST_LAYERS:
            raise ConfigError(
                f"training.added_sets is {number}. With the {self.num_sets} of the start, the model would have more "
                f"than {MOST_LAYERS:,} sets."
            )
        return replace(self, num_sets=self.num_sets + number)

    @model_validator(mode="after")
    def _check_attention(self) -> Self:
        check_layer_numbers("attention_blocks", self.attending_blocks, self.num_sets * len(self.dilations))
        if self.attending_blocks and self.dim % self.attention_heads:
            raise ValueError(
                f"dim {self.dim} cannot be divided into {self.attention_heads} heads; change dim or attention_heads"
            )
        return self
