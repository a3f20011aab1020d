"""The sections of a configuration, without the model: frozen dataclasses that check their values.

Every setting has its default here. If None stands for a computed value, a comment says which.
"""

from bytenet.config.sections.data import DataConfig
from bytenet.config.sections.decoding import DecodingConfig
from bytenet.config.sections.evaluation import EvaluationConfig
from bytenet.config.sections.semi_supervised import SemiSupervisedConfig
from bytenet.config.sections.training import TrainingConfig

__all__ = ["DataConfig", "DecodingConfig", "EvaluationConfig", "SemiSupervisedConfig", "TrainingConfig"]
