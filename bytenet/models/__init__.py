"""Translation models; each keeps the promise of `TranslationModel`."""

from bytenet.models.build import build_model
from bytenet.models.bytenet import VARIANTS, ByteNet
from bytenet.models.length import LengthRule
from bytenet.models.translation_model import TranslationModel

__all__ = ["VARIANTS", "ByteNet", "LengthRule", "TranslationModel", "build_model"]
