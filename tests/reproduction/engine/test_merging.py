"""Results of trainings from several places are merged. These tests do no real training."""

import json
import re
from dataclasses import replace

import pytest

from bytenet.errors import InputError
from bytenet.reproduction.engine import runner
from bytenet.reproduction.engine.experiment import SCALES
from bytenet.reproduction.engine.results import ResultFiles
from bytenet.reproduction.jobs.training_run import Start, TrainingRun
from bytenet.reproduction.registry import all_experiments

from . import conftest
from .sizes import EXPERIMENT, RUNS, TWO, record, rows


def test_trainings_from_elsewhere_are_not_repeated_and_keep_their_place(place, tmp_path):
    place("here", only={("one", 2), ("two", 1)})
    assert rows(tmp_path) == [("small", 2, "here"), ("large", 1, "here")]
    assert record(tmp_path)["trainings"] == "2 of 4"
    trained = place("there", join_earlier=True)
    assert trained[2:] == [("there", "one", 1), ("there", "two", 2)]
    assert rows(tmp_path) == [("small", 1, "there"), ("small", 2, "here"), ("large", 1, "here"), ("large", 2, "there")]
    assert "trainings" not in record(tmp_path)


def test_results_added_by_another_place_meanwhile_are_kept(place, tmp_path):
    def elsewhere():
        place("there", only={("two", 2)}, join_earlier=True)

    place("here", only={("one", 1)}, join_earlier=True, meanwhile=elsewhere)
    assert rows(tmp_path) == [("small", 1, "here"), ("large", 2, "there")]


def test_without_join_all_results_are_made_again(place, tmp_path):
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


def test_joining_without_earlier_results_works(place, tmp_path):
    place("here", join_earlier=True)
    assert len(rows(tmp_path)) == 4


def test_failure_of_a_training_that_is_not_needed_is_no_reason_not_to_measure(place, tmp_path, monkeypatch):
    place("here", only={("one", 1), ("one", 2), ("two", 2)})  # needs seed 1 of `two`, which does not fail
    other = replace(EXPERIMENT, name="others")  # has no earlier results, so it needs all trainings

    def train_all(trainings, seeds, runs, jobs, say, selected):
        assert selected == {(name, seed) for name in ("one", "two") for seed in (1, 2)}
        return {("one", 1): "no memory.", ("two", 2): "no disk.", ("one", 2): "no memory."}

    monkeypatch.setattr(runner, "train_all", train_all)
    found, failed = runner.reproduce(
        [EXPERIMENT, other], "cpu", tmp_path / "results", tmp_path / "there", join_earlier=True
    )
    assert list(found) == ["sizes"]
    assert failed == {"others": "no memory.\nno disk. `--partial --join` measures the other trainings."}


def test_rows_of_further_seeds_are_kept_and_counted(place, tmp_path):
    place("here", only={("one", 1), ("one", 2), ("two", 1)})
    place("there", seeds=1, join_earlier=True)
    assert len(rows(tmp_path)) == 3
    assert record(tmp_path)["trainings"] == "3 of 4"
    assert (record(tmp_path)["seeds"], record(tmp_path)["command"].split()[-2:]) == (2, ["--seeds", "2"])


def test_earlier_results_of_other_settings_are_refused_and_named(place, tmp_path, monkeypatch):
    place("here")
    before = rows(tmp_path)
    monkeypatch.setitem(RUNS, "large", replace(TWO, settings=("model.dim=8",)))
    with pytest.raises(InputError, match=r"sizes-cpu\.csv has .* now: two \(model\.dim was 6 and is 8\)\. Remove"):
        place("there", join_earlier=True)
    monkeypatch.setitem(RUNS, "large", TWO)
    monkeypatch.delitem(RUNS, "small")
    with pytest.raises(InputError, match="now: small 1 here; small 2 here"):
        place("there", join_earlier=True)
    with pytest.raises(
        InputError, match=r"would not have: small 1 here; .*\. Remove these rows, or give another --out"
    ):
        place("there")
    assert rows(tmp_path) == before


def test_rows_that_were_measured_otherwise_are_refused(place, tmp_path, monkeypatch):
    def measured_with(**values):
        monkeypatch.setattr(conftest, "EXPERIMENT", replace(EXPERIMENT, measured_with=lambda scale: values))

    place("here")
    measured_with(beam_size=5)
    place("there", join_earlier=True)
    assert record(tmp_path)["measured_with"] == {"beam_size": 5}
    measured_with(beam_size=5, pairs=200)
    place("there", join_earlier=True)
    measured_with(beam_size=4, pairs=200)
    with pytest.raises(InputError, match=r"another way: beam_size was 5 and is 4\. Give another --out"):
        place("there", join_earlier=True)


