"""The translators of a run, by the direction in which they translate."""

from dataclasses import dataclass
from typing import Literal

from bytenet.config import Config
from bytenet.datasets import Pairs

Side = Literal["source", "target"]


@dataclass(frozen=True)
class Direction:
    """A translator of a run.

    Attributes:
        name: "forward", or "backward" for the other direction.
        config: configuration in the translator's run folder.
        train: the training pairs, as it reads and writes them.
        validation: the validation pairs likewise, if there are any.
        language: the language that it writes.
        reads, writes: sides of the corpus.
        learns: whether the run trains it.
        starts_trained: whether it starts from a trained model.
    """

    name: str
    config: Config
    train: Pairs
    validation: Pairs | None
    language: str
    reads: Side = "source"
    writes: Side = "target"
    learns: bool = True
    starts_trained: bool = False
