"""The translators of a run, by the direction in which they translate."""

from dataclasses import dataclass
from typing import Literal

from bytenet.config import Config, SemiSupervisedConfig
from bytenet.datasets import Pairs

Side = Literal["source", "target"]
DIRECTIONS = ("forward", "backward")
#: For each side of monolingual text: the translator that translates it, and the one that translates it back.
FORTH_AND_BACK: dict[Side, tuple[str, str]] = {"source": ("forward", "backward"), "target": ("backward", "forward")}


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


def directions_trained(settings: SemiSupervisedConfig) -> list[str]:
    """The translators that learn."""
    return [name for name in DIRECTIONS if settings.trained in ("both", name)]


def directions_taught(side: Side, settings: SemiSupervisedConfig) -> list[str]:
    """The translators that learn from the text of a side. Back-translation teaches only the one that translates back.

    A translator that is not trained learns from no text.
    """
    forth, back = FORTH_AND_BACK[side]
    by_text = (forth, back) if settings.objective == "marginal" else (back,)
    return [name for name in directions_trained(settings) if name in by_text]
