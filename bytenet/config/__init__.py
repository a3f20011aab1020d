"""The configuration of a run: its sections, and the reading of presets, YAML files and --set."""

from bytenet.config.building import PATH_KEYS
from bytenet.config.config import Config
from bytenet.config.layered_settings import preset_names
from bytenet.config.length_policy import LengthPolicy
from bytenet.config.model import ModelConfig
from bytenet.config.reading import ConfigSources, load_config
from bytenet.config.resuming import fixed_settings, forbidden_changes
from bytenet.config.sections import (
    DataConfig,
    DecodingConfig,
    EvaluationConfig,
    SemiSupervisedConfig,
    TrainingConfig,
)

__all__ = [
    "PATH_KEYS",
    "Config",
    "ConfigSources",
    "DataConfig",
    "DecodingConfig",
    "EvaluationConfig",
    "LengthPolicy",
    "ModelConfig",
    "SemiSupervisedConfig",
    "TrainingConfig",
    "fixed_settings",
    "forbidden_changes",
    "load_config",
    "preset_names",
]
