"""The value of a measure, with everything that is needed to judge and repeat it."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Score:
    """A score of translations.

    Attributes:
        name: of the measure.
        value: in the unit of the measure (BLEU and chrF 0 to 100, rates 0 to 1).
        num_sentences: number of sentences that were measured.
        settings: of the measurement; sacreBLEU's signature if there is one.
        interval: the 95 % interval (low, high), over resampled sentences; for a difference of means of trainings, also
            over trainings. None if it was not requested, or if there is too little to estimate it from.
        digits: number of printed decimals.
    """

    name: str
    value: float
    num_sentences: int
    settings: str = ""
    interval: tuple[float, float] | None = None
    digits: int = 2

    def __str__(self) -> str:
        parts = [self.name, self.rounded]
        parts.append(f"({self.num_sentences} sentence{'' if self.num_sentences == 1 else 's'})")
        if self.settings:
            parts.append(self.settings)
        return " ".join(parts)

    @property
    def rounded(self) -> str:
        """The value and, if there is one, the interval in brackets, rounded to `digits`."""
        value, *interval = (f"{number:.{self.digits}f}" for number in (self.value, *(self.interval or ())))
        return f"{value} [{', '.join(interval)}]" if interval else value

    def to_dict(self) -> dict[str, Any]:
        """All attributes, unrounded, for JSON."""
        return {
            "name": self.name,
            "value": self.value,
            "interval": None if self.interval is None else list(self.interval),
            "digits": self.digits,
            "settings": self.settings,
            "num_sentences": self.num_sentences,
        }
