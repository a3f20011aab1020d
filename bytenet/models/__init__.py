"""Translation models; each keeps the promise of `TranslationModel`."""

from bytenet.models.attention import AttentionModel
from bytenet.models.build import build_model, length_rule_of, variant_arguments
from bytenet.models.bytenet import VARIANTS, ByteNet
from bytenet.models.length import PAIR_LENGTH, LengthRule
from bytenet.models.translation_model import TranslationModel

__all__ = [
    "PAIR_LENGTH",
    "VARIANTS",
    "AttentionModel",
    "ByteNet",
    "LengthRule",
    "TranslationModel",
    "build_model",
    "length_rule_of",
    "variant_arguments",
]
