"""The page on all results, from hand-made ones."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bytenet.experiments import Experiment, Needs, TrainingRun, Verdict
from bytenet.experiments.differences import differences_page
from bytenet.experiments.page import write_page
from bytenet.experiments.results import ResultFiles, write_record, write_table
from bytenet.markdown import cell, code, table

MACHINE = {"cores": 2, "processor": "Some CPU", "platform": "Linux"}
FACTS = {
    "git_commit": "abc", "machine": MACHINE, "versions": {"python": "3.11", "keras": "3.15"}, "seeds": 5,
    "differs_from_the_thesis": [],
}  # fmt: skip


def experiment(name, **arguments):
    return Experiment(name=name, title=f"Title of {name}", thesis=f"The thesis on {name}.", **arguments)


EXPERIMENTS = [
    experiment(
        "fig-1.1",
        needs=Needs(),
        measure=lambda work: [],
        plot=lambda table, path: None,
        runs=lambda scale: [TrainingRun("one", "digits")],
    ),
    experiment("tab-1.2", needs=Needs(), measure=lambda work: []),
    experiment(
        "fig-1.3",
        needs=Needs(corpus="Much text", time={"smoke": "1 s", "cpu": "2 h", "thesis": "3 days"}),
        measure=lambda work: [],
    ),
]


@pytest.fixture
def page(tmp_path, monkeypatch):
    """A function that writes the page and gives its text."""
    monkeypatch.setattr("bytenet.experiments.page.all_experiments", lambda: EXPERIMENTS)

    def write():
        path = tmp_path / "docs" / "reproduction.md"
        write_page(path, tmp_path / "docs" / "reproduction")
        return path.read_text(encoding="utf-8")

    return write


@pytest.fixture
def result(tmp_path):
    """A function that leaves a result."""
    folder = tmp_path / "docs" / "reproduction"
    folder.mkdir(parents=True)

    def leave(name, scale="cpu", verdicts=(), rows=({"x": 1, "y": 2.0},), picture=True, **facts):
        files = ResultFiles(folder, name, scale)
        write_table(files.data, list(rows))
        write_record(files, list(verdicts), FACTS | facts)
        if picture:
            files.picture.write_bytes(b"picture")

    return leave


def row_of(text, start):
    (line,) = [line for line in text.split("\n") if line.startswith(f"| {start}")]
    return [part.strip() for part in re.split(r"(?<!\\)\|", line)[1:-1]]


def test_without_results_every_experiment_says_what_it_needs(page):
    text = page()
    assert "0 of 3 figures and tables have a result" in text
    assert row_of(text, "fig-1.3")[-1] == "not run: needs Much text; cpu: 2 h; thesis: 3 days"
    assert row_of(text, "fig-1.1")[-1] == "not run: needs no corpus"
    assert "None so far." in text


def test_a_verdict_has_its_numbers_and_a_link_to_its_section(page, result):
    result("fig-1.1", verdicts=[
        Verdict(quantity="error", printed=0.3, measured=0.281234, interval=(0.25, 0.31), seeds=5, outcome="agrees"),
        Verdict(quantity="effect", printed="there", measured="gone", outcome="not shown", note="a|b"),
    ])  # fmt: skip
    text = page()
    link = "[fig-1.1](#fig-11-title-of-fig-11)"
    lines = [line for line in text.split("\n") if line.startswith(f"| {link}")]
    assert lines == [
        f"| {link} | error | 0.3 | 0.281 | 0.25 to 0.31 | 5 | cpu | **agrees** |",
        f"| {link} | effect | there | gone |  | 1 | cpu | **not shown**: a\\|b |",
    ]
    assert "\n## fig-1.1: Title of fig-1.1\n\n*The thesis:* The thesis on fig-1.1.\n\n![Title of fig-1.1]" in text
    assert "](reproduction/fig-1.1-cpu.png)" in text
    assert "- data: [fig-1.1-cpu.csv](reproduction/fig-1.1-cpu.csv)" in text
    assert "- command: `bytenet reproduce fig-1.1 --scale cpu --seeds 5`" in text


def test_where_nothing_is_trained_there_are_no_seeds(page, result):
    result("tab-1.2", verdicts=[Verdict(quantity="count", printed=1596, measured=2169, contradicts=True)])
    text = page()
    link = "[tab-1.2](#tab-12-title-of-tab-12)"
    assert f"| {link} | count | 1596 | 2169 |  |  | cpu |" in text
    assert f"- {link}, count: the thesis has 1596, measured 2169 (scale cpu).\n" in text
    assert "- command: `bytenet reproduce tab-1.2 --scale cpu`\n" in text


def test_contradictions_are_findings(page, result):
    result("fig-1.1", verdicts=[
        Verdict(quantity="a", printed=1.0, measured=2.0, interval=(1.5, 2.5), seeds=3, note="so", contradicts=True),
        Verdict(quantity="b", printed=1.0, measured=2.0),
        Verdict(quantity="c", printed="little", measured="much", contradicts=True),
    ])  # fmt: skip
    findings = page().partition("## Findings that contradict the thesis\n\n")[2].partition("\n\n##")[0].split("\n")
    link = "[fig-1.1](#fig-11-title-of-fig-11)"
    assert findings == [
        f"- {link}, a: the thesis has 1, measured 2 (95 % interval 1.5 to 2.5, 3 seeds, scale cpu); so.",
        f"- {link}, c: the thesis has “little”, measured much (1 seed, scale cpu).",
    ]


@pytest.mark.parametrize(
    ("scales", "shown"),
    [(["cpu"], "cpu"), (["smoke", "cpu"], "cpu"), (["cpu", "thesis"], "thesis"), (["smoke"], None), ([], None)],
)
def test_the_largest_scale_is_shown_and_smoke_never(page, result, scales, shown):
    for scale in scales:
        result("fig-1.1", scale)
    text = page()
    assert "smoke" not in text
    assert (f"fig-1.1-{shown}.png" in text) == (shown is not None)
    assert text.count("\n## fig-1.1") == (shown is not None)


def test_a_table_is_shown_cut_and_harmless(page, result):
    rows = [{"source": f"{index}|\u2028*", "long": "x" * 1000, "value": 1 / 3} for index in range(30)]
    result("tab-1.2", rows=rows, picture=False)
    text = page()
    assert row_of(text, "source ") == ["source", "long", "value"]
    assert row_of(text, r"0\|") == [r"0\| \*", "x" * 159 + "…", "0.333"]
    assert "\u2028" not in text
    assert r"| 11\|" in text
    assert r"| 12\|" not in text
    assert "The first 12 of 30 rows." in text
    assert "![" not in text


def test_conditions_are_told_once_and_where_they_differ(page, result):
    result("fig-1.1")
    result("tab-1.2", git_commit="def", differs_from_the_thesis=["data.batch_size 8 (64)", "model.dim 20 (400)"])
    head, _, sections = page().partition("## Findings")
    for label, value in (
        ("commit", "abc"), ("machine", "2 cores, Some CPU, Linux"), ("versions", "python 3.11, keras 3.15"),
    ):  # fmt: skip
        assert f"| {label} | {value} |" in head
    assert "- commit: def" in sections
    assert sections.count("- commit: ") == 1
    assert "- machine: " not in sections
    assert "- settings (the thesis's): `data.batch_size 8 (64)`; `model.dim 20 (400)`" in sections


def test_the_page_on_the_code_lies_beside_it(page, tmp_path):
    text = page()
    assert "](thesis-and-code.md)" in text
    assert (tmp_path / "docs" / "thesis-and-code.md").read_text(encoding="utf-8") == differences_page()


def test_every_link_leads_somewhere(page, result, tmp_path):
    for name in ("fig-1.1", "tab-1.2"):
        result(name, verdicts=[Verdict(quantity="a", printed=1.0, measured=2.0, contradicts=True)])
    text = page()
    anchors = {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in re.findall("(?m)^## (.*)$", text)}
    links = re.findall(r"\]\(([^)]+)\)", text)
    assert len(links) > 6
    for link in links:
        if link.startswith("#"):
            assert link[1:] in anchors
        else:
            assert (tmp_path / "docs" / link).is_file()


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


def test_code_has_no_backticks_or_line_ends_in_it():
    assert code("a `b`\n c") == "`a 'b' c`"
