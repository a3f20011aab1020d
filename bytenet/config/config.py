"""The configuration of a run."""

from dataclasses import asdict, field
from typing import Any, Self

from bytenet.config.checks import checked
from bytenet.config.families import DEFAULT_FAMILY, family_configs
from bytenet.config.model import ModelConfig
from bytenet.config.sections import (
    DataConfig,
    DecodingConfig,
    EvaluationConfig,
    SemiSupervisedConfig,
    TrainingConfig,
)
from bytenet.config.settings_text import write_settings


@checked
class Config:
    """The settings of a run, in sections."""

    model: ModelConfig = field(default_factory=family_configs()[DEFAULT_FAMILY])
    data: DataConfig = field(default_factory=DataConfig)
    training: TrainingConfig = field(default_factory=TrainingConfig)
    semi_supervised: SemiSupervisedConfig = field(default_factory=SemiSupervisedConfig)
    evaluation: EvaluationConfig = field(default_factory=EvaluationConfig)
    decoding: DecodingConfig = field(default_factory=DecodingConfig)

    @property
    def parts(self) -> tuple[str, ...]:
        """Names of the run folders inside the run's folder, one for each translator beside the first."""
        return self.semi_supervised.parts

    @property
    def has_start(self) -> bool:
        """Whether the run starts from a trained model, and takes over its settings."""
        if self.semi_supervised.enabled:
            return any(self.semi_supervised.starts.values())
        return self.training.start is not None

    @property
    def has_joint_statistics(self) -> bool:
        """Whether batch normalisation uses the statistics of all replicas, which then wait for each other in a step."""
        return self.model.has_batch_statistics and self.training.sync_batch_norm

    def to_yaml(self) -> str:
        """All settings as YAML, defaults included. `load_config` reads it back to an equal configuration."""
        return write_settings(asdict(self))

    def differences(self, other: Self) -> list[tuple[str, Any, Any]]:
        """Every dotted key whose value differs, with the value here and the value in `other`."""
        settings, other_settings = self.settings(), other.settings()
        keys = dict.fromkeys([*settings, *other_settings])  # different families have different keys
        return [
            (key, settings.get(key), other_settings.get(key))
            for key in keys
            if settings.get(key) != other_settings.get(key)
        ]

    def settings(self) -> dict[str, Any]:
        """All settings by their dotted keys."""
        return {f"{section}.{key}": value for section, values in asdict(self).items() for key, value in values.items()}
