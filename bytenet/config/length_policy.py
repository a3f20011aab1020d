"""How long a translation may be, given its source, and how sources are padded for it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class LengthPolicy:
    """The longest target of a source, and the padding of sources. Lengths count the end symbol.

    Attributes:
        rule: "unfold": ⌈scale · n + offset⌉ target symbols for n source symbols. "pair": as many as the source has
            after padding. In training and measuring, the source is then padded to the longer side of its pair, as in
            the thesis's code.
        scale: target symbols a source symbol, rounded to hundredths, at least .01.
        offset: symbols added, at least 0.
        reads_padding: whether the network reads padding like text, as in the thesis's code. A sentence's result then
            depends on its padding, so sentences are padded as in training wherever this is possible.

    Reference:
        Kalchbrenner et al. 2016, section 3.2 (dynamic unfolding, there with scale 1.2 and offset 0).
    """

    rule: Literal["unfold", "pair"] = "unfold"
    scale: float = 1.2
    offset: int = 24
    reads_padding: bool = False

    @property
    def pads_to_pair(self) -> bool:
        """Whether sources are padded to the longer side of their pair where the pair is known."""
        return self.rule == "pair"

    def max_target_length(self, source_length):
        """Longest target, for an int or an int32 tensor of any shape.

        The rule is computed in whole hundredths, so that Python ints and tensors give the same number.
        """
        if self.pads_to_pair:
            return source_length
        hundredths = round(self.scale * 100)
        return (source_length * hundredths + 99) // 100 + self.offset

    def search_length(self, source_length: int, longest_target: int) -> int:
        """How far a translation of a text without a reference is searched in training.

        Args:
            source_length: what the text is padded to.
            longest_target: the longest target of a training pair whose source is no longer.
        """
        return source_length if self.pads_to_pair else min(self.max_target_length(source_length), longest_target)

    def lengths_to_pad_to(self, trained_lengths: Sequence[int] | None) -> Sequence[int] | None:
        """The lengths that sentences have to be padded to, ascending, or None where any will do.

        Args:
            trained_lengths: what the training padded its pairs to.
        """
        return trained_lengths if self.reads_padding else None
