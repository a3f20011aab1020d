"""Find and build the model of a configuration."""

import importlib

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


def profile_parts() -> dict[str, ProfilePart]:
    """The profile parts of all families, by the name of the layer."""
    parts: dict[str, ProfilePart] = {}
    for config_class in family_configs().values():
        parts |= model_class(config_class).profile_parts
    return parts


def build_model(config: ModelConfig, vocab_size: int) -> TranslationModel:
    """Build a model with all its weights, drawn from Keras's global seed.

    Args:
        config: the model's configuration; its type determines the family.
        vocab_size: number of ids, with padding, end and unknown symbols.
    """
    model = model_class(type(config))(config, vocab_size, name=config.family)
    model.build({"source_ids": (None, None), "target_ids": (None, None)})
    return model
