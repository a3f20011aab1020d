"""The pages on all results, written from a few made-up results."""

import re
from typing import get_args

import pytest

from bytenet.errors import InputError
from bytenet.markdown import anchor
from bytenet.reproduction import Basis, Experiment, Needs, TrainingRun, Verdict
from bytenet.reproduction.engine.results import ResultFiles, write_record, write_table
from bytenet.reproduction.engine.verdict import Evidence
from bytenet.reproduction.pages.chapters import CHAPTERS, chapter_of
from bytenet.reproduction.pages.differences import differences_page, source_links
from bytenet.reproduction.pages.overview_page import CONTRADICTIONS, QUALIFICATIONS
from bytenet.reproduction.pages.write_pages import write_pages
from bytenet.reproduction.registry import all_experiments

MACHINE = {"cores": 2, "processor": "Some CPU", "platform": "Linux"}
FACTS = {
    "git_commit": "abc", "machine": MACHINE, "versions": {"python": "3.11", "keras": "3.15"}, "seeds": 5,
    "differs_from_the_thesis": [],
}  # fmt: skip


def experiment(name, evidence, **arguments):
    return Experiment(
        name=name, title=f"Title of {name}", thesis=f"The thesis on {name}.", basis=Basis(evidence, "64 pairs"),
        measure=lambda work: [], **arguments,
    )  # fmt: skip


EXPERIMENTS = [
    experiment(
        "fig-2.1", "trained, smaller", needs=Needs(), plot=lambda table, path: None,
        runs=lambda scale: [TrainingRun("one", "digits")],
    ),
    experiment("tab-3.1.2", "counted", needs=Needs()),
    experiment(
        "fig-3.3.3", "trained, smaller",
        needs=Needs(corpus="Much text", time={"smoke": "1 s", "cpu": "2 h", "thesis": "3 days"}),
    ),
]  # fmt: skip
FIGURE = "[fig-2.1](reproduction/chapter-2.md#fig-21-title-of-fig-21)"
TABLE = "[tab-3.1.2](reproduction/section-3.1.md#tab-312-title-of-tab-312)"


SOURCES = ("conclusion.tex:12", "conclusion.tex:14", "result-bytenet.tex:51")
FIRST, SECOND, COUNTED = map(source_links, SOURCES)


@pytest.fixture
def pages(tmp_path, monkeypatch):
    """A function that writes the pages and returns their texts by name. The overview page has the name ""."""
    monkeypatch.setattr("bytenet.reproduction.pages.write_pages.all_experiments", lambda: EXPERIMENTS)
    monkeypatch.setattr("bytenet.reproduction.pages.conclusions.read_conclusions", tuple)

    def write():
        path = tmp_path / "docs" / "reproduction.md"
        (tmp_path / "docs" / "reproduction").mkdir(parents=True, exist_ok=True)
        write_pages(path, tmp_path / "docs" / "reproduction")
        texts = {page.name: page.read_text(encoding="utf-8") for page in path.with_suffix("").glob("*.md")}
        return texts | {"": path.read_text(encoding="utf-8")}

    return write


def test_the_name_of_the_second_page_is_refused_for_the_overview(tmp_path):
    with pytest.raises(InputError, match=r"thesis-and-code\.md is the name of the second page\. Give --page another"):
        write_pages(tmp_path / "thesis-and-code.md", tmp_path / "results")
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def result(tmp_path):
    """A function that writes the files of a result."""
    folder = tmp_path / "docs" / "reproduction"
    folder.mkdir(parents=True)

    def leave(name, scale="cpu", verdicts=(), rows=({"x": 1, "y": 2.0},), picture=True, **facts):
        files = ResultFiles(folder, name, scale)
        write_table(files.data, list(rows))
        write_record(files, list(verdicts), FACTS | facts)
        if picture:
            files.picture.write_bytes(b"picture")

    return leave


def test_record_without_its_machine_is_named(pages, result, tmp_path):
    result("fig-2.1")
    (tmp_path / "docs" / "reproduction" / "fig-2.1-cpu.json").write_text('{"verdicts": []}', encoding="utf-8")
    with pytest.raises(InputError, match=r"fig-2\.1-cpu\.json is damaged .* Bring it back, or measure it again"):
        pages()


