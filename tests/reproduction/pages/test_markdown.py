"""Markdown cells, tables and code can show any text."""

import re

from hypothesis import given
from hypothesis import strategies as st

from bytenet.markdown import cell, code, table


@given(text=st.text(), longest=st.none() | st.integers(1, 20))
def test_any_text_stays_in_its_cell(text, longest):
    shown = cell(text, longest)
    assert len(table(["a"], [[shown]]).splitlines()) == 3
    assert re.search(r"(?<!\\)(\\\\)*\|", shown) is None
    assert shown.isprintable()
    plain = re.sub(r"\\(.)", r"\1", shown)
    assert len(plain) == len(text) if longest is None else len(plain) <= longest
    if text.isprintable() and longest is None:
        assert plain == text


def test_code_contains_no_backticks_or_line_ends():
    assert code("a `b`\n c") == "`a 'b' c`"
