"""ConvS2S: gated convolutions, with attention in each layer of the decoder."""

from typing import Any, ClassVar, Literal, Self

from pydantic import model_validator

from bytenet.config.checks import LayerNumbers, Positive, Positives, check_layer_numbers, checked
from bytenet.config.model import ModelConfig


def _sizes(side: str, *layers: tuple[int, int, int]) -> dict[str, tuple[int, ...]]:
    """The settings of a stack, from groups of (number of layers, width, kernel size)."""
    return {
        f"{side}_widths": tuple(width for number, width, _ in layers for _ in range(number)),
        f"{side}_kernel_sizes": tuple(kernel_size for number, _, kernel_size in layers for _ in range(number)),
    }


def _both(*layers: tuple[int, int, int]) -> dict[str, Any]:
    """The settings of an encoder and a decoder with the same layers."""
    return _sizes("encoder", *layers) | _sizes("decoder", *layers)


@checked
class ConvS2SConfig(ModelConfig):
    """The settings of `bytenet.models.ConvS2S`.

    "small" is for characters and an ordinary machine. The variants "wmt…", "ablation" and "summarisation" are the
    models of Gehring et al. 2017; "fairseq_…" are those of the public code of its authors. The paper gives no rate of
    dropout, and no kernel size for summarisation.

    Reference:
        Gehring et al. 2017, sections 3, 4.2 and 5.
    """

    VARIANTS: ClassVar = {
        "small": {},
        "wmt16_en_ro": {"dim": 512, "output_dim": 512, **_both((20, 512, 3))},
        "wmt14_en_de": {"dim": 512, "output_dim": 512, **_both((10, 512, 3), (3, 768, 3), (2, 2048, 1))},
        "wmt14_en_fr": {
            "dim": 512, "output_dim": 512,
            **_both((6, 512, 3), (4, 768, 3), (3, 1024, 3), (1, 2048, 1), (1, 4096, 1)),
        },
        "ablation": {
            "dim": 512, "output_dim": 512, **_sizes("encoder", (13, 512, 3)), **_sizes("decoder", (5, 512, 5)),
        },
        "summarisation": {"dim": 256, "output_dim": 256, **_both((6, 256, 3))},
        "fairseq_iwslt_de_en": {
            "dim": 256, "output_dim": 256, "dropout": 0.2,
            **_sizes("encoder", (4, 256, 3)), **_sizes("decoder", (3, 256, 3)),
        },
        "fairseq_wmt_en_de": {
            "dim": 768, "output_dim": 512, "dropout": 0.2, **_both((9, 512, 3), (4, 1024, 3), (2, 2048, 1)),
        },
    }  # fmt: skip

    family: Literal["convs2s"] = "convs2s"
    variant: str = "small"
    mask_padding: Literal[True] = True
    length_rule: Literal["unfold"] = "unfold"
    dim: Positive = 128  # width f of embeddings, positions, keys and values
    encoder_widths: Positives = (128,) * 8  # of each layer, from the first
    encoder_kernel_sizes: Positives = (5,) * 8  # taps
    decoder_widths: Positives = (128,) * 6
    decoder_kernel_sizes: Positives = (5,) * 6  # taps, those that see the past and the present
    output_dim: Positive = 128  # width o between the decoder and the softmax
    # The layers of the decoder that attend to the source, from 1; None is all. Without any, the source is not read.
    attention_layers: LayerNumbers | None = None
    source_positions: bool = True  # trained vectors for the positions of the source
    target_positions: bool = True
    max_positions: Positive = 1024  # longest sequences, if there are positions
    # "code": attention comes before the residual connection, and queries and values are scaled by √.5. "text": the
    # order of the paper's text, without these scales.
    equations: Literal["code", "text"] = "code"
    # "softmax": target embeddings and softmax have one table. This needs output_dim = dim.
    tied_embeddings: Literal["softmax", "none"] = "none"
    weight_normalization: bool = True  # kernels are a direction times a trained length

    @property
    def attending_layers(self) -> tuple[int, ...]:
        """The numbers of the layers of the decoder that attend to the source, from 1."""
        all_layers = tuple(range(1, len(self.decoder_widths) + 1))
        return all_layers if self.attention_layers is None else self.attention_layers

    @property
    def problem_in_training(self) -> str | None:
        if self.attending_layers:
            return None
        return (
            "model.attention_layers is empty, so the decoder would not read the source. Give the number of at least "
            "one layer, or null for all layers."
        )

    @property
    def longest_sequence(self) -> int | None:
        return self.max_positions if self.source_positions or self.target_positions else None

    @model_validator(mode="after")
    def _check_layers(self) -> Self:
        for side in ("encoder", "decoder"):
            widths, kernel_sizes = getattr(self, f"{side}_widths"), getattr(self, f"{side}_kernel_sizes")
            if len(widths) != len(kernel_sizes):
                raise ValueError(
                    f"{side}_widths has {len(widths)} items and {side}_kernel_sizes has {len(kernel_sizes)}; give one"
                    " of each for every layer"
                )
        check_layer_numbers("attention_layers", self.attending_layers, len(self.decoder_widths))
        return self

    @model_validator(mode="after")
    def _check_tied_embeddings(self) -> Self:
        if self.tied_embeddings == "softmax" and self.output_dim != self.dim:
            raise ValueError(
                f"tied_embeddings 'softmax' needs output_dim = dim, but they are {self.output_dim} and {self.dim}"
            )
        return self
