"""The evaluation of a trained model on one test set, and its files in the run folder."""

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NotRequired

from pydantic import with_config
from typing_extensions import TypedDict  # pydantic needs this one before Python 3.12

from bytenet.errors import MissingFileError
from bytenet.evaluation.metrics.scores import Score
from bytenet.files import write_text_atomic
from bytenet.limits import read_json
from bytenet.markdown import cell, table
from bytenet.run_folder import RunFolder

NUM_SAMPLES = 20
_HYPOTHESES = "hypotheses.txt"


class SavedScore(TypedDict):
    """What `Score.to_dict` gives, as far as it is read."""

    name: str
    value: float
    interval: tuple[float, float] | None
    settings: str
    digits: NotRequired[int]  # older versions did not save them


@with_config(extra="allow")
class SavedSearch(TypedDict):
    """The options of a search. Those that are not listed here may have any value."""

    beam_size: NotRequired[int]
    samples: NotRequired[int]
    rerank_with: NotRequired[str]
    mbr: NotRequired[bool]


class SavedEvaluation(TypedDict):
    """What `Evaluation.to_dict` gives, as far as it is read."""

    num_sentences: int
    scores: list[SavedScore]
    settings: SavedSearch
    seconds: float
    characters_per_second: float


@dataclass(frozen=True)
class Evaluation:
    """Scores and translations of one test set.

    Attributes:
        name: of the test set and of the files.
        sources, references, hypotheses: line by line.
        scores: all scores.
        settings: of the search, for JSON.
        seconds: time of the translation, compilation included.
        num_unended: number of translations that the length limit cut off.
    """

    name: str
    sources: Sequence[str]
    references: Sequence[str]
    hypotheses: Sequence[str]
    scores: Sequence[Score]
    settings: dict[str, Any]
    seconds: float
    num_unended: int

    def to_dict(self) -> dict[str, Any]:
        """Everything except the texts, for JSON."""
        return {
            "name": self.name,
            "num_sentences": len(self.hypotheses),
            "scores": [score.to_dict() for score in self.scores],
            "settings": self.settings,
            "seconds": self.seconds,
            "characters_per_second": sum(map(len, self.hypotheses)) / self.seconds,
            "num_unended": self.num_unended,
        }

    def save(self, folder: Path) -> list[Path]:
        """Write `NAME.json`, `NAME.hypotheses.txt` (one sentence a line) and `NAME.samples.md`.

        Each file is written completely or not at all.

        Returns:
            Their paths.

        Raises:
            InputError: the disk is full.
        """
        folder.mkdir(parents=True, exist_ok=True)
        contents = {
            "json": json.dumps(self.to_dict(), indent=2, ensure_ascii=False) + "\n",
            _HYPOTHESES: "".join(f"{hypothesis}\n" for hypothesis in self.hypotheses),
            "samples.md": samples_table(self.sources, self.references, self.hypotheses),
        }
        paths = [folder / f"{self.name}.{suffix}" for suffix in contents]
        for path, text in zip(paths, contents.values(), strict=True):
            write_text_atomic(path, text)
        return paths


def saved_evaluations(folder: Path) -> dict[str, SavedEvaluation]:
    """Read what `Evaluation.save` wrote into a folder.

    Returns:
        The evaluations by the name of their test set, in the order of the names.

    Raises:
        InputError: a file is damaged.
    """
    return {
        path.stem: read_json(path, SavedEvaluation, "the scores that `bytenet evaluate` wrote")
        for path in sorted(folder.glob("*.json"))
    }


def hypothesis_file(run_dir: str | os.PathLike[str], name: str) -> Path:
    """The file of translations that `bytenet evaluate` saved in a run folder.

    Args:
        run_dir: the run folder.
        name: of the evaluation.

    Raises:
        MissingFileError: the run has no such evaluation.
    """
    folder = RunFolder(run_dir).evaluation
    path = folder / f"{name}.{_HYPOTHESES}"
    if path.is_file():
        return path
    saved = sorted(other.name.removesuffix(f".{_HYPOTHESES}") for other in folder.glob(f"*.{_HYPOTHESES}"))
    raise MissingFileError(
        f"{folder} has no evaluation named {name}; it has {', '.join(saved) or 'none'}. Make it with "
        f"`bytenet evaluate {os.fspath(run_dir)}`{', or name one that it has' if saved else ''}."
    )


def samples_table(
    sources: Sequence[str], references: Sequence[str], hypotheses: Sequence[str], count: int = NUM_SAMPLES
) -> str:
    """A Markdown table of the first `count` translations beside their sources and references."""
    rows = list(zip(sources, references, hypotheses, strict=True))[:count]
    return table(("source", "reference", "translation"), [[cell(text) for text in row] for row in rows]) + "\n"
