"""The configuration of a run: its sections, and the reading of presets, YAML files and --set."""

from bytenet.config.config import Config
from bytenet.config.length_policy import LengthPolicy
from bytenet.config.model import ModelConfig
from bytenet.config.reading import (
    PATH_KEYS,
    lacks_files,
    leaves_model_open,
    load_config,
    names_no_corpus,
    preset_names,
)
from bytenet.config.resuming import forbidden_changes
from bytenet.config.sections import DataConfig, DecodingConfig, EvaluationConfig, SemiSupervisedConfig
from bytenet.config.training import TrainingConfig

__all__ = [
    "PATH_KEYS",
    "Config",
    "DataConfig",
    "DecodingConfig",
    "EvaluationConfig",
    "LengthPolicy",
    "ModelConfig",
    "SemiSupervisedConfig",
    "TrainingConfig",
    "forbidden_changes",
    "lacks_files",
    "leaves_model_open",
    "load_config",
    "names_no_corpus",
    "preset_names",
]
