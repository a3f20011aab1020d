"""Settings as text: strict YAML in which every value has its place, for messages.

PyYAML follows YAML 1.1: `no` (the language code of Norwegian) is false, `1e-3` is text, `010` is eight, and of a
repeated key only the last value is kept, without a message. Here the core schema of YAML 1.2 is used for reading and
writing, and a repeated key is an error. Tags of other types, deep nesting, and aliases that expand to very much are
errors, too.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import yaml

from bytenet.errors import MOST_SHOWN_CHARS, ConfigError, shortened, shown
from bytenet.limits import MOST_CONFIG_BYTES

_INTEGER = r"[-+]?[0-9]+"
_FLOAT = r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)"
# Settings are numbers, words, lists and small mappings in a section: at most 4 levels.
_MOST_DEPTH = 20
# Values, keys and sections. What an alias repeats is counted again. A run's configuration has 150.
_MOST_NODES = 10_000


_OVERRIDE = "--set"


class Setting(NamedTuple):
    """A value, its dotted key ("training.epochs"), and the place where it was given, for messages."""

    key: str
    value: Any
    place: str

    @property
    def is_override(self) -> bool:
        """Whether it was given with `--set`."""
        return self.place.startswith(_OVERRIDE)


class _Core:
    """The implicit types of YAML 1.2's core schema: null, booleans, decimal integers and floats."""

    yaml_implicit_resolvers: dict = {}  # noqa: RUF012 - PyYAML's registry, filled below


class _Loader(_Core, yaml.SafeLoader):
    _depth = 0

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        self._depth += 1
        if self._depth > _MOST_DEPTH:
            raise yaml.composer.ComposerError(
                problem=f"values are nested deeper than {_MOST_DEPTH} levels", problem_mark=self.peek_event().start_mark
            )
        node = super().compose_node(parent, index)
        self._depth -= 1
        return node

    def construct_yaml_int(self, node: yaml.ScalarNode) -> int:
        return int(self.construct_scalar(node))


class _Dumper(_Core, yaml.SafeDumper):
    def ignore_aliases(self, data: object) -> bool:
        return True

    def represent_str(self, data: str) -> yaml.ScalarNode:
        # Without double quotes, PyYAML folds U+0085 and similar characters as line ends.
        return self.represent_scalar("tag:yaml.org,2002:str", data, style=None if data.isprintable() else '"')


# Only the types of the core schema. SafeLoader's others, such as !!timestamp, also fail in ways of their own.
_CORE_TAGS = ("null", "bool", "int", "float", "str", "seq", "map")
_Loader.yaml_constructors = {
    tag: constructor
    for tag, constructor in yaml.SafeLoader.yaml_constructors.items()
    if tag is None or tag.rpartition(":")[2] in _CORE_TAGS
}
_Loader.add_constructor("tag:yaml.org,2002:int", _Loader.construct_yaml_int)
_Dumper.add_representer(str, _Dumper.represent_str)
_Dumper.add_representer(tuple, yaml.representer.SafeRepresenter.represent_list)
for _class in (_Loader, _Dumper):
    for _tag, _pattern, _first in (
        ("null", r"~|null|Null|NULL|", ["~", "n", "N", ""]),
        ("bool", r"true|True|TRUE|false|False|FALSE", list("tTfF")),
        ("int", _INTEGER, list("-+0123456789")),
        ("float", _FLOAT, list("-+0123456789.")),
    ):
        _class.add_implicit_resolver(f"tag:yaml.org,2002:{_tag}", re.compile(f"^(?:{_pattern})$"), _first)


def _mapping(node: yaml.Node, expected: str, place: str) -> Iterator[tuple[str, yaml.Node]]:
    """The keys and values of a mapping node; a ConfigError if it is no mapping."""
    if not isinstance(node, yaml.MappingNode):
        where = _where(place, node.start_mark)
        actual = shown(node.value) if isinstance(node, yaml.ScalarNode) else "a list"
        raise ConfigError(f"{where}: expected {expected} as lines of `key: value`, but found {actual}.")
    for key_node, value_node in node.value:
        yield str(key_node.value), value_node


def _parse(text: str, place: str) -> tuple[yaml.Node | None, _Loader]:
    if len(text) > MOST_CONFIG_BYTES:
        raise ConfigError(
            f"{place}: this has {len(text):,} characters; expected settings, at most {MOST_CONFIG_BYTES:,}."
        )
    try:
        loader = _Loader(text)
        node = loader.get_single_node()
    except yaml.YAMLError as error:
        where = _where(place, getattr(error, "problem_mark", None))
        problem = getattr(error, "problem", None) or getattr(error, "reason", None) or str(error)
        hint = "Put values with special characters in quotes."
        raise ConfigError(f"{where}: this is not valid YAML: {problem}. {hint}") from None
    if node is not None:
        _check_nodes(node, place)
    return node, loader


