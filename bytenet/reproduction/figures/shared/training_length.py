"""How long trainings beyond the thesis last, and their corpus at the smallest scale."""

import math

from bytenet.reproduction.engine.experiment import Scale

_SMOKE_STEPS, _SMOKE_STEPS_AN_EPOCH = 4, 3
#: The corpus of trainings at scale "smoke".
SMOKE_CORPUS = (
    "data.corpus=digits", "data.num_train=24", "data.num_validation=8", "data.num_test=8", "data.batch_chars=null",
    "data.batch_size=8", "data.num_buckets=1", "training.jit_compile=false",
)  # fmt: skip


def length_settings(scale: Scale, steps: int, steps_an_epoch: int, evaluations: int) -> tuple[str, ...]:
    """The settings for the length of a training, and for the number of its evaluations on the validation set.

    Args:
        scale: "smoke" trains a few steps.
        steps: number of steps.
        steps_an_epoch: number of steps in an epoch.
        evaluations: approximate number of evaluations.
    """
    if scale == "smoke":
        steps, steps_an_epoch = _SMOKE_STEPS, _SMOKE_STEPS_AN_EPOCH
    epochs = math.ceil(steps / steps_an_epoch)
    return (
        f"training.max_steps={steps}",
        f"training.epochs={epochs}",
        f"evaluation.every_epochs={max(1, round(epochs / evaluations))}",
    )
