"""A run folder is created once and never mixes two runs. Other folders are refused."""

import dataclasses
import json
import os
import zipfile
from pathlib import Path

import pytest

from bytenet.config import forbidden_changes, load_config
from bytenet.datasets import Vocabulary
from bytenet.errors import ConfigError, InputError, MissingFileError
from bytenet.run_folder import RunFolder

CONFIG = load_config("digits", ["model.dim=4", "model.num_sets=1", "model.dilations=[1]"])
VOCABULARY = Vocabulary.from_texts(["eins zwei", "12 \u2028\t"])


@pytest.fixture
def run(tmp_path) -> RunFolder:
    """A run that was just started."""
    return RunFolder.create(tmp_path / "runs" / "one", CONFIG, VOCABULARY)


@pytest.fixture
def trained(run) -> RunFolder:
    """A run with a saved, untrained model."""
    from bytenet.models import build_model

    build_model(CONFIG.model, VOCABULARY.size).save(run.model_path)
    return run


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


def test_resume_accepts_and_saves_new_training_settings_and_paths(tmp_path):
    files = ["data.corpus=files", "data.train_source=a.de", "data.train_target=a.en"]
    RunFolder.create(tmp_path / "run", load_config("digits", files), VOCABULARY)
    longer = load_config("digits", [*files, "training.epochs=400", "data.train_target=moved/a.en"])
    folder = RunFolder.create(tmp_path / "run", longer, VOCABULARY, resume=True)
    assert folder.config != longer  # its checkpoint is not checked yet
    folder.go_on_with(longer)
    assert folder.config == RunFolder.open(tmp_path / "run").config == longer


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("model.dropout=0.5", "model.dropout was 0.2 and is 0.5"),
        ("data.batch_size=8", "data.batch_size was 16 and is 8"),
        ("training.seed=2", "training.seed was 1 and is 2"),
        ("training.start=/large", "training.start was None and is '/large'"),
        ("training.optimizer=sgd", "training.optimizer was 'adam' and is 'sgd'"),
        ("training.ema_momentum=0.9", "training.ema_momentum was None and is 0.9"),
        ("training.keep_model=best", "training.keep_model was 'last' and is 'best'"),
        ("training.early_stopping_metric=val_bleu", "training.early_stopping_metric was 'val_loss' and is 'val_bleu'"),
        ("evaluation.max_sentences=3", "evaluation.max_sentences was None and is 3"),
        ("evaluation.batch_norm_statistics=batch", "evaluation.batch_norm_statistics was 'moving' and is 'batch'"),
    ],
)
def test_resume_refuses_the_settings_of_another_run(run, override, message):
    other = load_config(run.config_path, [override])
    with pytest.raises(InputError, match=message):
        RunFolder.create(run.path, other, VOCABULARY, resume=True)
    assert RunFolder.open(run.path).config == CONFIG


def test_resume_refuses_to_leave_out_the_start(tmp_path):
    run = RunFolder.create(tmp_path / "run", load_config("digits", ["training.start=/large"]), VOCABULARY)
    with pytest.raises(InputError, match=r"training\.start was '/large' and is None"):
        run.check_settings(CONFIG)


@pytest.mark.parametrize(
    ("metric", "beam_size", "fixed"),
    [
        ("val_loss", 2, set()),
        ("val_chrf", 1, {"evaluation.beam_size", "decoding.min_length"}),
        ("val_bleu", 2, {"evaluation.beam_size", "decoding.min_length", "decoding.length_penalty"}),
    ],
)
def test_a_resumed_run_keeps_the_search_if_its_best_score_depends_on_it(metric, beam_size, fixed):
    saved = load_config("digits", [f"training.early_stopping_metric={metric}", f"evaluation.beam_size={beam_size}"])
    evaluation = dataclasses.replace(saved.evaluation, beam_size=3, every_epochs=2)
    decoding = dataclasses.replace(saved.decoding, beam_size=9, min_length=1, length_penalty=0.1)
    requested = dataclasses.replace(saved, evaluation=evaluation, decoding=decoding)
    assert {key for key, _, _ in forbidden_changes(saved, requested)} == fixed


@pytest.mark.parametrize(("statistics", "fixed"), [("moving", []), ("batch", ["evaluation.continuous_batch_size"])])
def test_a_resumed_run_keeps_the_size_of_measured_batches_if_they_give_the_statistics(statistics, fixed):
    saved, requested = (
        load_config("digits", [f"evaluation.batch_norm_statistics={statistics}", *more])
        for more in ((), ("evaluation.continuous_batch_size=3",))
    )
    assert [key for key, _, _ in forbidden_changes(saved, requested)] == fixed


SEMI = load_config("digits-semi", ["model.dim=4", "semi_supervised.target_weight=0"])


@pytest.mark.parametrize(
    "override",
    [
        "semi_supervised.enabled=false", "semi_supervised.batch_size=3", "semi_supervised.trained=forward",
        "semi_supervised.source_weight=0", "semi_supervised.target_weight=0.1",
    ],
)  # fmt: skip
def test_resume_refuses_other_monolingual_text_and_changes_nothing(tmp_path, override):
    RunFolder.create(tmp_path / "run", SEMI, VOCABULARY)
    other = load_config(
        tmp_path / "run" / "config.yaml", [override, f"semi_supervised.start_backward={tmp_path / 'start'}"]
    )
    with pytest.raises(InputError, match=rf"cannot go on with other settings: {override.partition('=')[0]} was"):
        RunFolder.create(tmp_path / "run", other, VOCABULARY, resume=True)
    assert RunFolder.open(tmp_path / "run").config == SEMI


