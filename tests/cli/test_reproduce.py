"""`bytenet reproduce`, with small experiments instead of the thesis experiments."""

import json
import subprocess
import sys
from dataclasses import replace

import click
import pytest

from bytenet.cli.reproduce import reproduce
from bytenet.errors import ConfigError, InputError
from bytenet.reproduction import Basis, Experiment, Needs
from bytenet.reproduction.engine.judging import compare
from bytenet.reproduction.engine.verdict import Verdict
from bytenet.reproduction.registry import all_experiments  # the real function, before it is replaced

from .small_experiments import CHAPTER, draw, files, replace_registry


def count(work):
    return [{"scale": work.scale, "seed": seed, "value": float(seed)} for seed in work.seeds]


def judge(table, scale):
    return [compare("value", 6, [row["value"] for row in table], lower_is_better=True)]


BASIS = Basis("computed")
FIGURE = Experiment(
    name="fig-1.1.1", title="A figure", thesis="It has six.", measure=count, plot=draw, verdicts=judge,
    needs=Needs(time={"smoke": "1 s", "cpu": "2 s", "thesis": "3 s"}), basis=BASIS, seeds={"cpu": 3},
)  # fmt: skip
TABLE = Experiment(
    name="tab-1.1.1", title="A table", thesis="As well.", measure=count, needs=Needs(corpus="text"), basis=BASIS
)


@pytest.fixture(autouse=True)
def small_registry(monkeypatch, tmp_path):
    return replace_registry(monkeypatch, tmp_path, [FIGURE, TABLE])


def test_experiment_is_judged_with_data_that_was_measured_after_it(small_registry, invoke, tmp_path):
    def rows_beside(table, scale, beside):
        return [Verdict(quantity="rows beside", printed="", measured=len(beside["tab-1.1.1"]))]

    def draw_beside(table, path, beside):
        path.write_text(f"{len(beside['tab-1.1.1'])} rows beside", encoding="utf-8")

    figure = replace(FIGURE, verdicts=rows_beside, plot=draw_beside, beside=("tab-1.1.1",))
    small_registry[:] = [figure, TABLE]
    result = invoke(reproduce, "--all", "--out", tmp_path)
    (line,) = [line for line in result.stdout.splitlines() if "rows beside" in line]
    assert line.split() == ["fig-1.1.1", "rows", "beside", "1", "1", "no", "claim"]
    (verdict,) = json.loads((tmp_path / "fig-1.1.1-cpu.json").read_text(encoding="utf-8"))["verdicts"]
    assert verdict["measured"] == 1
    assert (tmp_path / "fig-1.1.1-cpu.png").read_text() == "1 rows beside"


def test_experiment_writes_data_plot_and_verdicts(invoke, tmp_path):
    result = invoke(reproduce, "fig-1.1.1", "--out", tmp_path / "out")
    assert files(tmp_path / "out") == ["fig-1.1.1-cpu.csv", "fig-1.1.1-cpu.json", "fig-1.1.1-cpu.png"]
    assert (tmp_path / "out" / "fig-1.1.1-cpu.png").read_text() == "3 rows"
    record = json.loads((tmp_path / "out" / "fig-1.1.1-cpu.json").read_text(encoding="utf-8"))
    assert (record["experiment"], record["scale"], record["seeds"]) == ("fig-1.1.1", "cpu", 3)
    assert {"command", "git_commit", "machine", "versions", "differs_from_the_thesis"} <= set(record)
    assert record["verdicts"][0]["measured"] == 2
    (line,) = [line for line in result.stdout.splitlines() if "value" in line]
    assert line.split() == ["fig-1.1.1", "value", "6", "2", "-0.484", "to", "4.48", "3", "no", "claim"]
    assert result.stderr.splitlines()[-1].startswith("fig-1.1.1: ")


def test_scale_and_seeds_follow_the_options(invoke, tmp_path):
    invoke(reproduce, "fig-1.1.1", "tab-1.1.1", "--scale", "smoke", "--seeds", 2, "--out", tmp_path)
    assert (tmp_path / "fig-1.1.1-smoke.csv").read_text().count('"smoke"') == 2
    assert (tmp_path / "tab-1.1.1-smoke.csv").is_file()
    assert not (tmp_path / "tab-1.1.1-smoke.png").exists()


