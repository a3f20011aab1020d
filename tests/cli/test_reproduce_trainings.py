"""`bytenet reproduce` with an experiment that needs trainings. No model is trained here."""

import json
from dataclasses import replace

import pytest

from bytenet.cli.reproduce import reproduce
from bytenet.errors import InputError
from bytenet.reproduction import Basis, Experiment, Needs, TrainingRun

from ..reproduction.jobs.runs import RUN
from .small_experiments import CHAPTER, draw, files, replace_registry


def count_finished(work):
    return [{"run": "one", "trial": trial, "value": float(trial)} for trial, _ in work.finished(RUN)]


PARTLY = Experiment(
    name="fig-1.1.3", title="Many trainings", thesis="x", needs=Needs(), basis=Basis("computed"),
    measure=count_finished, plot=draw, runs=lambda scale: [RUN], seeds={"cpu": 3},
    labels=lambda scale: [{"run": "one"}],
)  # fmt: skip
WHOLE = [
    replace(PARTLY, name="fig-1.1.1", measure=lambda work: [{"value": 1}], runs=lambda scale: [], labels=None),
    replace(PARTLY, name="tab-1.1.1", measure=lambda work: [{"value": 1}], runs=lambda scale: [], labels=None),
]  # without trainings


@pytest.fixture(autouse=True)
def small_registry(monkeypatch, tmp_path):
    return replace_registry(monkeypatch, tmp_path, [*WHOLE, PARTLY])


def finish(runs, seed, run=RUN):
    """Write the files that a finished training of `RUN` leaves."""
    folder = runs / "cpu" / "one" / f"seed-{seed}"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.yaml").write_text(run.config(seed).to_yaml(), encoding="utf-8")
    (folder / "vocabulary.json").touch()
    (folder / "finished").touch()


def test_failed_training_fails_only_its_own_experiment(invoke, monkeypatch, tmp_path):
    monkeypatch.setattr("bytenet.reproduction.engine.runner.train_all", lambda *arguments: {("one", 1): "no disk"})
    with pytest.raises(InputError, match=r"fig-1\.1\.3 failed: no disk `--partial` measures the other trainings\."):
        invoke(reproduce, "--all", "--scale", "smoke", "--out", tmp_path)
    assert {name.partition("-smoke")[0] for name in files(tmp_path)} == {"fig-1.1.1", "tab-1.1.1"}


def test_failed_second_seed_does_not_fail_a_one_seed_experiment(small_registry, invoke, monkeypatch, tmp_path):
    one = replace(PARTLY, name="tab-1.1.2", labels=None, plot=None, one_seed=True)
    several = replace(one, name="tab-1.1.3", one_seed=False)
    small_registry[:] = [one, several]

    def train_all(trainings, seeds, runs, *_):
        finish(runs.parent, 1)
        return {("one", 2): "seed 2: no disk"} if len(seeds) > 1 else {}

    monkeypatch.setattr("bytenet.reproduction.engine.runner.train_all", train_all)
    with pytest.raises(InputError, match=r"^tab-1\.1\.3 failed: seed 2: no disk$"):
        invoke(reproduce, "--all", "--runs", tmp_path / "runs", "--out", tmp_path / "out")
    assert files(tmp_path / "out") == ["tab-1.1.2-cpu.csv", "tab-1.1.2-cpu.json"]


def test_partial_results_from_two_folders_are_joined(invoke, tmp_path):
    invoke(reproduce, "fig-1.1.1", "--out", tmp_path)
    record = tmp_path / "fig-1.1.3-cpu.json"
    for place, seed in (("here", 3), ("there", 1)):
        finish(tmp_path / place, seed)
        options = ("--partial", "--join", "--runs", tmp_path / place, "--out", tmp_path)
        result = invoke(reproduce, "fig-1.1.3", *options, "--page", tmp_path / "page.md")
        record.write_text(json.dumps(json.loads(record.read_text()) | {"git_commit": f"commit of {place}"}))
    assert (tmp_path / "fig-1.1.3-cpu.csv").read_text() == '"run","trial","value"\n"one",1,1.0\n"one",3,3.0\n'
    assert "fig-1.1.3: kept 1 of the earlier results" in result.stderr.split("\n")
    assert ": commit of here on " in (tmp_path / CHAPTER).read_text(encoding="utf-8")


