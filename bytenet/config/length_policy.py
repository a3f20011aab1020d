"""The longest translation of a source, and the padding of sources."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from bytenet.errors import InputError


@dataclass(frozen=True)
class LengthPolicy:
    """The longest target of a source, and the padding of sources. Lengths include the end symbol.

    Attributes:
        rule: "unfold": at most ⌈scale · n + offset⌉ target symbols for n source symbols. "pair": at most as many target
            symbols as the source has. In training and evaluation, the longer side of the pair counts instead, and
            sources are padded to it, as in the thesis's code.
        scale: target symbols for each source symbol, rounded to hundredths, at least .01.
        offset: additional target symbols, at least 0.
        reads_padding: whether the network reads padding like text, as in the thesis's code. The result for a sentence
            then depends on its padding, so sentences are padded as in training wherever possible.
        longest: the length of the longest source or target that the network can read; None for no limit.

    Reference:
        Kalchbrenner et al. 2016, section 3.2 (dynamic unfolding, there with scale 1.2 and offset 0).
    """

    rule: Literal["unfold", "pair"] = "unfold"
    scale: float = 1.2
    offset: int = 24
    reads_padding: bool = False
    longest: int | None = None

    @property
    def pads_to_pair(self) -> bool:
        """Whether sources are padded to the longer side of their pair, if the pair is known."""
        return self.rule == "pair"

    def check(self, length: int) -> None:
        """Raise an InputError if the network cannot read a source or target of this length."""
        if self.longest is not None and length > self.longest:
            raise InputError(
                f"The model reads at most {self.longest:,} symbols, but {length:,} were asked for. Choose a shorter "
                "length, or a model with a larger model.max_positions."
            )

    def max_target_length(self, source_length: Any) -> Any:
        """The length of the longest target, for an int or an int32 tensor of any shape.

        The rule is computed in whole hundredths, so that Python ints and tensors give the same number.
        """
        if self.pads_to_pair:
            return source_length
        hundredths = round(self.scale * 100)
        length = (source_length * hundredths + 99) // 100 + self.offset
        if self.longest is None:
            return length
        return (length + self.longest - abs(length - self.longest)) // 2  # the smaller one, also for tensors

    def search_length(self, source_length: int, longest_target: int) -> int:
        """The length up to which training searches a translation of a text without a reference.

        Args:
            source_length: padded length of the text.
            longest_target: length of the longest target among the training pairs with sources of at most this length.
        """
        return source_length if self.pads_to_pair else min(self.max_target_length(source_length), longest_target)

    def lengths_to_pad_to(self, trained_lengths: Sequence[int] | None) -> Sequence[int] | None:
        """The lengths to which sentences must be padded, ascending, or None if any length is possible.

        Args:
            trained_lengths: the padded lengths of the training.
        """
        return trained_lengths if self.reads_padding else None