@pytest.mark.parametrize(("options", "jobs"), [((), None), (("--jobs", 3), 3)])
def test_number_of_jobs_reaches_the_run(invoke, monkeypatch, options, jobs):
    calls = []
    monkeypatch.setattr(
        "bytenet.reproduction.engine.runner.reproduce",
        lambda experiments, scale, out, runs, seeds, jobs, *_, **__: (calls.append(jobs), ({}, {}))[1],
    )
    assert invoke(reproduce, "fig-1.1.1", *options).exit_code == 0
    assert calls == [jobs]


def test_all_option_runs_every_experiment(invoke, tmp_path):
    invoke(reproduce, "--all", "--scale", "smoke", "--out", tmp_path)
    assert {name.partition("-smoke")[0] for name in files(tmp_path)} == {"fig-1.1.1", "tab-1.1.1"}


def test_plot_only_recomputes_plot_and_verdicts_from_saved_data(invoke, tmp_path):
    invoke(reproduce, "fig-1.1.1", "--out", tmp_path)
    data, picture = tmp_path / "fig-1.1.1-cpu.csv", tmp_path / "fig-1.1.1-cpu.png"
    picture.unlink()
    data.write_text('"scale","seed","value"\n"cpu",1,7.5\n', encoding="utf-8")
    result = invoke(reproduce, "fig-1.1.1", "--plot-only", "--out", tmp_path)
    assert picture.read_text() == "1 rows"
    assert "7.5" in result.stdout
    record = json.loads((tmp_path / "fig-1.1.1-cpu.json").read_text(encoding="utf-8"))
    assert record["verdicts"][0]["measured"] == 7.5
    assert record["seeds"] == 3  # details of how the data was made are kept


def test_plot_only_goes_on_after_a_damaged_result(invoke, tmp_path):
    invoke(reproduce, "--all", "--out", tmp_path)
    (tmp_path / "fig-1.1.1-cpu.csv").write_text('"scale","seed"\n"cpu"\n', encoding="utf-8")
    (tmp_path / "tab-1.1.1-cpu.json").write_text("{}", encoding="utf-8")
    with pytest.raises(InputError) as raised:
        invoke(reproduce, "--all", "--plot-only", "--out", tmp_path)
    lines = str(raised.value).splitlines()
    assert [line.partition(" failed: ")[0] for line in lines] == ["fig-1.1.1", "tab-1.1.1"]


def test_disk_error_fails_only_its_own_experiment(small_registry, invoke, tmp_path):
    def measure(work):
        raise OSError("no space left")

    small_registry.insert(0, replace(FIGURE, name="fig-1.1.0", measure=measure))
    with pytest.raises(InputError, match=r"^fig-1\.1\.0 failed: no space left$"):
        invoke(reproduce, "--all", "--out", tmp_path)
    assert {name.partition("-cpu")[0] for name in files(tmp_path)} == {"fig-1.1.1", "tab-1.1.1"}


def test_damaged_record_is_replaced_by_a_run_and_otherwise_refused(invoke, tmp_path):
    record = tmp_path / "fig-1.1.1-cpu.json"
    record.write_text("<<<<<<< here\n{}", encoding="utf-8")
    invoke(reproduce, "fig-1.1.1", "--out", tmp_path)
    assert json.loads(record.read_text(encoding="utf-8"))["verdicts"]
    record.write_text("<<<<<<< here\n{}", encoding="utf-8")
    for options in (("fig-1.1.1", "--plot-only"), ("--page", tmp_path / "page.md")):
        with pytest.raises(InputError, match=r"cpu\.json is damaged \(Invalid JSON"):
            invoke(reproduce, *options, "--out", tmp_path)


