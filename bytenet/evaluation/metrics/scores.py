"""The one form in which every measure of quality is handed on."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Score:
    """A measured value with what is needed to judge and to repeat it.

    Attributes:
        name: of the measure.
        value: in the unit of the measure (BLEU and chrF 0 to 100, rates 0 to 1).
        num_sentences: how many sentences it was measured on.
        settings: how it was measured; sacreBLEU's signature where there is one.
        interval: the 95 % bootstrap interval (low, high), or None where none was asked for.
        digits: decimals that are printed.
    """

    name: str
    value: float
    num_sentences: int
    settings: str = ""
    interval: tuple[float, float] | None = None
    digits: int = 2

    def __str__(self) -> str:
        parts = [f"{self.name} {self.value:.{self.digits}f}"]
        if self.interval is not None:
            low, high = self.interval
            parts.append(f"[{low:.{self.digits}f}, {high:.{self.digits}f}]")
        parts.append(f"({self.num_sentences} sentence{'' if self.num_sentences == 1 else 's'})")
        if self.settings:
            parts.append(self.settings)
        return " ".join(parts)

    def to_dict(self) -> dict[str, Any]:
        """What `str` shows and the unrounded numbers, as JSON takes it."""
        return {
            "name": self.name,
            "value": self.value,
            "interval": None if self.interval is None else list(self.interval),
            "digits": self.digits,
            "settings": self.settings,
            "num_sentences": self.num_sentences,
        }
