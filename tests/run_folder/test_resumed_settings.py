"""A resumed run accepts settings of its training and paths. Settings and vocabularies of other runs are refused."""

import dataclasses
import json

import pytest

from bytenet.config import fixed_settings, forbidden_changes, load_config
from bytenet.config.families import family_configs
from bytenet.datasets import Vocabulary
from bytenet.errors import InputError
from bytenet.run_folder import RunFolder

from .small_runs import CONFIG, SEMI, VOCABULARY


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
    assert {key for key, _, _ in forbidden_changes(fixed_settings(saved), requested)} == fixed


@pytest.mark.parametrize(("statistics", "fixed"), [("moving", []), ("batch", ["evaluation.continuous_batch_size"])])
def test_a_resumed_run_keeps_the_size_of_measured_batches_if_they_give_the_statistics(statistics, fixed):
    saved, requested = (
        load_config("digits", [f"evaluation.batch_norm_statistics={statistics}", *more])
        for more in ((), ("evaluation.continuous_batch_size=3",))
    )
    assert [key for key, _, _ in forbidden_changes(fixed_settings(saved), requested)] == fixed


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


def test_resume_refuses_another_vocabulary(run):
    with pytest.raises(InputError, match=r"The training data has other characters than .*vocabulary\.json"):
        RunFolder.create(run.path, CONFIG, Vocabulary.from_texts(["drei"]), resume=True)
    assert RunFolder.open(run.path).vocabulary == VOCABULARY


@pytest.mark.parametrize("family", family_configs())
def test_fixed_settings_stay_equal_when_they_are_saved_as_json(family):
    config = load_config("digits", [f"model.family={family}", "data.train_years=[2013, 2014]"])
    fixed = fixed_settings(config)
    assert json.loads(json.dumps(fixed)) == fixed
    assert forbidden_changes(fixed, config) == []


def test_settings_that_only_another_version_or_family_has_are_not_compared():
    fixed = {"model.former": 1, "training.former": None, "model.dim": 5}
    assert forbidden_changes(fixed, CONFIG) == [("model.dim", 5, 4)]
    other = load_config("digits", ["model.family=transformer", "model.dim=4"])
    changes = [key for key, _, _ in forbidden_changes(fixed_settings(CONFIG), other)]
    assert "model.family" in changes
    assert "model.num_sets" not in changes
