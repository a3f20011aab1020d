"""The comparison of pages detects every changed fact and ignores changed wording."""

import pytest

ROW = "| [fig-2.2.1](chapter-2.md#fig-221) | error | 0.3 | -0.281 | trained, smaller | **agrees**: 1 of 5 runs |\n"
PAGE = f"""# Results

We ran 45 of 46 figures with `model.dim 64 (400)`. See [the page](chapter-2.md#fig-221).

| figure | quantity | thesis | measured | evidence | verdict |
| --- | --- | --- | --- | --- | --- |
{ROW}
[place.tex:5]: https://github.com/thesis/place.tex#L5
"""


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("We ran 45 of 46 figures with `model.dim 64 (400)`.", "With `model.dim 64 (400)`, of 46 figures 45 were run."),
        ("1 of 5 runs", "of 5 runs, this is 1"),
        ("| figure | quantity |", "| picture | what |"),
    ],
)
def test_changed_wording_keeps_the_facts_of_a_page(page_facts, old, new):
    assert old in PAGE
    assert page_facts(PAGE.replace(old, new)) == page_facts(PAGE)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("45", "44"),
        ("-0.281", "0.281"),
        ("| 0.3 | -0.281 |", "| -0.281 | 0.3 |"),
        ("0.3 ", "0.30 "),
        ("dim 64", "dim 32"),
        ("model.dim", "model.width"),
        ("**agrees**", "**not reproduced**"),
        ("trained, smaller", "trained, same size"),
        ("](chapter-2.md", "](chapter-3.md"),
        ("#fig-221)", "#fig-222)"),
        ("#L5", "#L6"),
        ("[fig-2.2.1]", "[fig-2.2.2]"),
        ("1 of 5", "1 of six"),
        (ROW, ""),
    ],
)
def test_changed_fact_is_detected(page_facts, old, new):
    assert old in PAGE
    assert page_facts(PAGE.replace(old, new)) != page_facts(PAGE)