def _check_nodes(root: yaml.Node, place: str) -> None:
    """Raise a ConfigError if aliases repeat very much or lead in a circle, a key is repeated, or a text cannot be used.

    A few lines of aliases of aliases can stand for billions of values. No file name has a NUL or half a surrogate pair.
    Of two equal keys, YAML's reader would keep the last one without a word.
    """
    waiting, count = [root], 0
    while waiting:
        node = waiting.pop()
        count += 1
        if count > _MOST_NODES:
            raise ConfigError(
                f"{place}: there are more than {_MOST_NODES:,} values. Does an alias (*name) repeat many?"
            )
        if isinstance(node, yaml.ScalarNode):
            if "\0" in node.value or any("\ud800" <= character <= "\udfff" for character in node.value):
                where = _where(place, node.start_mark)
                raise ConfigError(f"{where}: {shown(node.value)} has a NUL or half a surrogate pair. Remove it.")
        elif isinstance(node, yaml.MappingNode):
            _check_keys([key for key, _ in node.value], place)
            waiting.extend(child for pair in node.value for child in pair)
        else:
            waiting.extend(node.value)


def _check_keys(keys: Iterable[yaml.Node], place: str) -> None:
    """Raise a ConfigError if a mapping has a key twice."""
    earlier: set[str] = set()
    for key in keys:
        if str(key.value) in earlier:
            where = _where(place, key.start_mark)
            raise ConfigError(f"{where}: {shown(str(key.value))} is given twice. Remove one of the two.")
        earlier.add(str(key.value))


def _where(place: str, mark: yaml.Mark | None) -> str:
    """The place of a mark: file and line, or the text of a `--set`."""
    return place if mark is None or place.startswith(_OVERRIDE) else f"{place}:{mark.line + 1}"


def _construct(loader: _Loader, node: yaml.Node, place: str) -> Any:
    try:
        return loader.construct_object(node, deep=True)
    # The constructors raise others than YAMLError for `!!bool x`, `!!float x` and an integer of thousands of digits.
    except (yaml.YAMLError, ValueError, KeyError, TypeError, AttributeError, OverflowError) as error:
        text = str(error) if isinstance(error, ValueError) else f"a value does not fit its type ({error!r})"
        problem = shortened(getattr(error, "problem", None) or text, MOST_SHOWN_CHARS)
        raise ConfigError(f"{place}: {problem}.") from None


def read_settings(text: str, place: str) -> tuple[str | None, list[Setting]]:
    """Read YAML of the form `section: {key: value}`, with an optional `preset: NAME` beside the sections.

    Args:
        text: the YAML.
        place: the name of the file, for messages.

    Returns:
        The name under `preset`, or None; and the settings in the order of the file, each with its "file:line". A value
        at the top level that is no mapping is a setting without a section.

    Raises:
        ConfigError: the text is not valid YAML, a key is given twice, a section has a dot, or the preset is no text.
    """
    root, loader = _parse(text, place)
    preset: str | None = None
    settings: list[Setting] = []
    if root is None:
        return preset, settings
    for section, section_node in _mapping(root, "a configuration", place):
        if section == "preset":
            preset = _preset_name(loader, section_node, _where(place, section_node.start_mark))
            continue
        if isinstance(section_node, yaml.ScalarNode) and section_node.tag == "tag:yaml.org,2002:null":
            continue  # an empty section
        where = _where(place, section_node.start_mark)
        if not isinstance(section_node, yaml.MappingNode):
            name, _, key = section.partition(".")
            if key:
                raise ConfigError(
                    f"{where}: {shown(section)} is no section. Write `{name}:`, and below it the indented line "
                    f"`{key}: VALUE`."
                )
            settings.append(Setting(section, _construct(loader, section_node, where), where))
            continue
        for key, value_node in _mapping(section_node, f"the section {section!r}", place):
            where = _where(place, value_node.start_mark)
            settings.append(Setting(f"{section}.{key}", _construct(loader, value_node, where), where))
    return preset, settings


def _preset_name(loader: _Loader, node: yaml.Node, place: str) -> str | None:
    """The name of a preset; None for an empty value or null."""
    name = _construct(loader, node, place)
    if name is not None and not isinstance(name, str):
        raise ConfigError(f"{place}: preset is {shown(name)}; expected the name of a preset.")
    return name or None


def parse_override(text: str) -> Setting:
    """Read one `section.key=value` of the command line. The value is YAML (`1e-3`, `[1, 2]`, `null`, `text`).

    Raises:
        ConfigError: there is no `=`, or the value is not valid YAML or only a comment.
    """
    key, equals, value = text.partition("=")
    place = f"{_OVERRIDE} {shortened(text, MOST_SHOWN_CHARS)}"
    if not equals or not key.strip():
        raise ConfigError(f"{place}: expected section.key=value, for example --set training.epochs=5.")
    node, loader = _parse(value, place)
    if node is None and value.strip().startswith("#"):
        raise ConfigError(f"{place}: # begins a comment in YAML, so there is no value. Put the value in quotes.")
    return Setting(key.strip(), None if node is None else _construct(loader, node, place), place)


def write_settings(sections: Mapping[str, Mapping[str, Any]]) -> str:
    """Write sections of settings as YAML that `read_settings` reads back to the same values."""
    return yaml.dump(dict(sections), Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=100)


def write_value(value: Any) -> str:
    """Write one value on one line, as `parse_override` reads it back."""
    flow = yaml.dump([value], Dumper=_Dumper, default_flow_style=True, allow_unicode=True, width=float("inf"))
    return flow.removeprefix("[").removesuffix("]\n")