def section_of(text, heading):
    """The text between a heading and the next one."""
    return re.search(rf"(?ms)^#+ {re.escape(heading)}$(.*?)(?=^#|\Z)", text)[1]


def row_of(text, start):
    (line,) = [line for line in text.split("\n") if line.startswith(f"| {start}")]
    return [part.strip() for part in re.split(r"(?<!\\)\|", line)[1:-1]]


def test_every_experiment_has_a_chapter():
    for one in all_experiments():
        assert chapter_of(one.name) in CHAPTERS
        if one.name.startswith(("fig-", "tab-")):
            assert chapter_of(one.name) is not CHAPTERS[-1]
    assert chapter_of("attention-baseline").file_name == "section-3.6.md"


def test_page_explains_every_kind_of_evidence(pages):
    explained = re.findall(r'(?m)^  - "(.*?)"', section_of(pages()[""], "How to read the verdicts"))
    assert sorted(explained) == sorted(get_args(Evidence))


def test_experiments_without_results_list_their_needs(pages):
    text = pages()[""]
    assert re.search(r"\b0 of 3\b", text)
    for need in ("Much text", "2 h", "3 days"):
        assert need in row_of(text, "fig-3.3.3")[-1]
    assert row_of(text, "fig-2.1")[-1]
    assert not section_of(text, CONTRADICTIONS).strip().startswith("- ")


def test_verdict_row_has_numbers_evidence_and_link_to_its_section(pages, result):
    result("fig-2.1", verdicts=[
        Verdict(quantity="error", printed=0.3, measured=0.281234, interval=(0.25, 0.31), seeds=5, outcome="agrees"),
        Verdict(quantity="effect", printed="there", measured="gone", outcome="not shown", note="a|b",
                evidence="rescored"),
    ])  # fmt: skip
    texts = pages()
    lines = [line for line in texts[""].split("\n") if line.startswith(f"| {FIGURE}")]
    assert lines == [
        f"| {FIGURE} | error | 0.3 | 0.281 | 0.25 to 0.31 | 5 | 64 pairs | trained, smaller | **agrees** |",
        f"| {FIGURE} | effect | there | gone |  | 1 | 64 pairs | rescored | **not shown**: a\\|b |",
    ]
    section = texts["chapter-2.md"].partition("\n## fig-2.1: Title of fig-2.1\n")[2]
    for part in (
        "The thesis on fig-2.1.", "![Title of fig-2.1](fig-2.1-cpu.png)", "[fig-2.1-cpu.csv](fig-2.1-cpu.csv)",
        "`bytenet reproduce fig-2.1 --scale cpu --seeds 5`", "trained, smaller; size: 64 pairs", "**agrees**",
    ):  # fmt: skip
        assert part in section


def test_count_beside_trainings_has_no_seeds(pages, result):
    result("fig-2.1", verdicts=[
        Verdict(quantity="error", printed=0.3, measured=0.28),
        Verdict(quantity="count", printed=3, measured=3, evidence="counted"),
    ])  # fmt: skip
    text = pages()[""]
    assert f"| {FIGURE} | error | 0.3 | 0.28 |  | 1 | 64 pairs |" in text
    assert f"| {FIGURE} | count | 3 | 3 |  |  | 64 pairs |" in text


def test_page_says_that_all_figures_have_a_measurement(pages, result):
    for name in ("fig-2.1", "tab-3.1.2"):
        result(name)
    assert "2 of 3 have a measurement." in pages()[""]
    result("fig-3.3.3")
    assert "All have a measurement." in pages()[""]


def test_results_without_training_have_no_seeds(pages, result):
    finding = Verdict(quantity="count", printed=1596, measured=2169, contradicts=True, source=SOURCES[2])
    result("tab-3.1.2", verdicts=[finding])
    texts = pages()
    assert f"| {TABLE} | count | 1596 | 2169 |  |  | 64 pairs | counted |" in texts[""]
    (line,) = section_of(texts[""], CONTRADICTIONS).strip().split("\n")
    assert all(part in line for part in (TABLE, "count", "1596", COUNTED, "2169"))
    assert "seed" not in line
    assert "`bytenet reproduce tab-3.1.2 --scale cpu`\n" in texts["section-3.1.md"]


