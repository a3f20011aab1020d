"""From the configuration of a model to the model."""

import importlib

from bytenet.config import ModelConfig
from bytenet.config.families import family_configs
from bytenet.models.translation_model import ProfilePart, TranslationModel


def model_class(config: ModelConfig) -> type[TranslationModel]:
    """The class of a family's models: the one of the module `bytenet.models.FAMILY` that takes such a configuration."""
    module = importlib.import_module(f"bytenet.models.{config.family}")
    return next(
        member
        for member in vars(module).values()
        if isinstance(member, type)
        and issubclass(member, TranslationModel)
        and getattr(member, "config_class", None) is type(config)
    )


def profile_parts() -> dict[str, ProfilePart]:
    """The parts that all families declare for profiles, by the name of the layer."""
    parts: dict[str, ProfilePart] = {}
    for config_class in family_configs().values():
        parts |= model_class(config_class()).profile_parts
    return parts


def build_model(config: ModelConfig, vocab_size: int) -> TranslationModel:
    """Make the model of a run; its weights exist, drawn from Keras's global seed.

    Args:
        config: of the model.
        vocab_size: number of ids, padding, end and unknown symbols counted.
    """
    model = model_class(config)(config, vocab_size, name=config.family)
    model.build({"source_ids": (None, None), "target_ids": (None, None)})
    return model
