"""Find and build the model of a configuration."""

import importlib
from collections.abc import Mapping

from bytenet.config import ModelConfig
from bytenet.config.families import family_configs
from bytenet.models.translation_model import ProfilePart, TranslationModel


def model_class(config_class: type[ModelConfig]) -> type[TranslationModel]:
    """The model class of a family: the class in `bytenet.models.FAMILY` that takes this configuration class."""
    module = importlib.import_module(f"bytenet.models.{config_class.family}")
    return next(
        member
        for member in vars(module).values()
        if isinstance(member, type)
        and issubclass(member, TranslationModel)
        and getattr(member, "config_class", None) is config_class
    )


def profile_parts() -> dict[str, Mapping[str, ProfilePart]]:
    """The profile parts of each family, by the name of the layer. Layers with the same name have the same part."""
    return {family: model_class(config).profile_parts for family, config in family_configs().items()}


def build_model(config: ModelConfig, vocab_size: int, dtype: str | None = None) -> TranslationModel:
    """Build a model with all its weights, drawn from Keras's global seed.

    Args:
        config: the model's configuration; its type determines the family.
        vocab_size: number of ids, with padding, end and unknown symbols.
        dtype: name of Keras's dtype policy; None is the global one.
    """
    model = model_class(type(config))(config, vocab_size, name=config.model_name, dtype=dtype)
    model.build({"source_ids": (None, None), "target_ids": (None, None)})
    return model