def test_contradictions_and_qualifications_are_listed_and_counted(pages, result):
    result("fig-2.1", verdicts=[
        Verdict(quantity="a", printed=1.0, measured=2.0, interval=(1.5, 2.5), seeds=3, note="so", contradicts=True,
                source=SOURCES[0]),
        Verdict(quantity="b", printed=1.0, measured=2.0, qualifies=True, source=SOURCES[0]),
        Verdict(quantity="c", printed="little", measured="much", contradicts=True, source=SOURCES[1]),
    ])  # fmt: skip
    text = pages()[""]
    first, second = section_of(text, CONTRADICTIONS).strip().split("\n")
    (third,) = section_of(text, QUALIFICATIONS).strip().split("\n")
    for line, numbers, parts in (
        (first, {"1", "2", "95", "1.5", "2.5", "3"}, (", a", FIRST, "trained, smaller", "so")),
        (second, {"1"}, (", c", "little", SECOND, "much")),
        (third, {"1", "2"}, (", b", FIRST, "trained, smaller")),
    ):
        assert line.startswith(f"- {FIGURE}")
        assert set(re.findall(r"[\d.]*\d", re.sub(r"\[[^]]*\]\([^)]*\)", "", line))) == numbers
        assert all(part in line for part in parts), line
    # The top of the page has their counts.
    counts = {target: number for number, target in re.findall(r"(\d+) \[[^]]+\]\(#([\w-]+)\)", text)}
    assert counts == {anchor(CONTRADICTIONS): "2", anchor(QUALIFICATIONS): "1"}


def test_top_of_the_page_counts_rows_without_a_claim_and_those_that_differ(pages, result):
    outcomes = ["agrees", "no claim", "no claim", "not shown", "other score", "not reproduced", "better"]
    result("fig-2.1", verdicts=[
        *(
            Verdict(quantity=str(number), printed=1.0, measured=2.0, outcome=outcome)
            for number, outcome in enumerate(outcomes)
        ),
        *(Verdict(quantity=words, printed=words, measured=2.0) for words in ("", "not compared", "not said: but less")),
    ])  # fmt: skip
    text = pages()[""]
    (line,) = [line for line in text.split("\n") if f"(#{anchor(CONTRADICTIONS)})" in line]
    assert re.findall(r"\d+", line) == ["10", "7", "2", "7", "3", "0", "0"]
    # all; with a statement of the thesis; of these: no claim, differ, contradict, qualify
    assert re.search(r"\b1 of 3\b", text)


def test_comparisons_beyond_the_thesis_are_on_their_own_page(pages, result, monkeypatch):
    beyond = experiment("search", "trained, beyond the thesis", needs=Needs(), is_thesis=False)
    monkeypatch.setattr("bytenet.reproduction.pages.write_pages.all_experiments", lambda: [*EXPERIMENTS, beyond])
    judged, unjudged = (
        Verdict(quantity=outcome, printed=1.0, measured=2.0, outcome=outcome) for outcome in ("not shown", "no claim")
    )
    result("fig-2.1", verdicts=[judged])
    result("search", verdicts=[judged, unjudged])
    lines = pages()[""].split("\n")
    (of_thesis,) = [line for line in lines if f"(#{anchor(CONTRADICTIONS)})" in line]
    assert re.findall(r"\d+", of_thesis) == ["1", "1", "0", "1", "1", "0", "0"]
    assert not [line for line in lines if line.startswith("| [search]")]  # the overview has no row of it
    text = pages()["beyond-the-thesis.md"]
    assert row_of(text, "not shown ") == ["not shown", "2", "", "", "not shown; 1"]
    assert row_of(text, "no claim ") == ["no claim", "2", "", "", "1"]


