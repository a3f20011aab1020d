"""Whether Simplified ByteNet has half of ByteNet's width in a result, as in the thesis."""

import re
from collections.abc import Sequence

from bytenet.reproduction.engine.verdict import Verdict
from bytenet.reproduction.figures.network.formulas import DIMS, weights_of_blocks

_WIDTH = re.compile(r"model\.dim (?P<here>\d+) \((?P<thesis>\d+)\)(?:: (?P<runs>.+))?")


def judged_by_width(verdict: Verdict, settings: Sequence[str] | None, simplified: str, bytenet: str) -> Verdict:
    """A verdict on Simplified ByteNet beside ByteNet; no claim if their widths have another ratio than the thesis's.

    Args:
        verdict: the verdict.
        settings: the settings that differ from the thesis's, as the record of the data names them; None: unknown.
        simplified: name of the training of Simplified ByteNet.
        bytenet: name of the training of ByteNet.
    """
    if settings is None:
        return verdict.unjudged("the widths of the models are not recorded")
    ratio = _width(settings, simplified, "simplified") / _width(settings, bytenet, "bytenet")
    of_thesis = DIMS["simplified"] / DIMS["bytenet"]
    if ratio == of_thesis:
        return verdict
    wide = "ByteNet's width" if ratio == 1 else f"{ratio:.3g} times ByteNet's width"
    return verdict.unjudged(
        f"Simplified has {wide} here, so {_ratio_of_weights(ratio):.3g} times its weights; the thesis's has "
        f"{_ratio_of_weights(of_thesis):.3g} times"
    )


def _width(settings: Sequence[str], run: str, variant: str) -> int:
    """The width of a run. It is the thesis's if no setting says otherwise."""
    for match in filter(None, map(_WIDTH.fullmatch, settings)):
        if match["runs"] is None or run in match["runs"].split(", "):
            return int(match["here"])
    return DIMS[variant]


def _ratio_of_weights(ratio: float) -> float:
    """Kernel weights of the blocks of Simplified ByteNet over those of a ByteNet that is 1 wide."""
    return weights_of_blocks("simplified", ratio) / weights_of_blocks("bytenet", 1.0)
