"""Settings that were changed, but have no effect because of other settings."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType

from bytenet.config.config import Config
from bytenet.config.model import Condition

# For each setting that only some trainings read, the condition for these trainings.
_TRAINING_READ_WITH: Mapping[str, Condition] = MappingProxyType(
    {
        "final_learning_rate": {"schedule": ("cosine", "inverse_sqrt", "linear", "plateau", "step")},
        "decay_factor": {"schedule": ("plateau", "step")},
        "decay_start_epoch": {"schedule": ("step",)},
        "decay_every_epochs": {"schedule": ("step",)},
        "plateau_rule": {"schedule": ("plateau",)},
        "plateau_patience": {"schedule": ("plateau",), "plateau_rule": ("best",)},
    }
)


def settings_without_effect(config: Config) -> Iterator[str]:
    """A sentence for each reason why changed settings have no effect.

    Only settings that people often change in vain are checked: the size of the batches, the learning rate, settings of
    parts that the model does not have, and those of measurements that are not made.
    """
    data, training, model, evaluation = config.data, config.training, config.model, config.evaluation
    if data.batch_chars is not None and data.batch_size != type(data).batch_size:
        yield (
            f"data.batch_size {data.batch_size} has no effect, because data.batch_chars is {data.batch_chars}. Change "
            "data.batch_chars, or set it to null."
        )
    yield from _unread("training", training, type(training)(), _TRAINING_READ_WITH)
    usual = type(model)(family=model.family, variant=model.variant, settings=model.settings)
    yield from _unread("model", model, usual, model.READ_WITH)
    measures_batches = evaluation.continuous_every_seconds or evaluation.continuous_every_steps
    unread = changed_settings("evaluation", evaluation, ("continuous_train", "smoothing"))
    if unread and not measures_batches:
        yield without_effect(
            unread, "evaluation.continuous_every_seconds and evaluation.continuous_every_steps are null"
        )


def changed_settings(section: str, values: object, names: Iterable[str]) -> list[str]:
    """The settings of a section that do not have their defaults, each with its value.

    Args:
        section: of the settings.
        values: all settings of the section.
        names: of the settings to look at, without their section.
    """
    usual = type(values)()
    changed = (name for name in names if getattr(values, name) != getattr(usual, name))
    return [_with_value(section, name, getattr(values, name)) for name in changed]


def _with_value(section: str, name: str, value: object) -> str:
    return f"{section}.{name} {str(value).lower() if isinstance(value, bool) else value}"


def _unread(
    section: str, values: object, usual: object, read_with: Mapping[str, Condition | tuple[Condition, ...]]
) -> Iterator[str]:
    """A sentence for each setting whose value makes other changed settings have no effect."""
    unread: dict[str, list[str]] = {}
    for name, needed in read_with.items():
        value = getattr(values, name)
        if value == getattr(usual, name):
            continue
        conditions = needed if isinstance(needed, tuple) else (needed,)
        others = [
            [other for other, read_values in condition.items() if getattr(values, other) not in read_values]
            for condition in conditions
        ]
        if all(others):
            # The reason is of the condition that is nearest to being met.
            nearest, _ = min(zip(others, conditions, strict=True), key=lambda pair: len(pair[0]) / len(pair[1]))
            unread.setdefault(nearest[0], []).append(_with_value(section, name, value))
    for other, settings in unread.items():
        yield without_effect(settings, f"{section}.{other} is {getattr(values, other)}")


def without_effect(settings: Sequence[str], reason: str) -> str:
    """A sentence that says why changed settings, each with its value, have no effect."""
    names = " and ".join(filter(None, [", ".join(settings[:-1]), settings[-1]]))
    return f"{names} {'has' if len(settings) == 1 else 'have'} no effect, because {reason}."
