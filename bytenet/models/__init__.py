"""Translation models; each keeps the promise of `TranslationModel`."""

from bytenet.models.attention import AttentionModel
from bytenet.models.build import build_model, variant_arguments
from bytenet.models.bytenet import VARIANTS, ByteNet
from bytenet.models.length import LengthRule
from bytenet.models.translation_model import TranslationModel

__all__ = [
    "VARIANTS",
    "AttentionModel",
    "ByteNet",
    "LengthRule",
    "TranslationModel",
    "build_model",
    "variant_arguments",
]
