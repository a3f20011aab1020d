"""A configuration as YAML for people: all its settings, with the comments of their source."""

import ast
import inspect
import re
import textwrap
from collections.abc import Iterator
from dataclasses import asdict, is_dataclass
from types import UnionType
from typing import Annotated, Any, Literal, NamedTuple, Union, get_args, get_origin, get_type_hints

from bytenet.config.config import Config
from bytenet.config.families import family_configs
from bytenet.config.model import ModelConfig
from bytenet.config.settings_text import write_value

_DIRECTIVE = "# fmt:"
_IMPLIED = "# Values behind # follow from variant and settings. To set one of them, remove its #."


class _Comments(NamedTuple):
    """The comments of a setting: the lines above it, and the end of its own line; with their "#"."""

    above: tuple[str, ...] = ()
    beside: str = ""


def described_yaml(config: Config) -> str:
    """All settings, each with its comment and its possible values.

    `load_config` reads the text back to an equal configuration. Values of the model that follow from its variant are
    comments, so that another variant brings its own values.
    """
    sections = ((name, getattr(config, name)) for name in asdict(config))
    return "\n".join(_section(name, section) for name, section in sections)


def _section(name: str, section: Any) -> str:
    kind = type(section)
    comments, types = _comments(kind), get_type_hints(kind, include_extras=True)
    implied = _implied(section) if isinstance(section, ModelConfig) else {}
    lines = [f"# {(kind.__doc__ or '').partition(chr(10))[0]}", *([_IMPLIED] if implied else []), f"{name}:"]
    for key, value in asdict(section).items():
        above, beside = comments.get(key, _Comments())
        lines += [f"  {line}" for line in above]
        if choices := _choices(kind, key, types[key]):
            lines += textwrap.wrap(
                f"Values: {', '.join(choices)}", 118, initial_indent="  # ", subsequent_indent="  #   "
            )
        mark = "# " if key in implied and implied[key] == value else ""
        lines.append(f"  {mark}{key}: {write_value(value)}{beside and f'  {beside}'}")
    return "\n".join(lines) + "\n"


def _implied(model: ModelConfig) -> dict[str, Any]:
    """The values that follow from family, variant and settings of a model."""
    implied = asdict(type(model)(family=model.family, variant=model.variant, settings=model.settings))
    return {key: value for key, value in implied.items() if key not in ("family", "variant", "settings")}


def _comments(kind: type[Any]) -> dict[str, _Comments]:
    """The comments of the settings of a class and of its bases. A subclass's own comment comes first."""
    comments: dict[str, _Comments] = {}
    for base in reversed(kind.__mro__):
        if is_dataclass(base):
            comments |= {name: own for name, own in _own_comments(base) if any(own) or name not in comments}
    return comments


def _own_comments(kind: type[Any]) -> Iterator[tuple[str, _Comments]]:
    lines = textwrap.dedent(inspect.getsource(kind)).split("\n")
    [definition] = ast.parse("\n".join(lines)).body
    assert isinstance(definition, ast.ClassDef)
    for node in definition.body:
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            first = node.lineno - 1
            while lines[first - 1].strip().startswith("#"):
                first -= 1
            # Offsets of `ast` count bytes.
            beside = lines[(node.end_lineno or 0) - 1].encode()[node.end_col_offset :].decode().strip()
            above = tuple(_as_yaml(line.strip()) for line in lines[first : node.lineno - 1])
            yield node.target.id, _Comments(above, "" if beside.startswith(_DIRECTIVE) else _as_yaml(beside))


def _as_yaml(comment: str) -> str:
    """A comment with YAML's name of None."""
    return re.sub(r"\bNone\b", "null", comment)


def _choices(kind: type[Any], key: str, annotation: Any) -> list[str]:
    """The possible values of a setting that has few; for others nothing."""
    if issubclass(kind, ModelConfig) and key in ("family", "variant"):
        return list(family_configs() if key == "family" else kind.VARIANTS)
    values = list(_literals(annotation))
    return [write_value(value) for value in values] if len(values) > 1 else []


def _literals(annotation: Any) -> Iterator[Any]:
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Literal:
        yield from arguments
    elif origin is Annotated:
        yield from _literals(arguments[0])
    elif origin in (Union, UnionType):
        values = [value for argument in arguments for value in _literals(argument)]
        if values and bool in arguments:
            yield from (True, False)
        yield from values
        if values and type(None) in arguments:
            yield None
