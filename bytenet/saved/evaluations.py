"""The saved scores of a run, for pages and cards."""

from pathlib import Path
from typing import NotRequired

from pydantic import with_config
from typing_extensions import TypedDict  # pydantic needs this one before Python 3.12

from bytenet.files import PARTIAL
from bytenet.limits import read_json


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
    model_sha256: NotRequired[str | None]  # likewise


def saved_evaluations(folder: Path, model_sha256: str | None) -> dict[str, SavedEvaluation]:
    """Read what `Evaluation.save` wrote into a folder about a model.

    Args:
        folder: of the evaluations.
        model_sha256: the checksum of the model. Evaluations of other models, such as one that a longer training
            replaced, are left out. None reads all.

    Returns:
        The evaluations by the name of their test set, in the order of the names.

    Raises:
        InputError: a file is damaged.
    """
    evaluations = {
        path.stem: read_json(path, SavedEvaluation, "the scores that `bytenet evaluate` wrote")
        for path in sorted(folder.glob("*.json"))
        if not path.name.startswith(PARTIAL)
    }
    return {
        name: evaluation
        for name, evaluation in evaluations.items()
        if model_sha256 is None or evaluation.get("model_sha256") in (None, model_sha256)
    }