def test_resume_accepts_another_weight_for_the_same_text(tmp_path):
    RunFolder.create(tmp_path / "run", SEMI, VOCABULARY)
    other = load_config(tmp_path / "run" / "config.yaml", ["semi_supervised.source_weight=0.1"])
    RunFolder.create(tmp_path / "run", other, VOCABULARY, resume=True)
    assert RunFolder.open(tmp_path / "run").config == SEMI


def test_backward_translator_is_trained_in_its_parent_run(tmp_path, monkeypatch):
    whole = RunFolder.create(tmp_path / "both", SEMI, VOCABULARY)
    part = RunFolder.create(whole.path / "backward", CONFIG, VOCABULARY)
    assert (part.trained_in, whole.trained_in) == (whole.path, whole.path)
    monkeypatch.chdir(whole.path)
    assert RunFolder("backward").trained_in == whole.path
    with pytest.raises(MissingFileError, match=rf"not saved a model yet.*--resume --run {whole.path}`"):
        part.load_model()
    supervised = RunFolder.create(tmp_path / "one", CONFIG, VOCABULARY)
    assert RunFolder(supervised.path / "backward").trained_in == supervised.path / "backward"


def test_folder_named_backward_beside_an_unrelated_config_has_no_parent(tmp_path):
    (tmp_path / "config.yaml").write_text("foo: 1\n", encoding="utf-8")
    assert RunFolder(tmp_path / "backward").trained_in == tmp_path / "backward"


def test_resume_refuses_another_vocabulary(run):
    with pytest.raises(InputError, match=r"The training data has other characters than .*vocabulary\.json"):
        RunFolder.create(run.path, CONFIG, Vocabulary.from_texts(["drei"]), resume=True)
    assert RunFolder.open(run.path).vocabulary == VOCABULARY


def test_open_says_what_is_missing(tmp_path, run):
    with pytest.raises(MissingFileError, match="none does not exist; expected the folder of a run"):
        RunFolder.open(tmp_path / "none")
    with pytest.raises(MissingFileError, match=r"which `bytenet train PRESET --run '.*/no run'` makes"):
        RunFolder.open(tmp_path / "no run")
    with pytest.raises(MissingFileError, match=r"is not a run folder: config\.yaml and vocabulary\.json missing"):
        RunFolder.open(tmp_path)
    for path, command in (
        (run.config_path, f"train {run.config_path} --run DIR"),
        (run.vocabulary_path, "train PRESET"),
    ):
        with pytest.raises(MissingFileError, match=rf"{path} is a file; expected the folder .* `bytenet {command}"):
            RunFolder.open(path)
    run.vocabulary_path.unlink()
    with pytest.raises(MissingFileError, match=r"is not a run folder: vocabulary\.json missing"):
        RunFolder.open(run.path)


def test_damaged_configuration_error_names_file_and_line(run):
    run.config_path.write_text("model:\n  dimm: 4\n")
    with pytest.raises(
        ConfigError, match=r"config\.yaml:2: there is no setting 'model\.dimm'\. Did you mean model\.dim"
    ):
        _ = RunFolder.open(run.path).config


def test_the_saved_model_is_loaded(run):
    import numpy as np

    from bytenet.models import build_model

    inputs = {"source_ids": np.array([[3, 4, 1]]), "target_ids": np.array([[4, 3, 1]])}
    model = build_model(CONFIG.model, VOCABULARY.size)
    expected = np.asarray(model(inputs))
    model.save(run.model_path)
    loaded = run.load_model()
    assert loaded.vocab_size == VOCABULARY.size
    np.testing.assert_array_equal(np.asarray(loaded(inputs)), expected)


def test_loading_a_model_before_it_is_saved_is_refused(run):
    with pytest.raises(MissingFileError, match=r"has not saved a model yet.*bytenet train --resume --run"):
        run.load_model()


def test_vocabulary_of_another_size_is_refused(trained):
    Vocabulary.from_texts(["ein anderes Alphabet"]).save(trained.vocabulary_path)
    with pytest.raises(
        InputError, match=r"was trained with a vocabulary of \d+ symbols, but .*vocabulary\.json has \d+"
    ):
        RunFolder.open(trained.path).load_model()


def test_another_vocabulary_of_the_same_size_is_refused(trained):
    noted = {"vocabulary": trained.vocabulary.fingerprint()}
    trained.environment_path.write_text(json.dumps(noted), encoding="utf-8")
    assert RunFolder.open(trained.path).vocabulary == trained.vocabulary
    shifted = [chr(ord(character) + 1) for character in trained.vocabulary.characters]
    Vocabulary(shifted).save(trained.vocabulary_path)
    with pytest.raises(InputError, match=r"not the vocabulary that the run was trained with.*Put back"):
        RunFolder.open(trained.path).load_model()


def _cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:1000])


def _drop_the_weights(path: Path) -> None:
    with zipfile.ZipFile(path) as whole:
        members = {name: whole.read(name) for name in whole.namelist() if "weights" not in name}
    with zipfile.ZipFile(path, "w") as rest:
        for name, content in members.items():
            rest.writestr(name, content)


@pytest.mark.parametrize("damage", [_cut, _drop_the_weights, lambda path: path.write_bytes(b"")])
def test_damaged_model_is_refused(trained, damage):
    damage(trained.model_path)
    with pytest.raises(InputError, match=r"model\.keras cannot be loaded: .+\. It was damaged"):
        trained.load_model()


def test_refused_folder_keeps_all_its_files(tmp_path):
    (tmp_path / ".partial-notes").write_text("mine", encoding="utf-8")
    (tmp_path / "other.txt").write_text("mine too", encoding="utf-8")
    with pytest.raises(InputError, match="not empty"):
        RunFolder.create(tmp_path, CONFIG, VOCABULARY)
    assert sorted(path.name for path in tmp_path.iterdir()) == [".partial-notes", "other.txt"]
