"""Translation models. Each family is a module with a subclass of `TranslationModel`."""

import importlib

from bytenet.config.families import family_configs
from bytenet.models.bytenet import ByteNet
from bytenet.models.convs2s import ConvS2S
from bytenet.models.ensemble import Ensemble
from bytenet.models.recurrent import RecurrentTranslator
from bytenet.models.registry import build_model, model_class
from bytenet.models.transformer import Transformer
from bytenet.models.translation_model import TranslationModel

__all__ = [
    "ByteNet",
    "ConvS2S",
    "Ensemble",
    "RecurrentTranslator",
    "Transformer",
    "TranslationModel",
    "build_model",
    "model_class",
]

# Keras can load a saved model only after the import of the module that registers its class.
for _family in family_configs():
    importlib.import_module(f"bytenet.models.{_family}")
