"""Settings that train as the thesis did."""

from bytenet.reproduction.engine.experiment import Scale
from bytenet.reproduction.figures.shared.curves import WATCHED

#: Initial weights of the thesis's SELU runs: eq. 3.5.2 with the fan of its code. We also tried the weights of the code
#: and eq. 3.5.2 itself. Only these weights give the first cross entropy of figure D.3.1. It is not known which weights
#: the thesis used, because the published code has no initialisation for SELU.
SELU_WEIGHTS = "model.initializer=thesis_selu"

#: Settings of the thesis's code for language that differ from the defaults.
AS_THESIS = (
    "model.settings=thesis", "data.min_length=0", "data.unknown=drop", "training.loss=sentence",
    "training.clip_norm=null", "training.keep_model=last", "evaluation.batch_norm_statistics=batch",
    "decoding.length_penalty=0.0", *WATCHED,
)  # fmt: skip

_SMALL_WIDTHS: dict[Scale, int] = {"smoke": 8, "cpu": 64}


def width_settings(variant: str, scale: Scale) -> tuple[str, ...]:
    """The width of a small model. Simplified ByteNet has half of ByteNet's width, as in the thesis (200 and 400).

    Returns:
        The setting; none at the scale "thesis", where each variant has its own width.
    """
    if scale == "thesis":
        return ()
    width = _SMALL_WIDTHS[scale]
    return (f"model.dim={width // 2 if variant.startswith('simplified') else width}",)
