"""What a run folder says of the training: its commands, versions, commits and machine."""

from typing import Annotated, Any

from pydantic import Field, with_config
from typing_extensions import TypedDict  # pydantic needs this one before Python 3.12

from bytenet.errors import MOST_LINE_CHARS


@with_config(extra="allow")
class Environment(TypedDict, total=False):
    """What `environment.json` holds, as far as it is read. Older versions did not write all of it."""

    commands: list[str]
    versions: dict[str, str | None]
    git_commit: str | None
    git_commits: list[str]
    machine: dict[str, Any]
    seed: int
    vocabulary: str
    trainable_parameters: int
    trained_lengths: list[Annotated[int, Field(ge=1, le=MOST_LINE_CHARS)]]


def commits_of(environment: Environment) -> list[str]:
    """The commits that trained a run, in order. There are several if it was resumed at another one."""
    last = environment.get("git_commit")
    return environment.get("git_commits", [last] if last else [])
