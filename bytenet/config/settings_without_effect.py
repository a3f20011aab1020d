"""Settings that were changed, but have no effect because of other settings."""

from collections.abc import Collection, Iterator, Mapping
from types import MappingProxyType

from bytenet.config.config import Config

# The schedules that read a setting of the learning rate.
_SCHEDULES: Mapping[str, Collection[str]] = MappingProxyType(
    {
        "final_learning_rate": ("cosine", "inverse_sqrt", "linear", "plateau", "step"),
        "decay_factor": ("plateau", "step"),
        "decay_start_epoch": ("step",),
        "decay_every_epochs": ("step",),
        "plateau_rule": ("plateau",),
        "plateau_patience": ("plateau",),
    }
)


def settings_without_effect(config: Config) -> Iterator[str]:
    """A sentence for each reason why changed settings have no effect.

    Only settings that people often change in vain are checked: the size of the batches, and the learning rate.
    """
    data, training = config.data, config.training
    if data.batch_chars is not None and data.batch_size != type(data).batch_size:
        yield (
            f"data.batch_size {data.batch_size} has no effect, because data.batch_chars is {data.batch_chars}. Change "
            "data.batch_chars, or set it to null."
        )
    unread = [
        f"training.{name} {getattr(training, name)}"
        for name, schedules in _SCHEDULES.items()
        if training.schedule not in schedules and getattr(training, name) != getattr(type(training), name)
    ]
    if unread:
        have = "has" if len(unread) == 1 else "have"
        yield f"{' and '.join(unread)} {have} no effect, because training.schedule is {training.schedule}."
