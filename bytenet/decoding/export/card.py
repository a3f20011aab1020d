"""The card of a model: what it is, where it comes from, how good it is, and who may use it."""

import os
import shlex
from collections.abc import Iterable
from pathlib import Path

from bytenet.config import PATH_KEYS
from bytenet.datasets.corpora.entry import USERS_CORPORA
from bytenet.datasets.corpora.registry import find_entry
from bytenet.decoding.export.litert import Precision
from bytenet.errors import InputError, shown
from bytenet.lite.pretrained import is_pretrained
from bytenet.model_file import ModelFile
from bytenet.run_folder import RunFolder
from bytenet.saved.environment import Environment, commits_of
from bytenet.saved.evaluations import SavedScore, SavedSearch, saved_evaluations

FACTS = "{facts}"
"""Where a text of one's own for a card gets the facts that the run folder has."""

_SHOWN_SCORES = ("BLEU", "chrF2")


def model_card(model: RunFolder | ModelFile, precision: Precision = "float32", text: str = "") -> str:
    """A card, Markdown, without paths of this machine.

    Args:
        model: a run, or a model file, whose card has the facts about it.
        precision: that the weights are rounded to.
        text: the card, in which `FACTS` stands for the facts. An empty one gives a card of the facts alone, or the
            present card of a model file.
    """
    if isinstance(model, ModelFile):
        facts = model.facts | _precision(precision, model.facts)
        text = text or _with_facts(model.card, model.facts, facts)
    else:
        facts = _facts(model, precision)
        source, target = model.config.data.languages
        text = text or (
            f"# {model.config.model.kind}: {source} to {target}\n\n"
            f"A character-level translation model, trained and exported with bytenet.\n\n{FACTS}\n"
        )
    return text.replace(FACTS, _listed(facts))


def _listed(facts: dict[str, str]) -> str:
    return "\n".join(f"- {name}: {value}" for name, value in facts.items())


def _with_facts(card: str, earlier: dict[str, str], facts: dict[str, str]) -> str:
    """A card in which facts have other values, or are new."""
    for name, value in facts.items():
        if name in earlier:
            card = card.replace(_listed({name: earlier[name]}), _listed({name: value}))
        elif earlier:
            *_, last_name = earlier
            last = _listed({last_name: earlier[last_name]})
            card = card.replace(last, f"{last}\n{_listed({name: value})}")
    return card


def _precision(precision: Precision, facts: Iterable[str]) -> dict[str, str]:
    """The fact about rounded weights, if they are rounded, beside other facts."""
    if precision == "float32":
        return {}
    if not any(name.startswith("scores") for name in facts):
        return {"precision": precision}
    return {"precision": f"{precision}; the scores are those of the weights before they were rounded"}


def _facts(run: RunFolder, precision: Precision) -> dict[str, str]:
    config = run.config
    entry = find_entry(config.data.corpus)
    is_own = entry.name in USERS_CORPORA
    environment: Environment = run.environment() if run.environment_path.is_file() else {}
    scores = _scores(run)
    facts = {
        "languages": " to ".join(config.data.languages),
        "corpus": "text files of the user who trained it" if is_own else f"{entry.name}, {entry.description}",
        "sentences": f"up to {config.data.max_length} characters in training; longer ones are split",
        "licence": "not stated; it is that of the training text" if is_own else entry.licence,
        **scores,
        **_precision(precision, scores),
    }
    facts["alphabet"] = f"{len(run.vocabulary.characters)} characters"
    if parameters := environment.get("trainable_parameters"):
        facts["trainable parameters"] = f"{parameters:,}"
    if commands := environment.get("commands"):
        facts["training"] = ", then ".join(f"`{command}`" for command in dict.fromkeys(map(_without_paths, commands)))
    if commits := commits_of(environment):
        facts["commit of the training"] = ", then ".join(commits)
    return facts


def _scores(run: RunFolder) -> dict[str, str]:
    """A fact for each test set: its scores with their intervals."""
    facts = {}
    for name, evaluation in saved_evaluations(run.evaluation, run.model_sha256).items():
        scores = [_shown(score) for score in evaluation["scores"] if score["name"] in _SHOWN_SCORES]
        if scores:
            facts[f"scores on {name}"] = (
                f"{', '.join(scores)}; {evaluation['num_sentences']:,} sentences, {_search(evaluation['settings'])}"
            )
    return facts


def _shown(score: SavedScore) -> str:
    interval = score["interval"]
    shown = f"{score['name']} {score['value']:.1f}"
    return shown if interval is None else f"{shown} ({interval[0]:.1f} to {interval[1]:.1f})"


def _search(settings: SavedSearch) -> str:
    beam_size, samples, reranker = settings.get("beam_size"), settings.get("samples"), settings.get("rerank_with")
    if samples:
        shown = "one random sample" if samples == 1 else f"the best of {samples} random samples"
    else:
        shown = "greedy search" if beam_size == 1 else f"beam of {beam_size}"
    if settings.get("mbr"):
        shown += " by minimum Bayes risk"
    return shown if reranker is None else f"{shown} reranked with {Path(reranker).name}"


def _without_paths(command: str) -> str:
    """A command as users type it. Names of folders and of text files become dots. That of a settings file stays."""
    try:
        _, *words = shlex.split(command)
    except ValueError:
        raise InputError(f"environment.json of the run is damaged: {shown(command)} is no command.") from None
    return shlex.join(["bytenet", *map(_without_path, ["", *words], words)])


def _without_path(previous: str, word: str) -> str:
    """A word of a command without paths.

    Args:
        previous: the word before it.
        word: the word.
    """
    if previous == "--run" or os.sep in word:
        return "..."
    option = "--set=" if word.startswith("--set=") else ""
    key, equals, value = word.removeprefix(option).partition("=")
    if equals and (key == "--run" or (key in PATH_KEYS and not is_pretrained(value))):
        return f"{option}{key}=..."
    return word
