"""Records name the commits and machines that made the rows. These tests do no real training."""

import json
from dataclasses import replace

import pytest

from bytenet.reproduction.engine.results import ResultFiles

from .sizes import RUNS, TWO, record

MACHINE = {"platform": "Linux", "processor": "x", "cores": 2}


@pytest.fixture
def at(monkeypatch):
    """A function that lets the next calls run from a commit."""

    def set_commit(commit):
        here = {"versions": {}, "git_commit": commit, "machine": MACHINE}
        monkeypatch.setattr("bytenet.training.environment.describe_environment", lambda: here)

    return set_commit


@pytest.fixture
def told(tmp_path):
    """A function that returns the commit of the record and the commits that it is joined with."""

    def read():
        return record(tmp_path)["git_commit"], [one["git_commit"] for one in record(tmp_path).get("joined_with", [])]

    return read


def test_record_names_no_commit_of_a_training_that_is_left_out(place, tmp_path, monkeypatch):
    place("here")
    assert record(tmp_path)["training_commits"] == ["one here", "two here"]
    monkeypatch.setitem(RUNS, "large", replace(TWO, settings=("model.dim=8",)))
    ResultFiles(tmp_path / "results", "sizes", "cpu").data.unlink()  # otherwise its row would be kept
    place("here", partial=True)
    assert record(tmp_path)["training_commits"] == ["one here"]


def test_record_names_the_commits_that_made_the_rows(place, at, told):
    at("first")
    place("here", only={("one", 1)})
    assert told() == ("first", [])
    at("second")
    place("nothing", partial=True, join_earlier=True)
    assert told() == ("first", []), "nothing was added"
    place("there", only={("one", 2)}, join_earlier=True)
    assert told() == ("second", ["first"])
    place("there", only={("two", 1)}, join_earlier=True)
    assert told() == ("second", ["first"])
    at("third")
    place("elsewhere", join_earlier=True)
    assert told() == ("third", ["first", "second"])


def test_record_names_no_commit_of_rows_that_were_made_again(place, at, told, tmp_path):
    at("first")
    place("there", only={("one", 1)})
    at("second")
    place("here", only={("one", 2), ("two", 1)}, join_earlier=True)
    at("third")
    place("here", partial=True, join_earlier=True)
    assert told() == ("third", ["first"])
    assert record(tmp_path)["training_commits"] == ["one here", "one there", "two here"]
    at("fourth")
    data = ResultFiles(tmp_path / "results", "sizes", "cpu").data
    data.unlink()
    place("third place", only={("one", 1), ("one", 2)})  # as if they had been trained before
    data.unlink()
    place("here", partial=True)
    place("there", partial=True, join_earlier=True)
    place("third place", partial=True, join_earlier=True)
    assert told() == ("fourth", [])
    assert record(tmp_path)["training_commits"] == ["one third place", "two here"]


def test_origins_are_recorded_by_row_if_they_differ(place, at, tmp_path):
    at("first")
    place("here", only={("one", 1)})
    assert "origins" not in record(tmp_path)
    at("second")
    place("there", only={("one", 2), ("two", 1)}, join_earlier=True)
    first = {"git_commit": "first", "machine": MACHINE, "training_commits": ["one here"], "trainings": {"one": [1]}}
    second = {"git_commit": "second", "machine": MACHINE}
    recorded = record(tmp_path)["origins"]
    assert recorded[0] == first
    assert sorted(recorded[1:], key=lambda origin: origin["training_commits"]) == [
        second | {"training_commits": ["one there"], "trainings": {"one": [2]}},
        second | {"training_commits": ["two there"], "trainings": {"two": [1]}},
    ]


def test_rows_of_a_record_without_origins_may_come_from_all_places_that_it_names(place, at, told, tmp_path):
    at("first")
    place("there", only={("one", 1)})
    at("second")
    place("here", only={("one", 2)}, join_earlier=True)
    old = record(tmp_path)
    del old["origins"]  # as earlier versions wrote it
    ResultFiles(tmp_path / "results", "sizes", "cpu").record.write_text(json.dumps(old))
    at("third")
    place("elsewhere", only={("two", 1)}, join_earlier=True)
    assert told() == ("third", ["first", "second"])
    place("here", partial=True, join_earlier=True)
    assert told() == ("third", ["first", "second"]), "the row that was not made again may be of either commit"
    place("there", partial=True, join_earlier=True)
    assert told() == ("third", [])
    assert record(tmp_path)["training_commits"] == ["one here", "one there", "two elsewhere"]
