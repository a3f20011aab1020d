"""Translation models. Each family is a subclass of `TranslationModel`."""

from bytenet.models.attention import AttentionModel
from bytenet.models.bytenet import ByteNet
from bytenet.models.registry import build_model, model_class
from bytenet.models.translation_model import TranslationModel

__all__ = ["AttentionModel", "ByteNet", "TranslationModel", "build_model", "model_class"]
