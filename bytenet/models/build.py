"""From a run's configuration to its model."""

from typing import TYPE_CHECKING, Any

from bytenet.models.attention import AttentionModel
from bytenet.models.bytenet import ByteNet
from bytenet.models.length import LengthRule, make_length_rule
from bytenet.models.translation_model import TranslationModel

if TYPE_CHECKING:
    from bytenet.config import ModelConfig

_FAMILIES = {"bytenet": ByteNet, "attention": AttentionModel}

# Settings of which None means the variant's own value, or the thesis's; a family without one refuses it when the
# configuration is checked.
_OPTIONAL = (
    "dim", "num_sets", "dilations", "encoder_kernel_size", "decoder_kernel_size", "mask_padding", "initializer",
    "norm_epsilon", "batch_norm_momentum", "length_rule",
)  # fmt: skip


def variant_arguments(config: "ModelConfig") -> dict[str, Any]:
    """The arguments that make the variant of a configuration, before any other setting changes them."""
    return _FAMILIES[config.family].variants[config.variant_name]


def length_rule_of(config: "ModelConfig") -> LengthRule:
    """How long the translations of the model of a run may be; `PAIR_LENGTH` itself for the rule "pair"."""
    thesis = _FAMILIES[config.family].thesis_settings if config.settings == "thesis" else {}
    name = config.length_rule or thesis.get("length_rule", "unfold")
    return make_length_rule(name, config.unfold_scale, config.unfold_offset)


def build_model(config: "ModelConfig", vocab_size: int) -> TranslationModel:
    """Make the model of a run; its weights exist, drawn from Keras's global seed.

    Args:
        config: what the user asked for; None means the variant's own value, or the thesis's with
            `settings: thesis`.
        vocab_size: number of ids, padding, end and unknown symbols counted.
    """
    chosen = {name: getattr(config, name) for name in _OPTIONAL if getattr(config, name) is not None}
    if config.family == "bytenet":
        chosen["join"] = config.join
    model = _FAMILIES[config.family].from_variant(
        config.variant_name,
        vocab_size,
        thesis=config.settings == "thesis",
        dropout=config.dropout,
        unfold_scale=config.unfold_scale,
        unfold_offset=config.unfold_offset,
        name=config.family,
        **chosen,
    )
    model.build({"source_ids": (None, None), "target_ids": (None, None)})
    return model