def test_record_matches_the_new_data_when_plotting_fails(small_registry, invoke, tmp_path):
    record = tmp_path / "fig-1.1.1-cpu.json"
    invoke(reproduce, "fig-1.1.1", "--out", tmp_path)

    def plot(table, path):
        raise RuntimeError("no such font")

    small_registry[0] = replace(FIGURE, plot=plot)
    with pytest.raises(RuntimeError):
        invoke(reproduce, "fig-1.1.1", "--seeds", 4, "--out", tmp_path)
    assert (tmp_path / "fig-1.1.1-cpu.csv").read_text(encoding="utf-8").count("cpu") == 4
    found = json.loads(record.read_text(encoding="utf-8"))
    assert (found["seeds"], found["verdicts"]) == (4, [])


def test_page_is_written_with_or_without_a_new_run(invoke, tmp_path):
    page = tmp_path / "docs" / "reproduction.md"
    invoke(reproduce, "--all", "--out", tmp_path / "docs" / "reproduction", "--page", page)
    assert f"[fig-1.1.1](reproduction/{CHAPTER}#fig-111-a-figure)" in page.read_text(encoding="utf-8")
    page.unlink()
    result = invoke(reproduce, "--out", tmp_path / "docs" / "reproduction", "--page", page)
    assert page.is_file()
    assert (result.stdout, result.stderr) == ("", f"Wrote {page}.\n")


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (["fig-1.1.1", "--partial"], InputError, r"fig-1\.1\.1 shows nothing before all its trainings are finished"),
        (["fig-1.1.1", "--join"], InputError, r"fig-1\.1\.1 .* are finished; leave out --join"),
        (["fig-1.1.11"], ConfigError, r"Did you mean fig-1\.1\.1\?"),
        (["fig-1.1.1", "--plot-only"], InputError, r"fig-1\.1\.1-cpu\.csv is missing: run the experiment"),
    ],
)
def test_mistakes_are_explained_and_leave_no_files(invoke, arguments, error, message, tmp_path):
    with pytest.raises(error, match=message):
        invoke(reproduce, *arguments)
    assert files(tmp_path) == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "Missing NAMES, for example"),
        (["fig-1.1.1", "--all"], "Give either NAMES or --all."),
        (["fig-1.1.1", "--scale", "huge"], "Invalid value for '--scale': 'huge' is not one of"),
        (["fig-1.1.1", "--partial", "--plot-only"], "Give either --partial, which measures, or --plot-only"),
        (["fig-1.1.1", "--join", "--plot-only"], "Give either --join, which measures, or --plot-only"),
        (
            ["fig-1.1.1", "--seeds", 2, "--plot-only"],
            "--plot-only trains nothing and uses the data in --out. Leave out",
        ),
        (["fig-1.1.1", "--jobs", 2, "--plot-only"], "Leave out --jobs."),
        (["fig-1.1.1", "--runs", "runs", "--plot-only"], "Leave out --runs."),
    ],
)
def test_wrong_arguments_are_usage_errors(invoke, arguments, message):
    result = invoke(reproduce, *arguments)
    assert result.exit_code == click.UsageError.exit_code
    assert message in " ".join(result.stderr.split())


def test_list_shows_what_each_experiment_needs(invoke):
    lines = invoke(reproduce, "--list").stdout.splitlines()
    assert lines[1].split() == ["fig-1.1.1", "A", "figure", "none", "1", "s", "2", "s", "3", "s"]
    assert lines[2].split() == ["tab-1.1.1", "A", "table", "text"]


def test_real_list_names_all_experiments_and_imports_no_tensorflow(tmp_path):
    code = (
        "import atexit, sys; from bytenet.cli import main; sys.argv = ['bytenet', 'reproduce', '--list'];"
        "atexit.register(lambda: print('IMPORTED', *{'tensorflow', 'keras', 'matplotlib'} & set(sys.modules)));"
        "main()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path, timeout=60)
    assert done.returncode == 0, done.stderr
    *lines, imported = done.stdout.splitlines()
    assert imported == "IMPORTED"
    names = [line.split()[0] for line in lines if not line.startswith(" ")]
    assert names == ["name", *(experiment.name for experiment in all_experiments())]
