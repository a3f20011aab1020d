"""A run folder is created once. Other folders are refused."""

import dataclasses
import os

import pytest

from bytenet.errors import InputError
from bytenet.run_folder import RunFolder

from .small_runs import CONFIG, VOCABULARY


def test_open_reads_what_create_saves(run):
    opened = RunFolder.open(run.path)
    assert opened.config == CONFIG
    assert opened.vocabulary == VOCABULARY
    assert sorted(os.listdir(run)) == ["config.yaml", "vocabulary.json"]


def test_an_existing_empty_folder_is_used(tmp_path):
    assert RunFolder.create(tmp_path, CONFIG, VOCABULARY).config_path == tmp_path / "config.yaml"


def test_a_folder_with_a_run_is_not_overwritten(run):
    other = dataclasses.replace(CONFIG, training=dataclasses.replace(CONFIG.training, epochs=2))
    with pytest.raises(InputError, match=r"holds a run already\. Continue it with `bytenet train --resume --run"):
        RunFolder.create(run.path, other, VOCABULARY)
    assert RunFolder.open(run.path).config == CONFIG


@pytest.mark.parametrize("resume", [False, True])
def test_folder_with_other_files_is_refused(tmp_path, resume):
    for name in ("thesis.tex", "a", "b", "c"):
        (tmp_path / name).touch()
    with pytest.raises(InputError, match=r"is not empty and not a run folder: it holds a, b, c, \.\.\.\. Give --run"):
        RunFolder.create(tmp_path, CONFIG, VOCABULARY, resume=resume)
    assert len(os.listdir(tmp_path)) == 4


@pytest.mark.parametrize("names", [[], ["train.de"], ["train.npz"], ["train.npz", "validation.npz", "train.de"]])
def test_a_folder_of_the_user_that_is_called_prepared_is_kept(tmp_path, names):
    prepared = tmp_path / "prepared"
    prepared.mkdir()
    for path in (*(prepared / name for name in names), tmp_path / "environment.json"):
        path.touch()
    with pytest.raises(InputError, match=r"not a run folder: it holds environment\.json, prepared\."):
        RunFolder.create(tmp_path, CONFIG, VOCABULARY)
    assert sorted(os.listdir(prepared)) == sorted(names)
    assert (tmp_path / "environment.json").exists()


@pytest.mark.parametrize("names", [["train.npz", "validation.npz"], ["train.npz", "validation.npz", "start.keras"]])
def test_what_a_killed_prepare_leaves_is_removed(tmp_path, names):
    (tmp_path / "prepared").mkdir()
    for path in (*(tmp_path / "prepared" / name for name in names), tmp_path / "environment.json"):
        path.touch()
    RunFolder.create(tmp_path, CONFIG, VOCABULARY)
    assert sorted(os.listdir(tmp_path)) == ["config.yaml", "vocabulary.json"]


def test_file_instead_of_a_folder_is_refused(tmp_path):
    path = tmp_path / "file"
    path.touch()
    for place in (path, path / "run"):
        with pytest.raises(
            InputError, match=r"cannot be a run folder: there is a file of that name\. Give --run another"
        ):
            RunFolder.create(place, CONFIG, VOCABULARY)
        with pytest.raises(
            InputError, match=r"cannot be a run folder: there is a file of that name\. Give --run another"
        ):
            RunFolder(place).check_free()  # which is called before the corpus is read


def test_create_works_after_a_killed_create(tmp_path):
    (tmp_path / ".partial-123-config.yaml").write_text("model:")
    (tmp_path / ".partial-123-saved-model" / "assets").mkdir(parents=True)
    (tmp_path / "vocabulary.json").write_text("{")
    assert RunFolder.create(tmp_path, CONFIG, VOCABULARY).vocabulary == VOCABULARY
    assert not list(tmp_path.glob(".partial-*"))


def test_resume_starts_a_run_that_was_never_started(tmp_path):
    assert RunFolder.create(tmp_path / "new", CONFIG, VOCABULARY, resume=True).config == CONFIG


def test_refused_folder_keeps_all_its_files(tmp_path):
    (tmp_path / ".partial-notes").write_text("mine", encoding="utf-8")
    (tmp_path / "other.txt").write_text("mine too", encoding="utf-8")
    with pytest.raises(InputError, match="not empty"):
        RunFolder.create(tmp_path, CONFIG, VOCABULARY)
    assert sorted(path.name for path in tmp_path.iterdir()) == [".partial-notes", "other.txt"]