@pytest.mark.parametrize(("over_sentences", "interval"), [((1.25, 3.5), "1.25 to 3.5 (over sentences)"), (None, "")])
def test_chapter_shows_trainings_and_the_interval_over_sentences_of_a_single_one(
    pages, result, over_sentences, interval
):
    one = Verdict(quantity="a", printed="", measured=2.0, over_sentences=over_sentences)
    several = Verdict(quantity="b", printed="", measured=2.0, interval=(1.5, 2.5), seeds=3)
    result("fig-2.1", verdicts=[one, several])
    text = pages()["chapter-2.md"]
    assert row_of(text, "a ") == ["a", "", "2", interval, "1", "**no claim**"]
    assert row_of(text, "b ") == ["b", "", "2", "1.5 to 2.5", "3", "**no claim**"]


@pytest.mark.parametrize(
    ("scales", "shown", "evidence"),
    [
        (["cpu"], "cpu", "trained, smaller"), (["smoke", "cpu"], "cpu", "trained, smaller"),
        (["cpu", "thesis"], "thesis", "trained, same size"), (["smoke"], None, None), ([], None, None),
    ],
)  # fmt: skip
def test_largest_scale_is_shown_and_smoke_scale_never(pages, result, scales, shown, evidence):
    for scale in scales:
        result("fig-2.1", scale)
    texts = pages()
    assert ("chapter-2.md" in texts) == (shown is not None)
    if shown:
        assert "smoke" not in texts["chapter-2.md"]
        assert f"fig-2.1-{shown}.png" in texts["chapter-2.md"]
        assert texts["chapter-2.md"].count("\n## fig-2.1") == 1
        assert evidence in row_of(texts[""], FIGURE)


def test_long_table_is_shortened_and_escaped(pages, result):
    rows = [{"source": f"{index}|\u2028*", "long": "x" * 1000, "value": 1 / 3} for index in range(30)]
    result("tab-3.1.2", rows=rows, picture=False)
    text = pages()["section-3.1.md"]
    assert row_of(text, "source ") == ["source", "long", "value"]
    assert row_of(text, r"0\|") == [r"0\| \*", "x" * 159 + "…", "0.333"]
    assert "\u2028" not in text
    assert r"| 11\|" in text
    assert r"| 12\|" not in text
    assert re.search(r"\b12\b.*\b30\b", text.rpartition(r"| 11\|")[2])
    assert "![" not in text


def test_common_conditions_are_shown_once_and_exceptions_locally(pages, result):
    result("fig-2.1")
    result("tab-3.1.2", git_commit="def", differs_from_the_thesis=["data.batch_size 8 (64)", "model.dim 20 (400)"])
    texts = pages()
    for value in ("abc", "2 cores, Some CPU, Linux", "python 3.11, keras 3.15"):
        assert f" | {value} |" in texts[""]
    assert ": def\n" in texts["section-3.1.md"]
    assert "abc" not in texts["chapter-2.md"] + texts["section-3.1.md"]
    assert "Some CPU" not in texts["section-3.1.md"]
    assert "`data.batch_size 8 (64)`; `model.dim 20 (400)`" in texts["section-3.1.md"]


def test_page_on_the_code_is_written_and_linked(pages, tmp_path):
    assert "](thesis-and-code.md)" in pages()[""]
    assert (tmp_path / "docs" / "thesis-and-code.md").read_text(encoding="utf-8") == differences_page()


def test_every_link_has_an_existing_target(pages, result, tmp_path):
    for name in ("fig-2.1", "tab-3.1.2"):
        result(
            name,
            verdicts=[Verdict(quantity="a", printed=1.0, measured=2.0, contradicts=True, source=SOURCES[0])],
        )
    number = 0
    for name, text in pages().items():
        folder = tmp_path / "docs" / ("reproduction" if name else "")
        for link in re.findall(r"\]\(([^)#]+)(?:#([^)]+))?\)", text):
            if link[0].startswith("https:"):
                continue
            path = folder / link[0]
            assert path.is_file(), link
            if link[1]:
                headings = re.findall("(?m)^#+ (.*)$", path.read_text(encoding="utf-8"))
                assert link[1] in map(anchor, headings)
            number += 1
    assert number > 10
