"""Where the rows of joined results come from: where each was measured, and from which commit it was trained."""

from collections.abc import Mapping, Sequence
from typing import Any

from bytenet.reproduction.engine.merging import EarlierResults

_PLACE = ("git_commit", "machine")

Origin = dict[str, Any]
"""`git_commit` and `machine` of a measurement and, if it is known, `training_commits`.

The origin of an earlier row whose own one was not recorded is what its record says as a whole. Then the row may also
come from the places in `joined_with`, and from any of several `training_commits`.
"""


def provenance(
    environment: Mapping[str, Any], measured: Mapping[tuple[str, int], Sequence[str]], earlier: EarlierResults
) -> dict[str, Any]:
    """Where joined results were made, for their record.

    Args:
        environment: `versions`, `git_commit` and `machine` of this call.
        measured: the commits of each training that this call measured, by name and seed; none if they are unknown.
        earlier: the earlier results. Only the origins of rows that were not measured again count.

    Returns:
        The environment of the newest rows. `joined_with` has commit and machine of the other rows, oldest first.
        `training_commits` has the commits of all trainings. `origins` has the origin of each row, unless the other
        facts say the same: a list in which `trainings` has the seeds by the name of the training.
    """
    origins = {key: origin for key, origin in _recorded_origins(earlier).items() if key not in measured}
    for key, of_training in measured.items():
        origins[key] = _place(environment) | ({"training_commits": [*of_training]} if of_training else {})
    facts = dict(environment) if measured else {key: earlier.facts[key] for key in environment}
    others: list[Origin] = []
    commits: set[str] = set()
    for origin in origins.values():
        commits.update(origin.get("training_commits", ()))
        for place in (*origin.get("joined_with", ()), _place(origin)):
            if place != _place(facts) and place not in others:
                others.append(place)
    if others:
        facts["joined_with"] = others
    if commits:
        facts["training_commits"] = sorted(commits)
    if any(origin != _as_a_whole(facts) for origin in origins.values()):
        facts["origins"] = _grouped(origins)
    return facts


def _place(facts: Mapping[str, Any]) -> Origin:
    return {key: facts[key] for key in _PLACE}


def _as_a_whole(facts: Mapping[str, Any]) -> Origin:
    return {key: facts[key] for key in (*_PLACE, "joined_with", "training_commits") if key in facts}


def _recorded_origins(earlier: EarlierResults) -> dict[tuple[str, int], Origin]:
    """The origin of each earlier row, oldest first."""
    whole = _as_a_whole(earlier.facts)
    recorded = {
        (name, seed): {key: value for key, value in group.items() if key != "trainings"}
        for group in earlier.facts.get("origins", ())
        for name, seeds in group["trainings"].items()
        for seed in seeds
    }
    origins = {key: whole for key in earlier.rows if key not in recorded}
    return origins | {key: origin for key, origin in recorded.items() if key in earlier.rows}


def _grouped(origins: Mapping[tuple[str, int], Origin]) -> list[dict[str, Any]]:
    """The different origins, each with the seeds of its `trainings` by their name."""
    groups: list[tuple[Origin, dict[str, list[int]]]] = []
    for (name, seed), origin in origins.items():
        trainings = next((seeds for other, seeds in groups if other == origin), None)
        if trainings is None:
            groups.append((origin, trainings := {}))
        trainings.setdefault(name, []).append(seed)
    return [origin | {"trainings": trainings} for origin, trainings in groups]
