"""The card of a model: what it is, where it comes from, and how good it is."""

from typing_extensions import TypedDict  # pydantic needs this one before Python 3.12

from bytenet.limits import read_json
from bytenet.model_file import ModelFile
from bytenet.run_folder import RunFolder


class _SavedScore(TypedDict):
    name: str
    value: float


class _SavedEvaluation(TypedDict):
    """The part of an evaluation's file that a card shows."""

    scores: list[_SavedScore]


def model_card(model: RunFolder | ModelFile) -> str:
    """A card from what a run folder says; the present card of a model file. Markdown, without paths of this machine."""
    if isinstance(model, ModelFile):
        return model.card
    config = model.config
    source, target = config.data.languages
    lines = [
        f"# {config.model.kind}: {source} to {target}",
        "",
        "A character-level translation model, trained and exported with bytenet.",
        "",
        f"- corpus: {config.data.corpus}, sentences of up to {config.data.max_length} characters",
        f"- alphabet: {len(model.vocabulary.characters)} characters",
    ]
    if model.environment_path.is_file():
        environment: dict[str, object] = {**model.environment()}
        names = {"trainable_parameters": "trainable parameters", "git_commit": "commit of the training"}
        lines += [f"- {words}: {environment[name]}" for name, words in names.items() if environment.get(name)]
    for path in sorted(model.evaluation.glob("*.json")):
        evaluation = read_json(path, _SavedEvaluation, "the scores that `bytenet evaluate` wrote")
        values = [
            f"{score['name']} {score['value']:.1f}"
            for score in evaluation["scores"]
            if score["name"] in ("BLEU", "chrF2")
        ]
        if values:
            lines.append(f"- {path.stem}: {', '.join(values)}")
    return "\n".join([*lines, "", "Its licence is that of the text it was trained on; nobody has stated it here.", ""])
