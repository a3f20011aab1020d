"""Factors of the quality make one change each to a model. They are judged by their gain over the preset."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from bytenet.datasets import Pairs
from bytenet.reproduction.figures.contest import changes
from bytenet.reproduction.registry import find_experiment


@pytest.mark.parametrize("model", [changes.BYTENET, changes.CONVS2S], ids=lambda model: model.name)
def test_factors_make_one_change_to_a_model_and_train_for_the_same_time(model):
    unchanged = model.training(model.name, "cpu").config(1)
    assert unchanged.model.dim == model.dim
    bookkeeping = {"training.max_steps", "training.epochs", "evaluation.every_epochs"}
    for name, change in model.changes.items():
        config = model.training(name, "cpu").config(1)
        changed = {setting.partition("=")[0] for setting in change.settings}
        assert {key for key, _, _ in unchanged.differences(config)} - bookkeeping == changed
        time = config.training.max_steps * change.time_of_step
        assert time == pytest.approx(model.steps, abs=change.time_of_step)


def test_factors_have_folders_of_their_own():
    folders = [model.training(name, "cpu").name for model in (changes.BYTENET, changes.CONVS2S)
               for name in model.names("cpu")]  # fmt: skip
    assert len(set(folders)) == len(folders)


def test_models_of_the_factors_have_the_same_training_and_search():
    bytenet, convs2s = (model.training(model.name, "cpu").config(1) for model in (changes.BYTENET, changes.CONVS2S))
    others = {key for key, _, _ in bytenet.differences(convs2s) if not key.startswith("model.")}
    assert others == {"training.max_steps", "training.epochs"}
    assert bytenet.model.dropout == convs2s.model.dropout


def test_a_factor_adds_the_pairs_of_the_other_direction_with_a_tag(monkeypatch, tmp_path):
    corpus = SimpleNamespace(train=Pairs(["ein Hund", "zwei Hunde"], ["a dog", "two dogs"]))
    monkeypatch.setattr(changes, "read_corpus", lambda config: corpus)
    run = changes.BYTENET.training("both directions in one model, with a tag", "cpu")
    data = run.config(1, prepared=run.prepare(tmp_path)).data
    files = [Path(path).read_text(encoding="utf-8") for path in (data.synthetic_source, data.synthetic_target)]
    assert files == ["a dog\ntwo dogs\n", "ein Hund\nzwei Hunde\n"]
    assert data.synthetic_tag is not None


def factor_rows(gains=None):
    """Rows of the preset with 20 of each score, and of "dropout .5" with gains of 1.5 and 2.5.

    Args:
        gains: what stands in the columns of the gains of "dropout .5"; None is the gains.
    """
    shared = {"length_ratio": 1.0, "minutes": 20.0, "best_step": 3000, "steps": 3120, "val_loss": 0.7}
    rows = []
    for change in (changes.BYTENET.name, "dropout .5"):
        for trial, gain in enumerate((1.5, 2.5), start=1):
            row = {"change": change, "trial": trial, **shared}
            for key in ("bleu", "chrf"):
                score = 20.0 if change == changes.BYTENET.name else 20.0 + gain
                own = 0.0 if change == changes.BYTENET.name else gain if gains is None else gains
                for column, value in ((key, score), (f"{key}_gain", own)):
                    row |= {column: value, f"{column}_low": value, f"{column}_high": value}
            rows.append(row)
    return rows


def test_factors_are_judged_by_their_gain_over_the_preset():
    verdicts = find_experiment("quality-factors").verdicts(factor_rows(), "cpu")
    assert [round(verdict.measured, 6) for verdict in verdicts] == [20.0, 20.0, 2.0, 2.0]
    assert "gain of BLEU, dropout .5" in verdicts[2].quantity
    assert "1.50 to 1.50, 2.50 to 2.50" in verdicts[2].note


def test_gains_over_a_preset_that_another_machine_translated_are_kept(tmp_path, figures):
    experiment, joined = find_experiment("quality-factors"), factor_rows(gains="")
    of_change = experiment.verdicts(joined, "cpu")[2:]
    assert [verdict.measured for verdict in of_change] == [2.0, 2.0]
    assert "not bootstrapped over sentences" in of_change[0].note
    experiment.plot(joined, tmp_path / "factors.png")
    assert [label.get_text() for label in figures[-1].axes[0].get_yticklabels()] == ["dropout .5"]
    assert sorted(line.get_xdata()[0] for line in figures[-1].axes[0].lines)[1:] == [1.5, 2.5]


def test_gains_over_another_control_than_the_present_one_lose_their_bootstrap():
    table = factor_rows()
    table[0] |= {"bleu": 20.5}  # the unchanged model of trial 1 was measured again, after its change
    of_bleu, of_chrf = find_experiment("quality-factors").verdicts(table, "cpu")[2:]
    assert of_bleu.measured == 1.75
    assert "by trial: 2.50 to 2.50;" in of_bleu.note
    assert "by trial: 1.50 to 1.50, 2.50 to 2.50;" in of_chrf.note


def test_factors_are_drawn_and_judged_before_a_change_is_finished(tmp_path):
    experiment, preset = find_experiment("quality-factors"), factor_rows()[:2]
    experiment.plot(preset, tmp_path / "factors.png")
    assert (tmp_path / "factors.png").read_bytes().startswith(b"\x89PNG")
    assert [verdict.measured for verdict in experiment.verdicts(preset, "cpu")] == [20.0, 20.0]