def test_changed_start_run_is_refused(place, monkeypatch):
    start = TrainingRun("start", "digits", ("training.epochs=1",))
    monkeypatch.setitem(RUNS, "large", replace(TWO, starts=(Start("semi_supervised.start_forward", start),)))
    place("here")
    place("there", join_earlier=True)
    start = replace(start, settings=("training.epochs=2",))
    monkeypatch.setitem(RUNS, "large", replace(TWO, starts=(Start("semi_supervised.start_forward", start),)))
    with pytest.raises(InputError, match=r"now: two \(it starts from start\)"):
        place("there", join_earlier=True)


def test_setting_missing_in_old_record_counts_as_its_default(place, tmp_path):
    place("here")
    changed = record(tmp_path)
    assert changed["settings"]["common"].pop("model.dropout") == 0.2  # not the default
    assert changed["settings"]["common"].pop("decoding.beam_size") is not None
    path = ResultFiles(tmp_path / "results", "sizes", "cpu").record
    path.write_text(json.dumps(changed))
    with pytest.raises(InputError, match=r"one \(model\.dropout was 0\.\d+ and is 0\.2\)"):
        place("there", join_earlier=True)
    changed["settings"]["common"]["model.dropout"] = 0.2
    path.write_text(json.dumps(changed))
    place("there", join_earlier=True)


def rewrite_record(tmp_path, change):
    """Change the recorded settings of the run `two` in place, wherever they stand."""
    changed = record(tmp_path)
    settings = changed["settings"]
    settings["runs"]["two"] = settings["common"] | settings["runs"]["two"]
    change(settings["runs"]["two"])
    ResultFiles(tmp_path / "results", "sizes", "cpu").record.write_text(json.dumps(changed))


def test_record_of_an_earlier_version_counts_as_the_same_settings(place, tmp_path, monkeypatch):
    monkeypatch.setitem(RUNS, "large", replace(TWO, settings=("model.family=recurrent", "model.variant=madsen")))
    place("here")

    def as_before(settings):
        settings |= {"model.family": "attention", "model.variant": None, "model.num_layers": 3}
        settings |= {"model.encoder_layers": None, "model.mask_padding": None}
        del settings["model.decoder_layers"]  # of this family only; ByteNet has no default of it

    rewrite_record(tmp_path, as_before)
    trained = place("there", join_earlier=True)
    assert {place for place, _, _ in trained} == {"here"}


def test_recorded_setting_that_does_not_exist_now_is_refused(place, tmp_path):
    place("here")
    rewrite_record(tmp_path, lambda settings: settings.update({"model.gone": 1}))
    with pytest.raises(InputError, match=r"two \(the record: there is no setting 'model\.gone'\."):
        place("there", join_earlier=True)


def test_results_without_a_record_are_refused(place, tmp_path):
    place("here")
    ResultFiles(tmp_path / "results", "sizes", "cpu").record.unlink()
    with pytest.raises(InputError, match=r"sizes-cpu\.json is missing"):
        place("there", join_earlier=True)


@pytest.mark.parametrize(
    ("file", "text", "problem"),
    [
        ("data", '"size","trial","place"\n<<<<<<< here\n"small",1,"here"\n', "is damaged: line 2 has not as many"),
        ("data", '"size","place"\n"small","here"\n', "has no column 'trial'"),
        ("data", '"size","trial","place"\n"small","one","here"\n', "has 'one' in its column 'trial'"),
        ("record", "<<<<<<< here\n{}", "is damaged"),
    ],
)
def test_files_edited_by_hand_are_refused(file, text, problem, place, tmp_path):
    place("here")
    path = getattr(ResultFiles(tmp_path / "results", "sizes", "cpu"), file)
    path.write_text(text)
    with pytest.raises(InputError, match=f"{re.escape(path.name)} {problem}"):
        place("there", join_earlier=True)


def test_record_with_empty_settings_is_refused(place, tmp_path):
    place("here")
    path = ResultFiles(tmp_path / "results", "sizes", "cpu").record
    path.write_text(json.dumps(record(tmp_path) | {"settings": {}}))
    with pytest.raises(InputError, match=r"sizes-cpu\.json is damaged \(settings\.common: Field required\)"):
        place("there", join_earlier=True)


def test_rows_with_other_columns_are_not_merged(place, tmp_path):
    place("here", only={("one", 1)})
    path = ResultFiles(tmp_path / "results", "sizes", "cpu").data
    path.write_text('"size","trial"\n"small",1\n')
    with pytest.raises(AssertionError, match=r"size, trial and size, trial, place\. Give another --out"):
        place("there", join_earlier=True)


def test_experiments_that_merge_parts_label_each_run_uniquely():
    for experiment in filter(lambda experiment: experiment.in_part, all_experiments()):
        for scale in SCALES:
            labels = [tuple(label.items()) for label in experiment.labels(scale)]
            assert len(set(labels)) == len(labels) == len(experiment.runs(scale))
