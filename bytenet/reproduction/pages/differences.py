"""The differences between the thesis's text, the thesis's code and this code, as a page of Markdown.

The rows are in differences.yaml, which explains their keys.
"""

import inspect
import re
from collections.abc import Mapping
from functools import cache
from typing import Annotated, Any

import yaml
from pydantic import ConfigDict, Field, TypeAdapter, ValidationError, model_validator
from pydantic.dataclasses import dataclass

from bytenet.markdown import table
from bytenet.reproduction.data import read_data

THESIS_REPOSITORY = "https://github.com/AndreasMadsen/master-thesis"

_checked = dataclass(frozen=True, kw_only=True, config=ConfigDict(extra="forbid"))
_SOURCE = re.compile(r"(?P<file>[a-z-]+\.tex):(?P<line>[1-9][0-9]*)")

Filled = Annotated[str, Field(min_length=1)]


@_checked
class LatexFile:
    """A LaTeX file of the thesis.

    Attributes:
        folder: its folder in the thesis's repository.
        commit: the commit whose lines are counted.
    """

    folder: Filled
    commit: Annotated[str, Field(pattern="^[0-9a-f]{40}$")]

    def address(self, name: str) -> str:
        """The address of the file at the commit.

        Args:
            name: its name.
        """
        return f"{THESIS_REPOSITORY}/blob/{self.commit}/{self.folder}/{name}"


@_checked
class Difference:
    """A row of the page. The cells are Markdown.

    Attributes:
        where: section, equation, figure or table of the thesis.
        thesis: what its text says. None: nothing.
        source: file and line of that text, several separated by ", ".
        code: what its code does or its data show. None: the same as the text, or nothing.
        here: what this project does.
        settings: the settings that change it: dotted keys, or "preset NAME".
    """

    where: Filled
    thesis: Filled | None = None
    source: Filled | None = None
    code: Filled | None = None
    here: Filled
    settings: tuple[Filled, ...] = ()

    @property
    def sources(self) -> tuple[str, ...]:
        """The places in the LaTeX, such as "result-setup.tex:5"."""
        return tuple(self.source.split(", ")) if self.source else ()

    @model_validator(mode="after")
    def _check(self) -> "Difference":
        if (self.thesis is None) != (self.source is None):
            raise ValueError("thesis and source belong together: what the thesis says, and where in its LaTeX")
        if self.thesis is None and self.code is None:
            raise ValueError("a row needs thesis or code; otherwise there is no difference")
        for source in self.sources:
            if not _SOURCE.fullmatch(source):
                raise ValueError(f'source {source!r} is not of the form "result-setup.tex:5, conclusion.tex:12"')
        return self


@_checked
class Differences:
    """The content of differences.yaml.

    Attributes:
        files: the LaTeX files, by name.
        sections: the rows, by subject.
    """

    files: dict[str, LatexFile]
    sections: dict[str, tuple[Difference, ...]]

    @property
    def rows(self) -> list[Difference]:
        """The rows of all sections."""
        return [row for rows in self.sections.values() for row in rows]

    @property
    def sources(self) -> list[str]:
        """All places in the LaTeX, each once, in the order of `files` and then of the lines."""
        places = {source for row in self.rows for source in row.sources}
        order = list(self.files)
        return sorted(places, key=lambda source: (order.index(source.partition(":")[0]), int(source.partition(":")[2])))

    @model_validator(mode="after")
    def _check(self) -> "Differences":
        named = {source.partition(":")[0] for row in self.rows for source in row.sources}
        if named - set(self.files):
            raise ValueError(
                f"sources name files that are not under files: {', '.join(sorted(named - set(self.files)))}"
            )
        if set(self.files) - named:
            raise ValueError(f"no source names these files: {', '.join(sorted(set(self.files) - named))}")
        return self


def parse_differences(text: str) -> Differences:
    """Read and check the rows.

    Args:
        text: the content of differences.yaml.

    Raises:
        ValueError: a key is unknown or missing, or a value is wrong. The message says where.
    """
    try:
        return TypeAdapter(Differences).validate_python(yaml.safe_load(text))
    except ValidationError as error:
        raise ValueError("differences.yaml: " + "; ".join(map(_problem, error.errors()))) from None


