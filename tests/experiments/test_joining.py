"""Results of trainings made in several places are put together; no training really happens here."""

import json
from dataclasses import replace

import pytest

from bytenet.errors import InputError
from bytenet.experiments import reproduction
from bytenet.experiments.experiment import Experiment, Needs
from bytenet.experiments.results import ResultFiles, read_table
from bytenet.experiments.training_runs import Start, Training, TrainingRun, marker_in
from bytenet.experiments.verdict import Verdict

ONE, TWO = TrainingRun("one", "digits", ("model.dim=4",)), TrainingRun("two", "digits", ("model.dim=6",))
RUNS = {"small": ONE, "large": TWO}


def measure(work):
    """Rows of what is finished, with what was written into the folder when it was trained."""
    rows = []
    for label, run in RUNS.items():
        for seed in work.seeds:
            training = Training.make(run, seed, work.runs)
            if training.is_finished():
                rows.append({"size": label, "trial": seed, "place": (training.folder / "place").read_text()})
    return rows


EXPERIMENT = Experiment(
    name="sizes", title="Sizes", thesis="Nothing.", needs=Needs(), is_thesis=False, seeds={"cpu": 2}, measure=measure,
    runs=lambda scale: list(RUNS.values()), labels=lambda scale: [{"size": label} for label in RUNS],
    verdicts=lambda table, scale: [Verdict(quantity="rows", printed="", measured=len(table))],
)  # fmt: skip


@pytest.fixture
def place(tmp_path, monkeypatch):
    """Reproduces in a place with a folder of trainings of its own, and tells what was trained there."""
    trained = []

    def go(name, *, only=(), **options):
        def train_all(trainings, seeds, runs, jobs, say, known=()):
            for run in trainings:
                for seed in seeds:
                    training = Training.make(run, seed, runs)
                    if (run.name, seed) in known or training.is_finished() or (only and (run.name, seed) not in only):
                        continue
                    training.folder.mkdir(parents=True)
                    (training.folder / "config.yaml").write_text(training.config.to_yaml())
                    (training.folder / "place").write_text(name)
                    marker_in(training.folder).write_text("")
                    trained.append((name, run.name, seed))
            return {}

        monkeypatch.setattr(reproduction, "train_all", train_all)
        found, failed = reproduction.reproduce(
            [EXPERIMENT], "cpu", tmp_path / "results", tmp_path / name, say=lambda line: None, **options
        )
        assert not failed, failed
        assert found["sizes"][0].measured == len(rows(tmp_path))
        return trained

    return go


def rows(tmp_path):
    return [tuple(row.values()) for row in read_table(tmp_path / "results" / "sizes-cpu.csv")]


def record(tmp_path):
    return json.loads(ResultFiles(tmp_path / "results", "sizes", "cpu").record.read_text())


def test_what_is_trained_elsewhere_is_not_trained_again_and_keeps_its_place(place, tmp_path):
    place("here", only={("one", 2), ("two", 1)})
    assert rows(tmp_path) == [("small", 2, "here"), ("large", 1, "here")]
    assert record(tmp_path)["trainings"] == "2 of 4"
    trained = place("there", join_earlier=True)
    assert trained[2:] == [("there", "one", 1), ("there", "two", 2)]
    assert rows(tmp_path) == [
        ("small", 1, "there"), ("small", 2, "here"), ("large", 1, "here"), ("large", 2, "there"),
    ]  # fmt: skip
    assert "trainings" not in record(tmp_path)
    (earlier,) = record(tmp_path)["joined_with"]
    assert set(earlier) == {"git_commit", "machine"}


def test_without_join_all_is_made_anew(place, tmp_path):
    place("here")
    assert len(place("there")) == 8
    assert {row[-1] for row in rows(tmp_path)} == {"there"}
    assert "joined_with" not in record(tmp_path)


def test_own_trainings_replace_earlier_rows(place, tmp_path):
    place("there", only={("one", 1)})
    place("here")
    place("there", join_earlier=True, partial=True)
    assert rows(tmp_path)[0] == ("small", 1, "there")
    assert {row[-1] for row in rows(tmp_path)[1:]} == {"here"}


def test_joining_to_nothing_is_as_without(place, tmp_path):
    place("here", join_earlier=True)
    assert len(rows(tmp_path)) == 4


def test_rows_of_more_seeds_stay(place, tmp_path):
    place("here")
    place("there", seeds=1, join_earlier=True)
    assert len(rows(tmp_path)) == 4


def test_results_of_other_settings_are_refused(place, tmp_path, monkeypatch):
    place("here")
    before = rows(tmp_path)
    monkeypatch.setitem(RUNS, "large", replace(TWO, settings=("model.dim=8",)))
    with pytest.raises(InputError, match=r"sizes-cpu\.csv has results of other trainings than sizes has now: two"):
        place("there", join_earlier=True)
    monkeypatch.setitem(RUNS, "large", TWO)
    monkeypatch.delitem(RUNS, "small")
    with pytest.raises(InputError, match="small"):
        place("there", join_earlier=True)
    assert rows(tmp_path) == before


def test_results_that_do_not_tell_their_settings_are_refused(place, tmp_path):
    place("here")
    ResultFiles(tmp_path / "results", "sizes", "cpu").record.unlink()
    with pytest.raises(InputError, match="other trainings"):
        place("there", join_earlier=True)


def test_a_training_is_known_only_if_every_experiment_that_shows_it_has_it(tmp_path):
    other = replace(EXPERIMENT, name="other")
    earlier = [
        reproduction.EarlierResults(rows={(name, 1): {} for name in names}) for names in (["one", "two"], ["one"])
    ]
    assert reproduction._known_to_all([EXPERIMENT, other], "cpu", earlier) == {("one", 1)}
    alone = replace(EXPERIMENT, runs=lambda scale: [ONE])
    assert reproduction._known_to_all([EXPERIMENT, alone], "cpu", earlier) == {("one", 1), ("two", 1)}


def test_the_digest_is_of_settings_and_of_what_it_starts_from_but_not_of_places():
    started = replace(ONE, starts=(Start("semi_supervised.start_forward", TWO),))
    same = replace(ONE, name="other", preset="digits", cost=2.0)
    others = [TWO, started, replace(started, starts=(Start("semi_supervised.start_forward", ONE),))]
    digests = [run.digest() for run in (ONE, *others)]
    assert same.digest() == ONE.digest()
    assert len(set(digests)) == 4
    sides = ("data.corpus=files", "data.train_source={}.de", "data.train_target={}.en")
    files = [replace(ONE, settings=tuple(setting.format(name) for setting in sides)) for name in "ab"]
    assert files[0].digest() == files[1].digest()
