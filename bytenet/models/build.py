"""From a run's configuration to its model."""

from typing import TYPE_CHECKING

from bytenet.models.bytenet import ByteNet
from bytenet.models.translation_model import TranslationModel

if TYPE_CHECKING:
    from bytenet.config import ModelConfig

_OPTIONAL = (
    "dim", "num_sets", "dilations", "encoder_kernel_size", "decoder_kernel_size", "mask_padding", "initializer",
    "norm_epsilon", "batch_norm_momentum", "length_rule",
)  # fmt: skip


def build_model(config: "ModelConfig", vocab_size: int) -> TranslationModel:
    """Make the model of a run; its weights exist, drawn from Keras's global seed.

    Args:
        config: what the user asked for; None means the variant's own value, or the thesis's with
            `settings: thesis`.
        vocab_size: number of ids, padding, end and unknown symbols counted.
    """
    chosen = {name: getattr(config, name) for name in _OPTIONAL if getattr(config, name) is not None}
    model = ByteNet.from_variant(
        config.variant,
        vocab_size,
        thesis=config.settings == "thesis",
        join=config.join,
        dropout=config.dropout,
        unfold_scale=config.unfold_scale,
        unfold_offset=config.unfold_offset,
        name=config.family,
        **chosen,
    )
    model.build({"source_ids": (None, None), "target_ids": (None, None)})
    return model