def _problem(error: Mapping[str, Any]) -> str:
    *place, key = map(str, error["loc"]) if error["loc"] else ("page",)
    if error["type"] == "unexpected_keyword_argument":
        model = Difference if "sections" in place else LatexFile if "files" in place else Differences
        keys = ", ".join(inspect.signature(model).parameters)
        return f"{'.'.join(place) or 'page'}: unknown key {key!r}; the keys are {keys}"
    return f"{'.'.join((*place, key))}: {error['msg']}"


@cache
def differences() -> Differences:
    """The rows of the page."""
    return parse_differences(read_data("differences.yaml"))


def source_links(source: str) -> str:
    """Links to lines of the thesis's LaTeX.

    Args:
        source: places such as "result-setup.tex:5", separated by ", ".

    Raises:
        KeyError: a file is not under `files` in differences.yaml.
    """
    return ", ".join(f"[{place}]({_address(differences(), place)})" for place in source.split(", "))


def differences_page(overview: str = "reproduction.md") -> str:
    """The page, as Markdown, with a table for each subject.

    Args:
        overview: name of the page beside it that gives an overview of all results.
    """
    content = differences()
    sections = [_INTRODUCTION, _files(content)]
    for subject, rows in content.sections.items():
        header = ("where in the thesis", "thesis's text", "thesis's code and data", "this code", "setting")
        sections.append(f"## {subject}\n\n{table(header, map(_cells, rows))}")
    sections.append("\n".join(f"[{source}]: {_address(content, source)}" for source in content.sources))
    page = "\n\n".join(sections) + "\n"
    return page.replace("[reproduction.md](reproduction.md", f"[{overview}]({overview}")


def _files(content: Differences) -> str:
    rows = [(f"[{name}]({file.address(name)})", f"`{file.commit[:10]}`") for name, file in content.files.items()]
    return f"{_ABOUT_LINES}\n\n{table(('LaTeX file', 'commit'), rows)}"


def _address(content: Differences, source: str) -> str:
    name, _, line = source.partition(":")
    return f"{content.files[name].address(name)}?plain=1#L{line}"


def _cells(row: Difference) -> tuple[str, ...]:
    where = "<br>".join((row.where, *(f"[{source}]" for source in row.sources)))
    return where, row.thesis or "–", row.code or "–", row.here, ", ".join(map(_setting, row.settings)) or "-"


def _setting(setting: str) -> str:
    return f"preset `{setting.removeprefix('preset ')}`" if setting.startswith("preset ") else f"`{setting}`"


_INTRODUCTION = f"""# The thesis's text, its code, and this code

This page lists the differences between the text of Andreas Madsen's thesis (2017), the code of the thesis, and this
project. [reproduction.md](reproduction.md) compares the thesis's figures and tables with ours.
[settings.md](settings.md) says which settings help.

How to read a row:

- "thesis's text": what the text says. "–": it says nothing.
- "thesis's code and data": what the code does, or what the author's data and figures show. "–": the same as the text,
  or nothing.
- "this code": what this project does. Our own conclusions and guesses are also here, marked as ours.
- "setting": the setting that changes it. "-": no setting does.
- "eq. 3.5.2" is an equation, "3.5.2" a section. Both have the numbers of the thesis's PDF.

For ByteNet, `model.settings: thesis` sets these choices of the thesis's code at once: `model.mask_padding`,
`model.initializer`, `model.norm_epsilon`, `model.batch_norm_momentum` and `model.length_rule`. For the family
`recurrent`, it sets `model.variant` to `madsen_bounded`, `model.mask_padding` and `model.length_rule`. For both, the
searches may also write any symbol. The preset `digits-thesis` sets the whole training, too.

The thesis and its code: <{THESIS_REPOSITORY}>. Paths that begin with `code/` are in that repository."""

_ABOUT_LINES = """Below each place is the line of its LaTeX, such as result-setup.tex:5. The lines are counted in these
versions, the last ones that we could read. A few sentences may have changed later. In section 2.2 the numbers of the
last equations are lower by one in the PDF than in this LaTeX, so there must be a later version."""
