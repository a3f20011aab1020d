"""The trainings on Synthetic Digits."""

from bytenet.reproduction.engine.experiment import Basis, Scale
from bytenet.reproduction.figures.shared.curves import WATCHED
from bytenet.reproduction.figures.shared.thesis_settings import SELU_WEIGHTS
from bytenet.reproduction.jobs.training_run import TrainingRun

BASIS = Basis("trained, same size", "128 pairs, d = 20; all trainings have the same pairs")
TIME: dict[Scale, str] = {
    "smoke": "1 min",
    "cpu": "12 min for 5 seeds; the thesis's own size",
    "thesis": "as cpu, one training at a time",
}

_SMOKE = (
    "data.num_train=32", "data.num_validation=16", "training.epochs=2", "training.jit_compile=false",
    "model.num_sets=1", "evaluation.continuous_batch_size=16", "evaluation.continuous_every_steps=2",
)  # fmt: skip
# The validation set is the thesis's test set. The last model is kept, so the set selects nothing.
_FULL = ("evaluation.continuous_batch_size=128", "evaluation.continuous_every_steps=45", "evaluation.every_epochs=301")

SETTINGS = ("thesis", "default")
CODE = "code"


def digits_run(variant: str, settings: str, scale: Scale) -> TrainingRun:
    """The training of a variant.

    Args:
        variant: variant of the model.
        settings: "thesis", "default", or "code". "code" is for SELU: the settings of the thesis with the initial
            weights of the published code.
        scale: scale of the experiment.
    """
    preset, suffix = ("digits", "") if settings == "default" else ("digits-thesis", f"-{settings}")
    weights = (SELU_WEIGHTS,) if variant == "selu" and settings == "thesis" else ()
    overrides = (
        f"model.variant={variant}", "model.dim=20", "data.validation_seed=11", *weights, *WATCHED,
        *(_SMOKE if scale == "smoke" else _FULL),
    )  # fmt: skip
    thesis = None if settings == "thesis" else digits_run(variant, "thesis", "thesis")
    return TrainingRun(f"digits-{variant}{suffix}", preset, overrides, thesis=thesis)
