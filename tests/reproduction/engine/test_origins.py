"""Records name the commits and machines that made the rows. These tests do no real training."""

from dataclasses import replace

from .sizes import RUNS, TWO, record


def test_record_names_no_commit_of_a_training_that_is_left_out(place, tmp_path, monkeypatch):
    place("here")
    assert record(tmp_path)["training_commits"] == ["one here", "two here"]
    monkeypatch.setitem(RUNS, "large", replace(TWO, settings=("model.dim=8",)))
    place("here", partial=True)
    assert record(tmp_path)["training_commits"] == ["one here"]