def test_partial_option_measures_only_the_finished_trainings(invoke, tmp_path):
    finish(tmp_path / "runs", seed=2)
    result = invoke(reproduce, "fig-1.1.3", "--partial", "--runs", tmp_path / "runs", "--out", tmp_path)
    assert (tmp_path / "fig-1.1.3-cpu.csv").read_text() == '"run","trial","value"\n"one",2,2.0\n'
    assert (tmp_path / "fig-1.1.3-cpu.png").read_text() == "1 rows"
    assert json.loads((tmp_path / "fig-1.1.3-cpu.json").read_text())["trainings"] == "1 of 3"
    assert result.stderr.splitlines()[0] == "fig-1.1.3: 1 of 3 trainings are finished"
    page = tmp_path / "page.md"
    invoke(reproduce, "fig-1.1.1", "--out", tmp_path, "--page", page)
    chapter = (tmp_path / CHAPTER).read_text(encoding="utf-8")
    part, whole = (chapter.partition(f"## {name}: ")[2] for name in ("fig-1.1.3", "fig-1.1.1"))
    assert ": 1 of 3\n" in part
    assert "1 of 3" not in whole.partition("## fig-1.1.3")[0]
    # After a new plot, the record still says that it is partial.
    invoke(reproduce, "fig-1.1.3", "--plot-only", "--out", tmp_path)
    assert json.loads((tmp_path / "fig-1.1.3-cpu.json").read_text())["trainings"] == "1 of 3"


def test_all_with_partial_runs_only_experiments_that_can_be_partial(invoke, tmp_path):
    finish(tmp_path / "runs", seed=1)
    invoke(reproduce, "--all", "--partial", "--runs", tmp_path / "runs", "--out", tmp_path / "out")
    assert {name.partition("-cpu")[0] for name in files(tmp_path / "out")} == {"fig-1.1.3"}


def test_partial_option_without_finished_trainings_is_refused(invoke, tmp_path):
    with pytest.raises(
        InputError, match=r"None of the trainings of fig-1.1.3 in .*runs/cpu is finished with these settings"
    ):
        invoke(reproduce, "fig-1.1.3", "--partial", "--runs", tmp_path / "runs", "--out", tmp_path / "out")
    assert files(tmp_path / "out") == []


def test_partial_option_skips_and_reports_trainings_with_other_settings(invoke, tmp_path):
    finish(tmp_path / "runs", 1)
    finish(tmp_path / "runs", 2, TrainingRun("one", "digits", ("model.dim=6",)))
    arguments = ("--partial", "--runs", tmp_path / "runs", "--out", tmp_path / "out")
    told = invoke(reproduce, "fig-1.1.3", *arguments).stderr
    assert "left out: " in told
    assert "seed-2 was trained with other settings: model.dim was 6 and is 4" in told
    assert json.loads((tmp_path / "out" / "fig-1.1.3-cpu.json").read_text())["trainings"] == "1 of 3"


@pytest.mark.parametrize("options", [("--partial",), ("--seeds", 1)])
def test_results_of_more_trainings_are_not_replaced(options, invoke, monkeypatch, tmp_path):
    monkeypatch.setattr("bytenet.reproduction.engine.runner.train_all", lambda *arguments: {})
    for place, seeds in (("here", (1, 2)), ("there", (1,))):
        for seed in seeds:
            finish(tmp_path / place, seed)
    out = tmp_path / "out"
    invoke(reproduce, "fig-1.1.3", "--partial", "--runs", tmp_path / "here", "--out", out)
    before = {path: path.read_bytes() for path in out.iterdir()}
    arguments = ("fig-1.1.3", *options, "--runs", tmp_path / "there", "--out", out)
    with pytest.raises(InputError, match=r"has 1 row that the new results would not have: one, seed 2\. Give --join"):
        invoke(reproduce, *arguments)
    assert {path: path.read_bytes() for path in out.iterdir()} == before
    invoke(reproduce, *arguments, "--join")
    assert (out / "fig-1.1.3-cpu.csv").read_bytes() == before[out / "fig-1.1.3-cpu.csv"]


def test_fewer_seeds_do_not_replace_a_result_that_needs_all_trainings(small_registry, invoke, monkeypatch, tmp_path):
    monkeypatch.setattr("bytenet.reproduction.engine.runner.train_all", lambda *arguments: {})
    small_registry[:] = [replace(PARTLY, labels=None)]
    for seed in (1, 2, 3):
        finish(tmp_path / "runs", seed)
    arguments = ("fig-1.1.3", "--runs", tmp_path / "runs", "--out", tmp_path / "out")
    invoke(reproduce, *arguments)
    with pytest.raises(InputError, match=r"has 3 trainings of each model, and .* have 2\. Give --seeds 3, or another"):
        invoke(reproduce, *arguments, "--seeds", 2)
    assert (tmp_path / "out" / "fig-1.1.3-cpu.csv").read_text().count("one") == 3
