"""`bytenet report`: a page about a run."""

import json
import shutil

import pytest
from matplotlib.figure import Figure

from bytenet.cli.report import report
from bytenet.config import load_config
from bytenet.datasets import Vocabulary
from bytenet.errors import InputError, MissingFileError
from bytenet.evaluation import Evaluation, Score
from bytenet.run_folder import RunFolder


@pytest.fixture
def run(run_folder, tmp_path):
    """A copy of the run with the files that two epochs of training leave."""
    run = RunFolder.open(shutil.copytree(run_folder.path, tmp_path / "run"))
    run.metrics_path.write_text(
        "epoch,step,seconds,characters,loss,val_loss,val_bleu\n1,10,60,6000,2.5,2.25,1.5\n2,20,120,12000,1.5,1.75,\n"
    )
    (run.path / "continuous.csv").write_text(
        "step,seconds,bleu,bleu_smoothed,cross_entropy,cross_entropy_smoothed\n5,30,1,1,2.4,2.4\n"
    )
    environment = {
        "commands": ["bytenet train some.yaml --run here", "bytenet train --resume --run here"],
        "versions": {"python": "3.11.7", "keras": "3.15.1"},
        "git_commit": "abc",
        "trainable_parameters": 12345,
        "machine": {"cores": 2, "processor": "Some CPU", "platform": "Linux"},
    }
    run.environment_path.write_text(json.dumps(environment))
    return run


@pytest.fixture
def evaluation() -> Evaluation:
    """A possible evaluation of the run."""
    texts = {"sources": ["ein Hund"], "references": ["a dog"], "hypotheses": ["a cat"]}
    scores, settings = [Score("BLEU", 1.5, 1)], {"beam_size": 1}
    return Evaluation("test", scores=scores, settings=settings, seconds=1.0, num_unended=0, **texts)


@pytest.fixture
def written(run, evaluation, invoke):
    """A function that saves the evaluation and returns the page of the run."""

    def written():
        evaluation.save(run.evaluation)
        invoke(report, run.path)
        return (run.path / "report.md").read_text(encoding="utf-8")

    return written


@pytest.mark.parametrize(
    ("settings", "option"),
    [(["data.validation_source=de", "data.validation_target=en"], " --split validation"), ([], "")],
)
def test_a_run_without_test_pairs_is_to_be_evaluated_on_validation_pairs(settings, option, invoke, tmp_path):
    files = ["data.corpus=files", "data.train_source=de", "data.train_target=en"]
    config = load_config("pairs-2k", [*files, *settings])
    run = RunFolder.create(tmp_path / "run", config, Vocabulary.from_texts(["eins"]))
    with pytest.raises(MissingFileError, match=rf"written by `bytenet evaluate {run.path}{option}`"):
        invoke(report, run.path)


def test_time_of_a_short_run_is_in_seconds(run, written):
    run.metrics_path.write_text("epoch,step,seconds,characters,loss\n1,10,20,6000,2.5\n")
    assert "| time | 20 seconds for 1 epoch, 10 steps; compilation" in written()


def test_page_shows_command_machine_time_speed_scores_and_translations(run, evaluated_run, invoke, tmp_path):
    shutil.copytree(evaluated_run[0].evaluation, run.evaluation)
    page = tmp_path / "docs" / "results.md"
    result = invoke(report, run.path, "--output", page, "--title", "A run")
    assert result.stdout.strip() == str(page)
    text = page.read_text(encoding="utf-8")
    assert text.startswith("# A run\n")
    for expected in (
        "| command | `bytenet train some.yaml --run here`, then `bytenet train --resume --run here` |",
        "| machine | 2 cores, Some CPU, Linux |",
        "| trainable parameters | 12,345 |",
        "2 minutes for 2 epochs, 20 steps",
        "| speed | 100 target characters per second",
        "| 1 | 60 | 2.5 | 2.25 | 1.50 |",
        "## Scores on test",
        "4 sentences, translated in",
        "The first 4 sentences, in their order:",
        "| ein Hund | a dog |",
    ):
        assert expected in text
    saved = json.loads((run.evaluation / "test.json").read_text(encoding="utf-8"))
    for score in saved["scores"]:
        assert f"| {score['name']} | " in text
        assert score["settings"].replace("|", "\\|") in text
    assert "](results-curves.png)" in text
    assert (page.parent / "results-curves.png").read_bytes().startswith(b"\x89PNG")


def test_page_is_written_to_the_run_folder_by_default(written):
    assert written().startswith("# run\n")


def test_curves_that_cannot_be_written_leave_the_earlier_ones(run, written, monkeypatch):
    def fail(figure, path, **options):
        path.write_bytes(b"half")
        raise RuntimeError("killed")

    curves = run.path / "report-curves.png"
    curves.write_bytes(b"earlier")
    monkeypatch.setattr(Figure, "savefig", fail)
    with pytest.raises(RuntimeError, match="killed"):
        written()
    assert curves.read_bytes() == b"earlier"


def test_missing_measurements_are_left_out(run, written):
    run.metrics_path.write_text(
        "epoch,step,seconds,characters,loss,character_error,val_loss\n1,10,60,,2.5,,\n2,20,120,,1.5,,1.75\n"
    )
    text = written()
    assert "| epoch | seconds | loss | val_loss |" in text
    assert "| 1 | 60 | 2.5 |  |" in text
    assert "nan" not in text
    assert "| speed |" not in text


def test_evaluations_inside_of_an_epoch_have_their_steps(run, written):
    run.metrics_path.write_text("epoch,step,seconds,characters,val_loss\n1,1000,60,,2.5\n1,1500,90,,1.75\n")
    text = written()
    assert "| epoch | step | seconds | val_loss |" in text
    assert "| 1 | 1,000 | 60 | 2.5 |" in text


def test_page_of_an_averaged_model_has_scores_and_no_curves(run, written):
    run.metrics_path.unlink()
    text = written()
    assert "| trainable parameters | 12,345 |" in text
    assert "## Scores on test" in text
    assert "Epoch by epoch" not in text
    assert ".png" not in text
    assert not list(run.path.glob("*.png"))


def test_error_names_missing_scores_and_environment(run, evaluation, invoke):
    with pytest.raises(
        InputError,
        match=r"nothing to report yet\. Missing: the scores of its .*bytenet evaluate",
    ):
        invoke(report, run.path)
    evaluation.save(run.evaluation)
    run.environment_path.unlink()
    with pytest.raises(InputError, match=r"Missing: environment\.json \(written when training starts\)\.$"):
        invoke(report, run.path)
