"""How long a translation may be, given its source."""

from dataclasses import dataclass


@dataclass(frozen=True)
class LengthRule:
    """⌈scale · n + offset⌉ target symbols for n source symbols, end symbols counted on both sides.

    It is reckoned in whole hundredths, so that Python ints and int32 tensors give the same number.

    Args:
        scale: target symbols a source symbol, rounded to hundredths, at least .01.
        offset: symbols added, at least 0.

    Reference:
        Kalchbrenner et al. 2016, section 3.2 (dynamic unfolding, there with scale 1.2 and offset 0).
    """

    scale: float
    offset: int

    def __call__(self, source_length):
        """Apply the rule to an int or an int32 tensor of any shape."""
        hundredths = round(self.scale * 100)
        return (source_length * hundredths + 99) // 100 + self.offset


PAIR_LENGTH = LengthRule(scale=1.0, offset=0)
"""The rule of the thesis's code: the target is as long as the source, which was padded to the length of the pair."""


def make_length_rule(name: str, scale: float, offset: int) -> LengthRule:
    """The rule that a model is configured with.

    Args:
        name: "unfold", by `scale` and `offset`, or "pair".
        scale: as `LengthRule` has it.
        offset: as `LengthRule` has it.

    Returns:
        For "pair" `PAIR_LENGTH` itself.

    Raises:
        ValueError: another name.
    """
    if name not in ("unfold", "pair"):
        raise ValueError(f"Unknown length_rule {name!r}; known are unfold, pair.")
    return PAIR_LENGTH if name == "pair" else LengthRule(scale, offset)
